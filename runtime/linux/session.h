/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a session: from loaded through begin, running and end handlers
 * to ended, and what a handler leaves behind for its end.
 *
 * xl_session_start() and xl_session_stop(), in phases.h, change the phase.
 */
#ifndef XL_SESSION_H
#define XL_SESSION_H

#include "context.h"
#include "ring.h"

#define XL_SAMPLE_PERIOD 64
#define XL_SAMPLE_SHORT 8192		/* cycles */

static atomic_t xl_sequence;		/* of the last record published */

/* Publishes the records of a handler, numbered in a row. Owner of the context. */
XL_SLOW void xl_publish(struct xl_context *c)
{
	struct xl_ring *ring = c->ring;
	u64 at = ring->head;
	struct xl_record *r;
	u32 sequence;

	if (!c->records) {
		c->lost++;
		goto out;
	}
	xl_ring_at(ring, c->record)->length = c->output.cursor - xl_ring_at(ring, c->record)->data;
	sequence = atomic_add_return(c->records, &xl_sequence) - c->records;
	do {
		r = xl_ring_at(ring, at);
		memcpy(r->magic, XL_RECORD_MAGIC, sizeof(r->magic));
		r->sequence = ++sequence;
		at = xl_ring_next(ring, at, r->length);
	} while (--c->records);
	smp_store_release(&ring->head, at);
out:
	c->output.cursor = NULL;
	c->output.limit = NULL;
}

#ifndef XL_NO_ERRORS
/* Reports the error that ends a handler; one too many ends the session. Owner of the context. */
XL_COLD void xl_report_error(struct xl_context *c)
{
	int errors;

	if (c->error == xl_aborted)
		goto out;
	errors = atomic_inc_return(&xl_session.errors);
	if (errors <= MAXERRORS + 1)
		xl_report("ERROR: %s at %s\n", c->error, c->where);
	if (errors > MAXERRORS)
		xl_abort();
out:
	c->error = NULL;
	c->uncatchable = false;
	c->nesting = 0;
}
#endif

#ifndef STP_NO_OVERLOAD
/*
 * Ends the timing of a handler. One in XL_SAMPLE_PERIOD is timed while they are short
 * and stands for all of them; each is timed when they are long and stands for itself
 * alone, so that a pause of the machine is not multiplied.
 */
XL_COLD void xl_sample_end(struct xl_context *c)
{
	u64 now = get_cycles(), spent = now - c->sample_start;
	u32 period = spent < XL_SAMPLE_SHORT ? XL_SAMPLE_PERIOD : 1;

	if (now - c->interval_start > STP_OVERLOAD_INTERVAL) {
		c->interval_start = now;
		c->interval_spent = 0;
	}
	c->interval_spent += spent * period;
	if (c->interval_spent > STP_OVERLOAD_THRESHOLD && !READ_ONCE(xl_session.exiting)) {
		xl_report("ERROR: handlers take more than %lld of %lld cycles of a CPU\n",
			  STP_OVERLOAD_THRESHOLD, STP_OVERLOAD_INTERVAL);
		xl_abort();
	}
	c->until_sample = period;
}
#endif

/* What an ending handler left to do; then gives its context back. Owner of the context. */
XL_SLOW void xl_finish(struct xl_context *c)
{
	if (c->pending & XL_PENDING_OUTPUT)
		xl_publish(c);
#ifndef XL_NO_ERRORS
	if (c->pending & XL_PENDING_ERROR && c->error)
		xl_report_error(c);
#endif
#ifndef STP_NO_OVERLOAD
	if (c->pending & XL_PENDING_SAMPLE)
		xl_sample_end(c);
#endif
	c->pending = 0;
	smp_store_release(&c->busy, 0);
}

/* Whether the next begin, end or error handler is still to run. */
XL_COLD bool xl_proceed(void)
{
	switch (xl_session.phase) {
	case XL_BEGINNING:
		return !xl_session.exiting;
	case XL_ENDING:
		return !xl_session.failed;
	default:
		return true;
	}
}

/*
 * Claims this CPU's context for a handler that runs alone, in a task: gates
 * are closed, so nothing can own it. Ends with xl_leave_alone().
 */
XL_COLD struct xl_context *xl_enter_alone(void)
{
	struct xl_context *c;

	preempt_disable();
	c = xl_here();
	WRITE_ONCE(c->busy, 1);
	barrier();
	return c;
}

XL_COLD void xl_leave_alone(struct xl_context *c)
{
	xl_leave(c);
	preempt_enable();
}

/* Runs a begin, end or error handler, unless an earlier one has made it void. */
#define XL_RUN(handler)							\
do {									\
	if (xl_proceed()) {						\
		struct xl_context *alone = xl_enter_alone();		\
									\
		handler(alone);						\
		xl_leave_alone(alone);					\
	}								\
} while (0)

#endif
