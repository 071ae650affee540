/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counts time in units of the machine's own. Any context up to NMI, no locks. */
#ifndef XL_TICKS_H
#define XL_TICKS_H

#include <linux/jiffies.h>
#include <linux/timex.h>
#include "context.h"

static __always_inline s64 xl_time_cycles(struct xl_context *c)
{
	return get_cycles();
}

static __always_inline s64 xl_time_jiffies(struct xl_context *c)
{
	return jiffies;
}

static __always_inline s64 xl_time_hz(struct xl_context *c)
{
	return HZ;
}

#endif
