# The same file twice at once, ten times.
round=0
while [ $round -lt 10 ]; do
	xlate -c 'sysloop 1000 >/dev/null; sleep 1' "$MODULE" >one &
	xlate -c 'sysloop 1000 >/dev/null; sleep 1' "$MODULE" >two || echo "round $round: status $?"
	wait $! || echo "round $round: status $?"
	for out in one two; do
		grep -q '^n=[0-9][0-9][0-9][0-9]' $out || echo "round $round: $(cat $out)"
	done
	round=$((round + 1))
done
