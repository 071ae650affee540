echo x > /dev/null
echo x > /dev/null
