# What cannot be loaded is refused with the reason.
echo text >text.ko
xlate text.ko
echo "status $?"
xlate missing.ko
echo "status $?"
xlate -x 999999 "$MODULE"
echo "status $?"
xlate --unload xlate_nothing
echo "status $?"
