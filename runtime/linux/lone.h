/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lone integers: the only thing shared that a handler touches, and once, so that one
 * atomic operation, fully ordered, makes the handler atomic. Any context; no locks.
 */
#ifndef XL_LONE_H
#define XL_LONE_H

#include <linux/atomic.h>

static __always_inline s64 xl_lone_get(const s64 *p)
{
	smp_mb();
	return smp_load_acquire(p);
}

/* An exchange, never a plain store: that could become visible after the handler's end. */
static __always_inline void xl_lone_set(s64 *p, s64 v)
{
	xchg(p, v);
}

/* What was there before. */
static __always_inline s64 xl_lone_exchange(s64 *p, s64 v)
{
	return xchg(p, v);
}

static __always_inline s64 xl_lone_fetch_add(s64 *p, s64 v)
{
	return atomic64_fetch_add(v, (atomic64_t *)p);
}

static __always_inline void xl_lone_add(s64 *p, s64 v)
{
	smp_mb__before_atomic();
	atomic64_add(v, (atomic64_t *)p);
	smp_mb__after_atomic();
}

static __always_inline void xl_lone_or(s64 *p, s64 v)
{
	smp_mb__before_atomic();
	atomic64_or(v, (atomic64_t *)p);
	smp_mb__after_atomic();
}

/* Retries only when another CPU has changed the value in between, towards v if all do the same. */
static __always_inline void xl_lone_min(s64 *p, s64 v)
{
	s64 old = xl_lone_get(p);

	while (v < old && !try_cmpxchg(p, &old, v))
		;
}

static __always_inline void xl_lone_max(s64 *p, s64 v)
{
	s64 old = xl_lone_get(p);

	while (v > old && !try_cmpxchg(p, &old, v))
		;
}

#endif
