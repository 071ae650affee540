/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks of sharded globals: a struct xl_lock in each struct xl_shards. A handler that
 * updates takes that of its own CPU, XL_GUARDED(c), which nobody else wants as a rule; one
 * that reads, assigns or deletes takes all of them, in the order of CPUs, which is
 * part of the one order of all locks. Contexts as in lock.h.
 */
#ifndef XL_SHARD_LOCK_H
#define XL_SHARD_LOCK_H

#include <linux/kernel.h>
#include "lock.h"
#include "shard.h"

static inline struct xl_lock *xl_shard_lock(int cpu, size_t offset)
{
	return (struct xl_lock *)((char *)per_cpu(xl_contexts, cpu).shards + offset);
}

/* Releases those of the CPUs below end. */
XL_SLOW void xl_unlock_shards_below(size_t offset, int end)
{
	int cpu;

	xl_each_cpu(cpu)
		if (cpu < end)
			xl_write_unlock(xl_shard_lock(cpu, offset));
}

/* Acquires all; false, with none held, if the handler is to be skipped. Interrupts are off. */
XL_SLOW bool xl_lock_shards_at(struct xl_context *c, size_t offset)
{
	int cpu;

	xl_each_cpu(cpu)
		if (!xl_write_lock(c, xl_shard_lock(cpu, offset))) {
			xl_unlock_shards_below(offset, cpu);
			return false;
		}
	return true;
}

/* Both by the name of the lock in struct xl_shards. */
#define xl_lock_shards(c, lock) xl_lock_shards_at(c, offsetof(struct xl_shards, lock))
#define xl_unlock_shards(lock) \
	xl_unlock_shards_below(offsetof(struct xl_shards, lock), nr_cpu_ids)

#endif
