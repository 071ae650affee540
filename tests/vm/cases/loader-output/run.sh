# All that is printed arrives once and in order, in a file as on standard output.
xlate -o file -c 'sysloop 3000 >/dev/null' "$MODULE"
xlate -c 'sysloop 3000 >/dev/null' "$MODULE" >stdout
for output in file stdout; do
	grep -vc '^[0-9]* sysloop$' $output
	[ "$(wc -l <$output)" -ge 4000 ] && echo enough
	cut -d ' ' -f 1 $output | uniq | wc -l
done
# A reader that has seen enough ends the script.
xlate -c 'while sysloop 10 >/dev/null; do sleep 0.2; done' "$MODULE" | head -n 1 | cut -d ' ' -f 2
