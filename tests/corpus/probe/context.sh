echo x > /dev/null
