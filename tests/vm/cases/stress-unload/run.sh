# Fifty times out while two loops make the probe fire.
sysloop 2000000000 >/dev/null &
one=$!
sysloop 2000000000 >/dev/null &
two=$!
round=0
while [ $round -lt 50 ]; do
	xlate -c 'usleep 20000' "$MODULE" >out 2>err || echo "round $round: status $?"
	grep -q '^n=[0-9][0-9][0-9]' out || echo "round $round: $(cat out)"
	grep -v 'skipped for locks' err
	round=$((round + 1))
done
kill $one $two
