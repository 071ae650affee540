/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers of jiffies, on the kernel's timer wheel. One point is one kernel
 * timer, so it never overlaps itself. Its handler runs in interrupt context.
 */
#ifndef XL_JIFFIES_H
#define XL_JIFFIES_H

#include <linux/random.h>
#include <linux/timer.h>
#include <linux/version.h>
#include "context.h"

struct xl_jiffies_timer {
	struct timer_list timer;
	void (*function)(struct timer_list *timer);	/* of XL_JIFFIES_TIMER() */
	unsigned long interval;		/* jiffies */
	unsigned long randomize;	/* jiffies, most that an interval is longer or shorter */
	const void *data;		/* for the _DATA form */
	bool started;
};

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define xl_timer_shutdown_sync del_timer_sync
#else
#define xl_timer_shutdown_sync timer_shutdown_sync
#endif

static inline void xl_jiffies_again(struct xl_jiffies_timer *t)
{
	unsigned long interval = t->interval;

	if (t->randomize) {
		interval += get_random_u32() % (2 * t->randomize + 1);
		interval -= min(t->randomize, interval);
	}
	mod_timer(&t->timer, jiffies + max(interval, 1UL));
}

/* Preemption may be on in a timer's function on PREEMPT_RT. */
#define XL_JIFFIES_CALL(name, call)							\
static void name(struct timer_list *timer)						\
{											\
	struct xl_jiffies_timer *t = container_of(timer, struct xl_jiffies_timer, timer); \
	struct xl_context *c;								\
											\
	preempt_disable();								\
	c = xl_here();									\
	if (xl_enter(&c)) {								\
		call;									\
		xl_leave(c);								\
	}										\
	preempt_enable();								\
	xl_jiffies_again(t);							\
}											\
static void name(struct timer_list *timer)

/* Entry code for a handler, and the same for handler(c, table entry's data). */
#define XL_JIFFIES_TIMER(name, handler) XL_JIFFIES_CALL(name, handler(c))
#define XL_JIFFIES_TIMER_DATA(name, handler) XL_JIFFIES_CALL(name, handler(c, t->data))

/* Starts all. Any task. */
XL_COLD void xl_start_jiffies_timers(struct xl_jiffies_timer *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		timer_setup(&table[i].timer, table[i].function, 0);
		table[i].started = true;
		xl_jiffies_again(&table[i]);
	}
}

/* Stops what is started and waits until no handler of it runs. May sleep. */
XL_COLD void xl_detach_jiffies_timers(struct xl_jiffies_timer *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		/* Also stops a function that is about to start its timer again. */
		if (table[i].started)
			xl_timer_shutdown_sync(&table[i].timer);
		table[i].started = false;
	}
}

#endif
