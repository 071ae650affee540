/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_BITOPS_H
#define XL_HOST_BITOPS_H

#include <linux/types.h>

/* The number of the highest bit set, from 1; 0 if none is. */
static __always_inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

static __always_inline int fls(unsigned int word)
{
	return word ? 32 - __builtin_clz(word) : 0;
}

static __always_inline u64 rol64(u64 word, unsigned int bits)
{
	return word << (bits & 63) | word >> (-bits & 63);
}

#define XL_BIT(bit) (1UL << (bit))

static inline void set_bit(long bit, unsigned long *word)
{
	__atomic_fetch_or(word, XL_BIT(bit), __ATOMIC_RELAXED);
}

static inline void clear_bit(long bit, unsigned long *word)
{
	__atomic_fetch_and(word, ~XL_BIT(bit), __ATOMIC_RELAXED);
}

static inline void clear_bit_unlock(long bit, unsigned long *word)
{
	__atomic_fetch_and(word, ~XL_BIT(bit), __ATOMIC_RELEASE);
}

static inline bool test_bit(long bit, unsigned long *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) & XL_BIT(bit);
}

static inline bool test_and_set_bit(long bit, unsigned long *word)
{
	return __atomic_fetch_or(word, XL_BIT(bit), __ATOMIC_SEQ_CST) & XL_BIT(bit);
}

#endif
