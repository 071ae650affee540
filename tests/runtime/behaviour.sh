# What each module prints and leaves behind. Compared with behaviour.expected.
say() { echo "--- $*"; }

# From the third and last column of numbers that vary, only what must hold is printed.
say api
/loader /api.ko sh -c 'while true; do echo; usleep 2000; done >/dev/null' 2>/tmp/err
echo status $?
grep -v "errors," /tmp/err

say seven
for i in count readonly stat map strmap mapstat; do
	/loader /$i.ko /sysloop 1000 $i 2>/dev/null | grep -v LOOP > /tmp/out
	case $i in
	count | readonly) sed 's/[0-9]*$//' /tmp/out | tr -d '\n'; echo "$(($(sed 's/n=//' /tmp/out) >= 2000))" ;;
	stat) sed 's/n=[0-9]*/n/' /tmp/out ;;
	map) echo "map $(awk -F= '$2 >= 2000' /tmp/out | wc -l)" ;;
	strmap) echo "strmap $(awk -F= '$1 == "sysloop" && $2 >= 2000' /tmp/out | wc -l)" ;;
	mapstat) echo "mapstat $(awk -F '[,=]' '$1 == "sysloop" && $3 >= 2000' /tmp/out | wc -l)" ;;
	esac
done
/loader /print.ko /sysloop 1000 print 2>/dev/null | grep -v LOOP | sort | uniq -c | awk '{ print ($1 >= 2000), $3 }'

say phases
/loader /phases.ko; echo status $?
say missing
/loader /missing.ko; echo status $?

say overflow, contention, nesting, full array
/loader -q /stress.ko sh -c '/sysloop 20000 a & /sysloop 20000 b; wait' > /tmp/out 2>/tmp/err
echo status $?
grep differences /tmp/out
[ "$(grep -c "array calls is full" /tmp/err)" -gt 10 ] && echo full
grep -o "output of [0-9]* handlers lost" /tmp/err | awk '{ print ($3 > 1000) }'
grep -c "bad record" /tmp/err

awk '/interrupted another/ { print ($(NF - 4) > 0) }' /tmp/err

say overload
/loader /limits.ko 2>&1
echo status $?
say skipped
/loader -p held=1 /limits.ko 2>&1
echo status $?

say detach and attach
/loader -d /count.ko true
ls /proc/systemtap
/loader -a /count.ko true 2>/dev/null | awk -F= '{ print $1, ($2 > 0) }'
ls /proc/systemtap
/loader -d /count.ko true
rmmod count
/loader -d -p _stp_bufsize=1 /print.ko true
/sysloop 150000 x > /dev/null
/loader -a /print.ko true > /tmp/out 2>/dev/null
awk '{ print $2 }' /tmp/out | sort | uniq -c | awk '{ print ($1 > 10000), ($1 < 120000), $2 }'
lsmod

