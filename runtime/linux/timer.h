/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers of seconds down to nanoseconds, on high-resolution kernel timers. One
 * point is one kernel timer, so it never overlaps itself. Its handler runs
 * in interrupt context.
 */
#ifndef XL_TIMER_H
#define XL_TIMER_H

#include <linux/hrtimer.h>
#include <linux/random.h>
#include <linux/version.h>
#include "context.h"

struct xl_timer {
	struct hrtimer timer;
	enum hrtimer_restart (*function)(struct hrtimer *timer);	/* of XL_TIMER() */
	u64 interval;			/* ns */
	u64 randomize;			/* ns, most that an interval is longer or shorter */
	u64 random;			/* not 0: the kernel's own numbers may sleep on PREEMPT_RT */
	const void *data;		/* for the _DATA form */
	bool started;
};

#define XL_TIMER_LEAST 20000		/* ns: a timer must leave time for others */

/* The next interval. Xorshift (G. Marsaglia, "Xorshift RNGs", 2003). */
static inline u64 xl_timer_interval(struct xl_timer *t)
{
	u64 interval = t->interval;

	if (t->randomize) {
		t->random ^= t->random << 13;
		t->random ^= t->random >> 7;
		t->random ^= t->random << 17;
		interval += t->random % (2 * t->randomize + 1);
		interval -= min(t->randomize, interval);
	}
	return max_t(u64, interval, XL_TIMER_LEAST);
}

#define XL_TIMER_CALL(name, call)							\
static enum hrtimer_restart name(struct hrtimer *timer)					\
{											\
	struct xl_timer *t = container_of(timer, struct xl_timer, timer);		\
	struct xl_context *c = xl_here();						\
											\
	if (xl_enter(&c)) {								\
		call;									\
		xl_leave(c);								\
	}										\
	hrtimer_forward_now(&t->timer, ns_to_ktime(xl_timer_interval(t)));		\
	return HRTIMER_RESTART;								\
}											\
static enum hrtimer_restart name(struct hrtimer *timer)

/* Entry code for a handler, and the same for handler(c, table entry's data). */
#define XL_TIMER(name, handler) XL_TIMER_CALL(name, handler(c))
#define XL_TIMER_DATA(name, handler) XL_TIMER_CALL(name, handler(c, t->data))

static inline void xl_hrtimer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*function)(struct hrtimer *timer),
				    enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

/* Starts all. Any task. */
XL_COLD void xl_start_timers(struct xl_timer *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		xl_hrtimer_setup(&table[i].timer, table[i].function, HRTIMER_MODE_REL_HARD);
		table[i].random = (u64)get_random_u32() << 32 | get_random_u32() | 1;
		table[i].started = true;
		hrtimer_start(&table[i].timer, ns_to_ktime(xl_timer_interval(&table[i])),
			      HRTIMER_MODE_REL_HARD);
	}
}

/* Stops what is started and waits until no handler of it runs. May sleep. */
XL_COLD void xl_detach_timers(struct xl_timer *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (table[i].started)
			hrtimer_cancel(&table[i].timer);
		table[i].started = false;
	}
}

#endif
