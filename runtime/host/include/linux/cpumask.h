/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs: threads, as many as the event file names. */
#ifndef XL_HOST_CPUMASK_H
#define XL_HOST_CPUMASK_H

#include <linux/types.h>

#define NR_CPUS 256

static unsigned int nr_cpu_ids = 1;
static __thread unsigned int xl_this_cpu;

#define cpu_possible(cpu) ((unsigned int)(cpu) < nr_cpu_ids)
#define for_each_possible_cpu(cpu) for ((cpu) = 0; cpu_possible(cpu); (cpu)++)
#define raw_smp_processor_id() ((int)xl_this_cpu)
#define smp_processor_id() raw_smp_processor_id()

#endif
