/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs neither come nor go. */
#ifndef XL_HOST_CPU_H
#define XL_HOST_CPU_H

#include <linux/smp.h>

#define CPUHP_AP_ONLINE_DYN 1
#define cpuhp_setup_state_nocalls(state, name, online, offline) \
	((void)(online), (void)(offline), (state))
#define cpuhp_remove_state_nocalls(state) ((void)(state))
#define cpus_read_lock() ((void)0)
#define cpus_read_unlock() ((void)0)

#endif
