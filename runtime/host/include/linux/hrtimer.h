/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers of the session's time. Each belongs to one CPU, whose thread runs its
 * function: none overlaps itself. They are started before the threads run, and only
 * their own functions start them again.
 */
#ifndef XL_HOST_HRTIMER_H
#define XL_HOST_HRTIMER_H

#include <linux/ktime.h>
#include <linux/percpu.h>

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART,
};

enum hrtimer_mode {
	HRTIMER_MODE_REL_HARD,
	HRTIMER_MODE_REL_PINNED_HARD,
};

struct hrtimer {
	struct hrtimer *next;			/* of the CPU's, in no order */
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u64 expires;				/* session time, ns */
	bool active;
};

static DEFINE_PER_CPU(struct hrtimer *, xl_timers_of_cpu);

static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock, enum hrtimer_mode mode)
{
	*timer = (struct hrtimer){ .function = function };
}

/* Puts a timer on a CPU, which it stays on. */
static inline void xl_timer_place(struct hrtimer *timer, unsigned int cpu, u64 expires)
{
	struct hrtimer **list = per_cpu_ptr(&xl_timers_of_cpu, cpu);

	timer->expires = expires;
	timer->active = true;
	timer->next = *list;
	*list = timer;
}

/* Pinned timers go to this CPU, others to all in turn, so that they can overlap. */
static inline void hrtimer_start(struct hrtimer *timer, ktime_t interval, enum hrtimer_mode mode)
{
	static unsigned int turn;
	unsigned int cpu = xl_this_cpu;

	if (mode != HRTIMER_MODE_REL_PINNED_HARD)
		cpu = turn++ % nr_cpu_ids;
	xl_timer_place(timer, cpu, xl_session_clock() + interval);
}

/* To its next expiry behind now. In its function. */
static inline void hrtimer_forward_now(struct hrtimer *timer, ktime_t interval)
{
	u64 now = xl_session_clock();

	if (timer->expires <= now)
		timer->expires += ((now - timer->expires) / interval + 1) * interval;
}

/* When no thread runs handlers any more. */
static inline void hrtimer_cancel(struct hrtimer *timer)
{
	timer->active = false;
}

/* The timer of this CPU that expires first, NULL if there is none. */
static inline struct hrtimer *xl_timer_first(unsigned int cpu)
{
	struct hrtimer *timer = per_cpu(xl_timers_of_cpu, cpu), *first = NULL;

	for (; timer; timer = timer->next)
		if (timer->active && (!first || timer->expires < first->expires))
			first = timer;
	return first;
}

/* Runs its function. As its CPU, at its time. */
static inline void xl_timer_fire(struct hrtimer *timer)
{
	if (timer->function(timer) == HRTIMER_NORESTART)
		timer->active = false;
}

#endif
