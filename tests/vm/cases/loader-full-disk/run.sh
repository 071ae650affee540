# An output file that cannot grow is an error, and nothing stays loaded.
mkdir full
mount -t tmpfs -o size=64k none full
xlate -o full/out -c "sysloop 100000 >/dev/null" "$MODULE" 2>err
echo "status $?"
# The buffers are small beside what is printed meanwhile.
grep -v "handlers lost" err >&2
umount full
xlate -o missing/out -c true "$MODULE"
echo "status $?"
