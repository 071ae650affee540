# What staprun and the modules do together. Compared with staprun.expected.
export TERM=dumb
say() { echo "--- $*"; }
plain() { sed 's/\x1b\[[0-9;]*[mK]//g' | grep -v '^LOOP'; }
counts() { plain | sed 's/^n=[1-9][0-9]*$/n counted/'; }
gone() { [ -z "$(ls /proc/systemtap)" ] && ! grep -q OE /proc/modules && echo gone; }

say plain, with -c
/usr/bin/staprun -c "/sysloop 1000 x" /count.ko 2>&1 | counts
gone
say -o
/usr/bin/staprun -o /tmp/o -c "/sysloop 1000 x" /count.ko 2>&1 | counts
counts < /tmp/o
say -R, twice at once
/usr/bin/staprun -R -c "/sysloop 3000 x" /xlate_*.ko > /tmp/o1 2>&1 &
/usr/bin/staprun -R -c "/sysloop 3000 x" /xlate_*.ko > /tmp/o2 2>&1
wait
grep -c '^sysloop,.*=40[0-9][0-9]$' /tmp/o1 /tmp/o2
gone
say -S, -w, with -x
timeout -s INT 3 /usr/bin/staprun -S 2,2 -w -o /tmp/s -x 1 /count.ko 2>&1 | counts
cat /tmp/s* | counts
say -L and -A
/usr/bin/staprun -L /count.ko 2>&1 | plain
ls /proc/systemtap
timeout -s INT 2 /usr/bin/staprun -A count 2>&1 | counts
gone
say -L and -d
/usr/bin/staprun -L /count.ko 2>&1 | plain
/usr/bin/staprun -d count 2>&1 | plain
gone
say an error in a begin handler
/usr/bin/staprun /phases.ko > /tmp/o 2>/tmp/err
echo status $?
cat /tmp/o
plain < /tmp/err
gone
say a probe that cannot be installed
/usr/bin/staprun /missing.ko > /tmp/o 2>/tmp/err
echo status $?
plain < /tmp/err
gone
say exit by a handler
/usr/bin/staprun /api.ko 2>/dev/null | grep -c '^end: '
gone
