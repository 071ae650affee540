/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The context that a handler runs in: one for each CPU.
 *
 * A handler claims the context of its CPU and gives it back when it ends.
 * Everything that interrupts it meanwhile, up to NMI, finds the context busy
 * and is turned away. So the owner needs no atomic access to its context: what
 * interrupts between the test of the gate and the claim has come to its end
 * before the test's outcome is used.
 *
 * The caller has preemption off, except in xl_close_gates() and xl_exit().
 */
#ifndef XL_CONTEXT_H
#define XL_CONTEXT_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/timex.h>
#include "limits.h"
#include "message.h"

struct pt_regs;
struct xl_ring;

/* Why xl_leave() has work to do. */
#define XL_PENDING_OUTPUT	1
#define XL_PENDING_ERROR	2
#define XL_PENDING_SAMPLE	4
#define XL_PENDING_WAIT		8	/* nothing but that wait_start is no longer true */

/* Where output goes: to [cursor, limit). A handler that has not printed has no room. */
struct xl_output {
	char *cursor;
	char *limit;
	char *place;		/* of sprintf: not NULL means truncate, not lose */
};

struct xl_context {
	union {
		u16 gate;		/* not 0: keep out */
		struct {
			u8 busy;	/* a handler or the runtime owns this context */
			u8 closed;	/* the session is not running */
		};
	};
	u8 pending;			/* XL_PENDING_ bits */
	bool uncatchable;		/* of the error */
	bool next;			/* C of a function asked for its next overload */
	u32 until_sample;		/* handlers until one is timed */
	struct xl_output output;
	long actions;			/* left to the handler */
	u32 nesting;			/* of recursive functions */
	u32 records;			/* of output so far; 0 with output pending: it is lost */
	u64 record;			/* offset in the ring of the last of them */
	const char *error;		/* raised, or NULL */
	const char *where;		/* script position of the error */
	struct pt_regs *regs;
	void *frame;			/* struct xl_frame */
	void *memory;			/* struct xl_memory, which holds what is pointed to */
#ifdef XL_ERROR_TEXT
	char *error_text;		/* MAXSTRINGLEN bytes for xl_raise_str() */
#endif
#ifdef XL_TOKENIZE
	struct xl_tokens *tokens;	/* of xl_str_tokenize() */
#endif
#ifdef XL_HAVE_SHARDS
	void *shards;			/* struct xl_shards */
	void *guarded;			/* the one with what has locks: CPUs may share it */
#endif
	struct xl_ring *ring;
	u64 wait_start;			/* of the handler's waiting for locks, ns */
	u64 sample_start;		/* cycles */
	u64 interval_start;		/* cycles */
	u64 interval_spent;		/* cycles in handlers since then, estimated */
	u32 turned_away;		/* handlers that found the context busy */
	u32 lost;			/* records for which there was no room */
};

static DEFINE_PER_CPU(struct xl_context, xl_contexts) = {
	.closed = 1,
	.until_sample = 1,
};

enum xl_phase {
	XL_LOADED,			/* waits for START */
	XL_BEGINNING,			/* begin handlers run */
	XL_RUNNING,
	XL_ENDING,			/* end handlers run */
	XL_FAILING,			/* error handlers run */
	XL_ENDED,
};

static struct {
	enum xl_phase phase;		/* changes while one control message is handled */
	bool exiting;			/* exit() was called or the session failed */
	bool failed;
	int target;			/* of -c and -x, 0 if none */
	atomic_t errors;
	atomic_t skipped;
} xl_session;

/* What is raised by abort(): not an error, and not reported. */
static const char xl_aborted[] __maybe_unused = "";

/* Output, error or sample of a handler that ends; gives the context back. In session.h. */
static void xl_finish(struct xl_context *c);

/* Loops over the CPUs that there may be: for_each_possible_cpu(), in fewer instructions. */
#define xl_each_cpu(cpu)								\
	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)					\
		if (!cpu_possible(cpu))							\
			;								\
		else

/* Keeps handlers from starting, on all CPUs, without waiting. Any context. */
XL_COLD void xl_close_gates(void)
{
	int cpu;

	xl_each_cpu(cpu)
		WRITE_ONCE(per_cpu(xl_contexts, cpu).closed, 1);
}

/* exit(): no further handlers, then the end handlers. Any context. */
XL_COLD void xl_exit(void)
{
	if (READ_ONCE(xl_session.phase) >= XL_ENDING || xchg(&xl_session.exiting, true))
		return;
	xl_close_gates();
	xl_reply(XL_REPLY_REQUEST_EXIT);
}

/* Ends the session as a failed one. Any context. */
XL_COLD void xl_abort(void)
{
	WRITE_ONCE(xl_session.failed, true);
	xl_exit();
}

/* A handler found the gate closed. An interrupt may count in between: one instruction. */
XL_SLOW void xl_turned_away(const struct xl_context *c)
{
	if (!READ_ONCE(c->closed))
		this_cpu_inc(xl_contexts.turned_away);
}

#ifndef STP_NO_OVERLOAD
/* Times the handler that begins. Its context is the result too: see xl_enter(). */
XL_SLOW struct xl_context *xl_sample_begin(struct xl_context *c)
{
	c->pending |= XL_PENDING_SAMPLE;
	c->sample_start = get_cycles();
	return c;
}
#endif

/* This CPU's context. */
static __always_inline struct xl_context *xl_here(void)
{
	return raw_cpu_ptr(&xl_contexts);
}

/*
 * Claims this CPU's context, *owned, for a handler; false if it must not run. Any
 * context with preemption off; no locks.
 *
 * The rare call gives the context back, and xl_leave() has its own at the very end, so
 * that no register must be saved to keep the context for the code after them.
 */
static __always_inline bool xl_enter(struct xl_context **owned)
{
	struct xl_context *c = *owned;

	if (unlikely(READ_ONCE(c->gate))) {
		xl_turned_away(c);
		return false;
	}
	WRITE_ONCE(c->busy, 1);
	barrier();
#ifndef STP_NO_OVERLOAD
	if (unlikely(!--c->until_sample))
		*owned = xl_sample_begin(c);
#endif
	return true;
}

/*
 * Whether a handler may run that claims no context, since nothing can interrupt what it
 * does: only the session's state counts. Any context.
 */
static __always_inline bool xl_open(void)
{
	return likely(!this_cpu_read(xl_contexts.closed));
}

/* Gives the context back, after what the handler left to do. */
static __always_inline void xl_leave(struct xl_context *c)
{
	if (unlikely(c->pending))
		xl_finish(c);
	else
		smp_store_release(&c->busy, 0);
}

/*
 * Records an error; the handler or the catch that it goes to must not be
 * entered with an older one. Owner of the context.
 */
XL_SLOW void xl_raise(struct xl_context *c, const char *error, const char *where)
{
	c->error = error;
	c->where = where;
	c->pending |= XL_PENDING_ERROR;
}

/* The same for the limits that no catch may stop. */
XL_SLOW void xl_raise_uncatchable(struct xl_context *c, const char *error, const char *where)
{
	xl_raise(c, error, where);
	c->uncatchable = true;
}

static __always_inline bool xl_raised(const struct xl_context *c)
{
	return c->error;
}

/* Gives the handler its actions. */
static __always_inline void xl_budget(struct xl_context *c, long actions)
{
	c->actions = actions;
}

/* Takes one action; false, with an error raised, if there are none left. */
static __always_inline bool xl_spend(struct xl_context *c, const char *where)
{
	if (likely(--c->actions >= 0))
		return true;
	xl_raise_uncatchable(c, "MAXACTION exceeded", where);
	return false;
}

/* Enters a recursive function; false, with an error raised, if that is too deep. */
static __always_inline bool xl_nest(struct xl_context *c, const char *where)
{
	if (likely(c->nesting < MAXNESTING)) {
		c->nesting++;
		return true;
	}
	xl_raise_uncatchable(c, "MAXNESTING exceeded", where);
	return false;
}

/* Leaves it, raised or not. */
static __always_inline void xl_unnest(struct xl_context *c)
{
	c->nesting--;
}

static __always_inline s64 xl_ctx_cpu(struct xl_context *c)
{
	return raw_smp_processor_id();
}

/* Buffers of the script that do not fit the kernel stack. */
#define XL_FRAME(c) ((struct xl_frame *)(c)->frame)

/* Division as the script language has it; b is not 0. */
static inline s64 xl_div(s64 a, s64 b)
{
	return b == -1 ? (s64)(0 - (u64)a) : a / b;
}

static inline s64 xl_mod(s64 a, s64 b)
{
	return b == -1 ? 0 : a % b;
}

static inline s64 xl_shl(s64 a, s64 n)
{
	return (s64)((u64)a << (n & 63));
}

static inline s64 xl_shr(s64 a, s64 n)
{
	return a >> (n & 63);
}

static inline s64 xl_ushr(s64 a, s64 n)
{
	return (s64)((u64)a >> (n & 63));
}

#endif
