/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics. A statistic is a struct with just those fields that the script
 * reads, so most of it is plain C in the emitted file; this is the rest. Any
 * context; the caller holds the lock of the statistic, or is alone.
 */
#ifndef XL_STAT_H
#define XL_STAT_H

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include "context.h"

/* Before s->count is increased. */
#define xl_stat_min(s, v)								\
do {											\
	if (!(s)->count || (v) < (s)->min)						\
		(s)->min = (v);								\
} while (0)

#define xl_stat_max(s, v)								\
do {											\
	if (!(s)->count || (v) > (s)->max)						\
		(s)->max = (v);								\
} while (0)

/* A sum of squares in 128 bits, which no number of values seen in practice fills. */
struct xl_squares {
	u64 low;
	u64 high;
};

static inline void xl_squares_add(struct xl_squares *s, s64 v)
{
	unsigned __int128 sum = ((unsigned __int128)s->high << 64 | s->low) + (__int128)v * v;

	s->low = sum;
	s->high = sum >> 64;
}

/* Adds a sum of squares to another. */
static inline void xl_squares_gather(struct xl_squares *to, const struct xl_squares *from)
{
	unsigned __int128 sum = (unsigned __int128)to->high << 64 | to->low;

	sum += (unsigned __int128)from->high << 64 | from->low;
	to->low = sum;
	to->high = sum >> 64;
}

/* a / b by long division: the kernel has no division of 128 bits. Quotients over 64 bits saturate. */
XL_COLD u64 xl_div128(unsigned __int128 a, u64 b)
{
	u64 remainder = a >> 64, quotient = a;
	int i;

	if (remainder >= b)
		return U64_MAX;
	for (i = 0; i < 64; i++) {
		bool carry = remainder >> 63;

		remainder = remainder << 1 | quotient >> 63;
		quotient <<= 1;
		if (carry || remainder >= b) {
			remainder -= b;
			quotient |= 1;
		}
	}
	return quotient;
}

/*
 * The sample variance, (sum of squares - sum * sum / count) / (count - 1), rounded
 * down; 0 for one value. Exact as long as sum is, and at most S64_MAX.
 */
XL_COLD s64 xl_variance(const struct xl_squares *s, s64 count, s64 sum)
{
	unsigned __int128 squares = (unsigned __int128)s->high << 64 | s->low;
	u64 size = sum < 0 ? 0 - (u64)sum : sum;

	if (count < 2)
		return 0;
	/* size * size / count is at most the sum of squares; split it to stay within 128 bits. */
	squares -= (unsigned __int128)size * (size / count);
	squares -= xl_div128((unsigned __int128)size * (size % count) + count - 1, count);
	return min_t(u64, xl_div128(squares, count - 1), S64_MAX);
}

/*
 * Buckets of a logarithmic histogram: -2^63, ..., -2, -1, 0, 1, 2, 4, ..., 2^62.
 * A bucket holds the values from its own on to the next one's, away from 0.
 */
#define XL_LOG_BUCKETS 128
#define XL_LOG_ZERO 64

static inline u32 xl_log_bucket(s64 v)
{
	return v < 0 ? XL_LOG_ZERO - fls64(0 - (u64)v) : XL_LOG_ZERO + fls64(v);
}

/* Buckets of a linear histogram: below low, then from low to high by step, then above. */
#define XL_LINEAR_BUCKETS(low, high, step) (((high) - (low)) / (step) + 3)

static __always_inline u32 xl_linear_bucket(s64 v, s64 low, s64 high, s64 step)
{
	if (v < low)
		return 0;
	if (v >= high + step)
		return (high - low) / step + 2;
	return (u64)(v - low) / step + 1;
}

#endif
