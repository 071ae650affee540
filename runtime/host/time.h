/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks. With an event file they follow its times, so that a replay gives the same
 * values each time; else they are the machine's.
 */
#ifndef XL_TIME_H
#define XL_TIME_H

#include <linux/ktime.h>
#include "context.h"
#include "ticks.h"

static inline s64 xl_time_ns(struct xl_context *c)
{
	return xl_session_wall_clock();
}

static inline s64 xl_time_mono_ns(struct xl_context *c)
{
	return xl_session_clock();
}

#endif
