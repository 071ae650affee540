# What was recorded is in the file and not in the output; the file is sorted by time.
xlate --record events -c 'for i in 1 2 3; do echo >/dev/null; done; ( : ); ( : )' "$MODULE" >out
sed 's/[0-9][0-9]* forks/N forks/' out
head -n 1 events | sed 's/[0-9]/9/g; s/99*/9/g'
grep -c 'kprobe.function("write_null") [0-9]* [0-9]* [0-9]* "sh" uid=0 gid=0 ppid=[0-9]* pexecname="xlate"$' events
grep -c 'kprobe.function("write_null").return [0-9]' events
# Each fork that the script counted is there.
[ "$(grep -c 'kernel.trace("sched_process_fork")' events)" = "$(sed -n 's/ forks.*//p' out)" ] && echo all forks
sed 1d events | cut -d ' ' -f 1 | sort -c -n && echo sorted
