i=0
while [ $i -lt 50 ]; do
    echo x > /dev/null
    i=$((i + 1))
done
