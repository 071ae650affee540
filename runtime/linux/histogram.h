/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drawings of histograms: a line for each bucket with its value, a bar and its
 * count, from the first bucket that is not empty to the last, with a neighbour on
 * either side; a long row of empty ones is drawn as one line. Owner of the
 * context; the caller holds the statistic's lock, or is alone.
 */
#ifndef XL_HISTOGRAM_H
#define XL_HISTOGRAM_H

#include <linux/math64.h>
#include "format.h"
#include "stat.h"

#define XL_BAR 50		/* columns of the longest bar */
#define XL_GAP 2		/* empty buckets drawn on either side of a longer row of them */

/* What a drawing needs to know of a histogram. */
struct xl_histogram {
	const u64 *count;
	u32 buckets;
	bool linear;
	s64 low, high, step;	/* of a linear one */
};

/* The least value of a bucket; of a logarithmic one, the one closest to 0. */
XL_SLOW s64 xl_bucket_value(const struct xl_histogram *h, u32 bucket)
{
	if (h->linear)
		return h->low + ((s64)bucket - 1) * h->step;
	if (bucket > XL_LOG_ZERO)
		return 1LL << (bucket - XL_LOG_ZERO - 1);
	return bucket == XL_LOG_ZERO ? 0 : (s64)(0 - (1ULL << (XL_LOG_ZERO - bucket - 1)));
}

/* Columns that a decimal number takes. */
XL_SLOW int xl_columns(s64 v)
{
	u64 u = v < 0 ? 0 - (u64)v : v;
	int columns = v < 0 ? 2 : 1;

	while (u /= 10)
		columns++;
	return columns;
}

/* The label of a bucket, right-justified: a value, or <low and >high outside of a linear histogram. */
XL_SLOW void xl_print_label(struct xl_context *c, const struct xl_histogram *h, u32 bucket,
			   int width)
{
	s64 value = xl_bucket_value(h, bucket);
	char mark = 0;

	if (h->linear && !bucket) {
		mark = '<';
		value = h->low;
	} else if (h->linear && bucket == h->buckets - 1) {
		mark = '>';
		value = h->low + (s64)(h->buckets - 3) * h->step;
	}
	xl_print_fill(c, ' ', width - xl_columns(value) - !!mark);
	if (mark)
		xl_print_bytes(c, &mark, 1);
	xl_print_long(c, value);
}

/* Whether a bucket is far from all that are not empty. */
XL_SLOW bool xl_in_gap(const struct xl_histogram *h, u32 bucket)
{
	u32 i, from = bucket > XL_GAP ? bucket - XL_GAP : 0;

	for (i = from; i <= bucket + XL_GAP && i < h->buckets; i++)
		if (h->count[i])
			return false;
	return true;
}

XL_SLOW void xl_print_histogram(struct xl_context *c, const struct xl_histogram *h)
{
	u32 first = h->buckets, last = 0, i;
	int labels = 5, counts = 5;
	bool gap = false;
	u64 most = 0;

	for (i = 0; i < h->buckets; i++) {
		if (!h->count[i])
			continue;
		first = min(first, i);
		last = i;
		most = max(most, h->count[i]);
	}
	if (!most)
		return;
	first = first ? first - 1 : 0;
	last = min(last + 1, h->buckets - 1);
	for (i = first; i <= last; i++) {
		labels = max(labels, xl_columns(xl_bucket_value(h, i)) + 1);
		counts = max(counts, xl_columns(h->count[i]));
	}
	xl_print_fill(c, ' ', labels - 5);
	xl_print(c, "value |");
	xl_print_fill(c, '-', XL_BAR);
	xl_print_fill(c, ' ', counts - 4);
	xl_print(c, "count\n");
	for (i = first; i <= last; i++) {
		/* One @ is one value, or the longest bar is the largest bucket. */
		u64 bar = most <= XL_BAR ? h->count[i] : mul_u64_u64_div_u64(h->count[i], XL_BAR, most);

		if (xl_in_gap(h, i)) {
			if (!gap) {
				xl_print_fill(c, ' ', labels - 1);
				xl_print(c, "~\n");
			}
			gap = true;
			continue;
		}
		gap = false;
		xl_print_label(c, h, i, labels);
		xl_print(c, " |");
		xl_print_fill(c, '@', bar);
		xl_print_fill(c, ' ', XL_BAR - bar + 1 + counts - xl_columns(h->count[i]));
		xl_print_long(c, h->count[i]);
		xl_print(c, "\n");
	}
}

static inline void xl_print_log_histogram(struct xl_context *c, const u64 *count)
{
	const struct xl_histogram h = { .count = count, .buckets = XL_LOG_BUCKETS };

	xl_print_histogram(c, &h);
}

static inline void xl_print_linear_histogram(struct xl_context *c, const u64 *count, s64 low,
					     s64 high, s64 step)
{
	const struct xl_histogram h = {
		.count = count,
		.buckets = XL_LINEAR_BUCKETS(low, high, step),
		.linear = true,
		.low = low,
		.high = high,
		.step = step,
	};

	xl_print_histogram(c, &h);
}

#endif
