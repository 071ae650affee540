/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sharded globals. Handlers that can overlap only update them, in a way in which
 * the order does not matter, so each CPU has a shard of its own to update. What
 * is gathered from the shards is the global itself; whoever gathers is alone, or
 * has the locks of all shards (shard_lock.h).
 *
 * If the shards of an array could hold more than XL_GATHER_MOST together, and its locks say
 * that it is gathered while others wait, then CPUs that are neighbours share what has locks.
 *
 * Integers lie in static per-CPU memory: to add to one is one instruction, which
 * no interrupt can divide. Statistics and arrays lie in struct xl_shards, of the
 * emitted file, which module.h allocates for every possible CPU.
 *
 * Updates: owner of the context, any context up to NMI; xl_shard_add() and xl_shard_or()
 * of integers that have no locks need not even own it.
 */
#ifndef XL_SHARD_H
#define XL_SHARD_H

#include <linux/percpu.h>
#include "context.h"

/* An integer's shards; identity is what changes nothing when gathered. */
#define XL_SHARD_LONG(name, identity) static DEFINE_PER_CPU(s64, name##_shard) = (identity)

#define xl_shard_add(name, v) this_cpu_add(name##_shard, v)
#define xl_shard_or(name, v) this_cpu_or(name##_shard, v)

#define xl_shard_min(name, v)								\
do {											\
	s64 *shard_ = raw_cpu_ptr(&name##_shard), v_ = (v);				\
											\
	if (v_ < *shard_)								\
		*shard_ = v_;								\
} while (0)

#define xl_shard_max(name, v)								\
do {											\
	s64 *shard_ = raw_cpu_ptr(&name##_shard), v_ = (v);				\
											\
	if (v_ > *shard_)								\
		*shard_ = v_;								\
} while (0)

/* How an integer, or an element of an array, is gathered. The shard is as new afterwards. */
static inline void xl_gather_add(s64 *to, s64 *from)
{
	*to += *from;
	*from = 0;
}

static inline void xl_gather_or(s64 *to, s64 *from)
{
	*to |= *from;
	*from = 0;
}

static inline void xl_gather_min(s64 *to, s64 *from)
{
	if (*from < *to)
		*to = *from;
	*from = S64_MAX;
}

static inline void xl_gather_max(s64 *to, s64 *from)
{
	if (*from > *to)
		*to = *from;
	*from = S64_MIN;
}

#ifdef XL_HAVE_SHARDS
/* This CPU's statistics and arrays that have no locks. Owner of the context. */
#define XL_SHARDS(c) ((struct xl_shards *)(c)->shards)

/* Those that have locks, and the locks. Owner of the context; but for locks, of the lock, too. */
#define XL_GUARDED(c) ((struct xl_shards *)(c)->guarded)

/* Those of any CPU. */
#define XL_SHARDS_OF(cpu) ((struct xl_shards *)per_cpu(xl_contexts, cpu).shards)
#endif

#endif
