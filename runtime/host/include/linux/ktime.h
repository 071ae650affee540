/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks: the machine's, and the session's, which follows the events if there are any. */
#ifndef XL_HOST_KTIME_H
#define XL_HOST_KTIME_H

#include <time.h>
#include <linux/types.h>

#define HZ 250
#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_MSEC 1000000L

typedef s64 ktime_t;

#define ns_to_ktime(ns) ((ktime_t)(ns))

static struct {
	bool follows_events;
	u64 start;		/* wall-clock time at the session's time 0, ns */
} xl_clock;

static __thread u64 xl_event_time;	/* ns since the session's start */

static inline u64 xl_machine_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* The machine's time in ns: what waits for a lock goes by it. */
static inline u64 ktime_get_mono_fast_ns(void)
{
	return xl_machine_clock(CLOCK_MONOTONIC);
}

/* The session's monotonic time in ns. */
static inline u64 xl_session_clock(void)
{
	return xl_clock.follows_events ? xl_event_time : ktime_get_mono_fast_ns();
}

/* The session's wall-clock time in ns. */
static inline u64 xl_session_wall_clock(void)
{
	return xl_clock.follows_events ? xl_clock.start + xl_event_time :
					 xl_machine_clock(CLOCK_REALTIME);
}

/* The session's cycles last a nanosecond. */
static inline u64 get_cycles(void)
{
	return xl_session_clock();
}

static inline u64 cpu_clock(int cpu)
{
	return xl_session_clock();
}

#define jiffies ((unsigned long)(xl_session_clock() / (NSEC_PER_SEC / HZ)))

#endif
