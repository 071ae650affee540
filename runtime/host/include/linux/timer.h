/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timers of jiffies, on those of nanoseconds. */
#ifndef XL_HOST_TIMER_H
#define XL_HOST_TIMER_H

#include <linux/hrtimer.h>
#include <linux/kernel.h>

struct timer_list {
	struct hrtimer timer;
	void (*function)(struct timer_list *timer);
	bool placed;
};

/* The function starts the timer again, or it does not. */
static inline enum hrtimer_restart xl_timer_list_fire(struct hrtimer *timer)
{
	struct timer_list *t = container_of(timer, struct timer_list, timer);
	u64 expires = timer->expires;

	t->function(t);
	return timer->expires > expires ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static inline void timer_setup(struct timer_list *t, void (*function)(struct timer_list *timer),
			       unsigned int flags)
{
	*t = (struct timer_list){ .timer.function = xl_timer_list_fire, .function = function };
}

static inline void mod_timer(struct timer_list *t, unsigned long expires)
{
	u64 ns = (u64)expires * (NSEC_PER_SEC / HZ);

	if (!t->placed)
		hrtimer_start(&t->timer, ns - xl_session_clock(), HRTIMER_MODE_REL_HARD);
	else
		t->timer.expires = ns;
	t->placed = true;
}

static inline void timer_shutdown_sync(struct timer_list *t)
{
	hrtimer_cancel(&t->timer);
}

#endif
