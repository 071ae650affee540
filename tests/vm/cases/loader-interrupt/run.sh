# ^C runs the end probes and is a success; so is the time limit.
for signal in INT TERM HUP; do
	xlate "$MODULE" >out &
	loader=$!
	sleep 1
	kill -$signal $loader
	wait $loader
	echo "$signal $? $(grep -c '^n=[0-9]' out)"
done
xlate -T 1 "$MODULE" >out
echo "time $? $(grep -c '^n=[0-9]' out)"
