xlate -c 'sysloop 3000 >/dev/null' "$MODULE"
