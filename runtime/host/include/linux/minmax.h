/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_MINMAX_H
#define XL_HOST_MINMAX_H

#include <linux/types.h>

#define min_t(type, a, b)							\
({										\
	type min_a_ = (a), min_b_ = (b);					\
										\
	min_a_ < min_b_ ? min_a_ : min_b_;					\
})
#define max_t(type, a, b)							\
({										\
	type max_a_ = (a), max_b_ = (b);					\
										\
	max_a_ > max_b_ ? max_a_ : max_b_;					\
})
/* Of two values of one type; of a constant, the other's. */
#define min(a, b) min_t(typeof((a) + (b)), a, b)
#define max(a, b) max_t(typeof((a) + (b)), a, b)
#define clamp_t(type, v, low, high) min_t(type, max_t(type, v, low), high)
#define clamp(v, low, high) clamp_t(typeof(v), v, low, high)

#define swap(a, b)								\
do {										\
	typeof(a) swap_ = (a);							\
										\
	(a) = (b);								\
	(b) = swap_;								\
} while (0)

#endif
