xlate -c 'sysloop 3000 >/dev/null' "$MODULE" >out
grep -v '^[^=]*,[0-9]*=[0-9]*$' out
sed -n '/^sysloop,/p' out
