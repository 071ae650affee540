/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timer.profile: a handler on every CPU, HZ times a second, with the registers of
 * what was interrupted. One pinned high-resolution kernel timer for each
 * CPU: they need no more than the other timers do, run in interrupt context, and
 * know the interrupted registers.
 */
#ifndef XL_PROFILE_H
#define XL_PROFILE_H

#include <linux/cpu.h>
#include <linux/smp.h>
#include <asm/irq_regs.h>
#include "timer.h"

struct xl_profile {
	struct hrtimer __percpu *timer;
	enum hrtimer_restart (*function)(struct hrtimer *timer);	/* of XL_PROFILE() */
};

#define XL_PROFILE(name, handler)							\
static enum hrtimer_restart name(struct hrtimer *timer)					\
{											\
	struct xl_context *c = xl_here();						\
											\
	if (xl_enter(c)) {								\
		c->regs = get_irq_regs();						\
		handler(c);								\
		c->regs = NULL;								\
		xl_leave(c);								\
	}										\
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_SEC / HZ));			\
	return HRTIMER_RESTART;								\
}											\
static enum hrtimer_restart name(struct hrtimer *timer)

/* Makes the timers; 0 or -errno. May sleep. */
XL_COLD int xl_attach_profiles(struct xl_profile *table, size_t count)
{
	size_t i;
	int cpu;

	for (i = 0; i < count; i++) {
		table[i].timer = alloc_percpu(struct hrtimer);
		if (!table[i].timer) {
			xl_report("ERROR: no memory for timer.profile\n");
			return -ENOMEM;
		}
		for_each_possible_cpu(cpu)
			xl_hrtimer_setup(per_cpu_ptr(table[i].timer, cpu), table[i].function,
					 HRTIMER_MODE_REL_PINNED_HARD);
	}
	return 0;
}

static void xl_start_profile(void *data)
{
	struct xl_profile *p = data;

	hrtimer_start(this_cpu_ptr(p->timer), ns_to_ktime(NSEC_PER_SEC / HZ),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* Starts all, each on its CPU. May sleep. */
XL_COLD void xl_start_profiles(struct xl_profile *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		on_each_cpu(xl_start_profile, &table[i], 1);
}

/* Stops all and waits until no handler of them runs. May sleep. */
XL_COLD void xl_detach_profiles(struct xl_profile *table, size_t count)
{
	size_t i;
	int cpu;

	for (i = 0; i < count; i++) {
		if (!table[i].timer)
			continue;
		for_each_possible_cpu(cpu)
			hrtimer_cancel(per_cpu_ptr(table[i].timer, cpu));
		free_percpu(table[i].timer);
		table[i].timer = NULL;
	}
}

#endif
