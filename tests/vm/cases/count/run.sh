xlate -c 'sysloop 1000 >/dev/null' "$MODULE"
