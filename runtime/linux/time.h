/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks. Any context up to NMI, no locks. */
#ifndef XL_TIME_H
#define XL_TIME_H

#include <linux/ktime.h>
#include "context.h"
#include "ticks.h"

/* Wall-clock time in ns. May be off by one clock update while that goes on. */
static inline s64 xl_time_ns(struct xl_context *c)
{
	return ktime_get_real_fast_ns();
}

/* Monotonic time in ns. */
static inline s64 xl_time_mono_ns(struct xl_context *c)
{
	return ktime_get_mono_fast_ns();
}

#endif
