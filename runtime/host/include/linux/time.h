/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_TIME_H
#define XL_HOST_TIME_H

#include <time.h>
#include <linux/types.h>

/* In UTC; years count from 1900. */
static inline __maybe_unused void time64_to_tm(s64 seconds, int offset, struct tm *to)
{
	time_t time = seconds + offset;

	gmtime_r(&time, to);
}

#endif
