# Fifty times in and out.
round=0
while [ $round -lt 50 ]; do
	xlate -c true "$MODULE" >out || echo "round $round: status $?"
	grep -q '^n=[0-9]' out || echo "round $round: $(cat out)"
	round=$((round + 1))
done
