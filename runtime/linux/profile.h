/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timer.profile: a handler on every CPU, HZ times a second, with the registers of
 * what was interrupted. One pinned high-resolution kernel timer for each
 * CPU: they need no more than the other timers do, run in interrupt context, and
 * know the interrupted registers. A CPU that comes has its timer started; that of one
 * that goes is stopped, or it would fire on another.
 */
#ifndef XL_PROFILE_H
#define XL_PROFILE_H

#include <linux/cpu.h>
#include <linux/smp.h>
#include <asm/irq_regs.h>
#include "timer.h"

struct xl_profile_timer {
	struct hrtimer timer;
	const void *data;		/* of the table entry */
};

struct xl_profile {
	struct xl_profile_timer __percpu *timers;
	enum hrtimer_restart (*function)(struct hrtimer *timer);	/* of XL_PROFILE() */
	const void *data;		/* for the _DATA form */
};

/* The module's table, for CPUs that come and go. Changes while none of them can. */
static struct {
	struct xl_profile *table;
	size_t count;
	int state;			/* that was asked for with the kernel, 0 if none */
	bool started;
} xl_profiles;

#define XL_PROFILE_CALL(name, call)							\
static enum hrtimer_restart name(struct hrtimer *timer)					\
{											\
	struct xl_context *c = xl_here();						\
											\
	if (xl_enter(&c)) {								\
		c->regs = get_irq_regs();						\
		call;									\
		c->regs = NULL;								\
		xl_leave(c);								\
	}										\
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_SEC / HZ));			\
	return HRTIMER_RESTART;								\
}											\
static enum hrtimer_restart name(struct hrtimer *timer)

/* Entry code for a handler, and the same for handler(c, table entry's data). */
#define XL_PROFILE(name, handler) XL_PROFILE_CALL(name, handler(c))
#define XL_PROFILE_DATA(name, handler)							\
	XL_PROFILE_CALL(name, handler(c, container_of(timer, struct xl_profile_timer,	\
						      timer)->data))

static void xl_start_profile(void *data)
{
	struct xl_profile *p = data;

	hrtimer_start(&this_cpu_ptr(p->timers)->timer, ns_to_ktime(NSEC_PER_SEC / HZ),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* This CPU has come. May sleep. */
static int xl_profile_online(unsigned int cpu)
{
	size_t i;

	for (i = 0; xl_profiles.started && i < xl_profiles.count; i++)
		xl_start_profile(&xl_profiles.table[i]);
	return 0;
}

/* A CPU is about to go. May sleep. */
static int xl_profile_offline(unsigned int cpu)
{
	size_t i;

	for (i = 0; i < xl_profiles.count; i++)
		hrtimer_cancel(&per_cpu_ptr(xl_profiles.table[i].timers, cpu)->timer);
	return 0;
}

/* Makes the timers; 0 or -errno. May sleep. */
XL_COLD int xl_attach_profiles(struct xl_profile *table, size_t count)
{
	size_t i;
	int cpu, state;

	for (i = 0; i < count; i++) {
		table[i].timers = alloc_percpu(struct xl_profile_timer);
		if (!table[i].timers) {
			xl_report("ERROR: no memory for timer.profile\n");
			return -ENOMEM;
		}
		for_each_possible_cpu(cpu) {
			struct xl_profile_timer *t = per_cpu_ptr(table[i].timers, cpu);

			t->data = table[i].data;
			xl_hrtimer_setup(&t->timer, table[i].function,
					 HRTIMER_MODE_REL_PINNED_HARD);
		}
	}
	xl_profiles.table = table;
	xl_profiles.count = count;
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "xlate:profile",
					  xl_profile_online, xl_profile_offline);
	if (state < 0) {
		xl_report("ERROR: cannot watch CPUs come and go for timer.profile: error %d\n",
			  state);
		return state;
	}
	xl_profiles.state = state;
	return 0;
}

/* Starts all, each on its CPU. May sleep. */
XL_COLD void xl_start_profiles(struct xl_profile *table, size_t count)
{
	size_t i;

	cpus_read_lock();
	xl_profiles.started = true;
	for (i = 0; i < count; i++)
		on_each_cpu(xl_start_profile, &table[i], 1);
	cpus_read_unlock();
}

/* Stops all and waits until no handler of them runs. May sleep. */
XL_COLD void xl_detach_profiles(struct xl_profile *table, size_t count)
{
	size_t i;
	int cpu;

	if (xl_profiles.state)
		cpuhp_remove_state_nocalls(xl_profiles.state);
	xl_profiles.state = 0;
	xl_profiles.started = false;
	for (i = 0; i < count; i++) {
		if (!table[i].timers)
			continue;
		for_each_possible_cpu(cpu)
			hrtimer_cancel(&per_cpu_ptr(table[i].timers, cpu)->timer);
		free_percpu(table[i].timers);
		table[i].timers = NULL;
	}
}

#endif
