# Loading, unloading and killing the loader while probes fire. Compared with lifecycle.expected.
say() { echo "--- $*"; }

say 50 rounds
i=0
while [ $i -lt 50 ]; do
	/loader /mapstat.ko true > /dev/null 2>&1 || echo failed
	i=$((i + 1))
done

say 50 unloads under fire
/sysloop 100000000 a > /dev/null &
/sysloop 100000000 b > /dev/null &
i=0
while [ $i -lt 50 ]; do
	/loader -d /map.ko true > /dev/null
	rmmod map || echo failed
	i=$((i + 1))
done

say 20 killed loaders
i=0
while [ $i -lt 20 ]; do
	/loader /mapstat.ko usleep 1000000 > /dev/null &
	loader=$!
	usleep $((i * 7000))
	kill -9 $loader
	wait $loader 2>/dev/null
	for try in 1 2 3 4 5 6 7 8 9; do
		grep -q "^mapstat" /proc/modules || break
		rmmod mapstat 2>/dev/null && break
		usleep 20000
	done
	i=$((i + 1))
done
killall sysloop usleep 2>/dev/null
grep -c . /proc/modules
ls /proc/systemtap
