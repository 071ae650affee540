# Twenty times the loader is killed at a random moment; then the module can be removed.
sysloop 2000000000 >/dev/null &
loop=$!
round=0
while [ $round -lt 20 ]; do
	xlate "$MODULE" >/dev/null &
	loader=$!
	usleep $((RANDOM % 20 * 10000))
	kill -KILL $loader
	wait $loader 2>/dev/null
	for module in $(xlate --unload list); do
		xlate --unload "$module" || echo "round $round: status $?"
	done
	grep ^xlate_ /proc/modules
	round=$((round + 1))
done
kill $loop
