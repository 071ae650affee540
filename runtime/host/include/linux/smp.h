/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_SMP_H
#define XL_HOST_SMP_H

#include <linux/percpu.h>

/* Makes this thread that CPU. */
static inline void xl_become_cpu(unsigned int cpu)
{
	xl_this_cpu = cpu;
	xl_this_offset = xl_cpu_offset[cpu];
}

/* Calls a function as each CPU. While no other thread runs handlers. */
static inline void on_each_cpu(void (*function)(void *data), void *data, int wait)
{
	unsigned int self = xl_this_cpu, cpu;

	for_each_possible_cpu(cpu) {
		xl_become_cpu(cpu);
		function(data);
	}
	xl_become_cpu(self);
}

#endif
