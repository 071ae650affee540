work() { i=0; while [ $i -lt 2000 ]; do echo x > /dev/null; i=$((i + 1)); done; }
work & work & wait
