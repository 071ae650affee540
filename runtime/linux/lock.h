/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The locks that make handlers atomic: reader/writer locks on one atomic word
 * (a kernel rwlock_t sleeps on PREEMPT_RT and cannot be waited for in NMI).
 *
 * The word is 0 when free, the number of readers, or -1 for a writer. Nobody
 * changes it while a writer holds it, so the writer frees it with a store.
 *
 * Interrupts are off from a handler's first acquire to its last release, so a
 * holder runs without a break unless an NMI comes, and what an NMI runs on the
 * holder's CPU is turned away at the gate: it never waits for its own CPU.
 * Between CPUs, every handler takes its locks in one global order, and all waiting
 * ends XL_LOCK_WAIT_NS after the first that it had to wait for: the handler is skipped,
 * having done nothing.
 * The runtime itself holds none of these locks.
 */
#ifndef XL_LOCK_H
#define XL_LOCK_H

#include <linux/atomic.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include "context.h"

struct xl_lock {
	atomic_t word;
} ____cacheline_aligned_in_smp;

/* Off before the first acquire of a handler, for xl_irq_on(). */
static __always_inline unsigned long xl_irq_off(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	return flags;
}

/* As they were, after its last release. */
static __always_inline void xl_irq_on(unsigned long flags)
{
	raw_local_irq_restore(flags);
}

static __always_inline bool xl_try_write(struct xl_lock *lock)
{
	int free = 0;

	return atomic_try_cmpxchg_acquire(&lock->word, &free, -1);
}

static __always_inline bool xl_try_read(struct xl_lock *lock)
{
	int word = atomic_read(&lock->word);

	return word >= 0 && atomic_try_cmpxchg_acquire(&lock->word, &word, word + 1);
}

/* Counts a handler that is skipped for want of a lock. */
XL_COLD void xl_skip(void)
{
	if (atomic_inc_return(&xl_session.skipped) == MAXSKIPPED + 1) {
		xl_report("ERROR: more than %d handlers could not get their locks (MAXSKIPPED)\n",
			  MAXSKIPPED);
		xl_abort();
	}
}

/*
 * Waits for a lock; false, and the handler counted as skipped, when the handler's time
 * for that is over. xl_finish() makes the next handler's begin anew.
 */
XL_SLOW bool xl_wait(struct xl_context *c, struct xl_lock *lock, bool write)
{
	int spins;

	if (!(c->pending & XL_PENDING_WAIT)) {
		c->pending |= XL_PENDING_WAIT;
		c->wait_start = ktime_get_mono_fast_ns();
	}
	do {
		for (spins = 0; spins < 32; spins++) {
			if (write ? !atomic_read(&lock->word) && xl_try_write(lock) :
				    xl_try_read(lock))
				return true;
			cpu_relax();
		}
	} while (ktime_get_mono_fast_ns() - c->wait_start < XL_LOCK_WAIT_NS);
	xl_skip();
	return false;
}

/* Acquires for writing; false if the handler is to be skipped. Interrupts are off. */
static __always_inline bool xl_write_lock(struct xl_context *c, struct xl_lock *lock)
{
	return likely(xl_try_write(lock)) || xl_wait(c, lock, true);
}

static __always_inline void xl_write_unlock(struct xl_lock *lock)
{
	atomic_set_release(&lock->word, 0);
}

/* Acquires for reading; false if the handler is to be skipped. Interrupts are off. */
static __always_inline bool xl_read_lock(struct xl_context *c, struct xl_lock *lock)
{
	return likely(xl_try_read(lock)) || xl_wait(c, lock, false);
}

static __always_inline void xl_read_unlock(struct xl_lock *lock)
{
	atomic_dec_return_release(&lock->word);
}

#endif
