make -s -C /lib/modules/${K:-6.1.0-57-amd64}/build M=$PWD W=1 modules 2>&1 | grep -v BTF | head -${N:-40}
