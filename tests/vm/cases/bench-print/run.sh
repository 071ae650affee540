xlate -c 'sysloop 3000 >/dev/null' "$MODULE" | cut -d ' ' -f 2 | uniq -c
