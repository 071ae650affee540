# The end of the command is the script's; its status is told.
xlate -c 'sysloop 1000 >/dev/null' "$MODULE" | grep -c '^n=[0-9][0-9][0-9][0-9]'
xlate -c 'exit 3' "$MODULE" >/dev/null
echo "status $?"
