work() { i=0; while [ $i -lt 200 ]; do echo x > /dev/null; i=$((i + 1)); done; }
work & work & wait
