# Instructions per getppid() call with each module; the difference to empty is the handler.
n=${CALLS:-200000}
/sysloop $n none
insmod /empty.ko
/sysloop $n empty
rmmod empty
for i in count readonly stat map strmap mapstat; do
	/loader -q /$i.ko /sysloop $n $i | grep LOOP
done
/loader -q -p _stp_bufsize=1 /print.ko /sysloop $n print | grep LOOP
/loader -q -p _stp_bufsize=32 /print.ko /sysloop $n print-kept | grep LOOP
