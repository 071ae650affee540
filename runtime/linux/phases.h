/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The phases of a session, from its start to its end, and the memory that it needs.
 * They call the hooks of the emitted file, xl_attach() and xl_detach(), and those that
 * are also defined as macros: xl_setup(), xl_begin(), xl_start(), xl_gather(), xl_end(),
 * xl_error(), and xl_allocate(), which has xl_free() beside it.
 *
 * All of this: one task at a time, which may sleep.
 */
#ifndef XL_PHASES_H
#define XL_PHASES_H

#include <linux/slab.h>
#include "session.h"

#ifndef xl_setup
static inline void xl_setup(void) { }
#endif
#ifndef xl_begin
static inline void xl_begin(void) { }
#endif
#ifndef xl_start
static inline void xl_start(void) { }
#endif
#ifndef xl_end
static inline void xl_end(void) { }
#endif
#ifndef xl_error
static inline void xl_error(void) { }
#endif
#ifndef xl_gather
static inline void xl_gather(void) { }
#endif
#ifndef xl_allocate
static inline int xl_allocate(u32 cpus, u32 guarded) { return 0; }
static inline void xl_free(void) { }
#endif

/* Lets handlers run, unless one of them calls exit() meanwhile. */
XL_COLD void xl_open_gates(void)
{
	int cpu;

	xl_each_cpu(cpu)
		WRITE_ONCE(per_cpu(xl_contexts, cpu).closed, 0);
	smp_mb();	/* either we see exiting, or xl_exit() closes after us */
	if (READ_ONCE(xl_session.exiting))
		xl_close_gates();
}

/*
 * Probes are attached while the gates are closed, so that a failure comes before
 * any handler has run, and begin handlers run before all others can.
 */
XL_COLD int xl_session_start(void)
{
	int error = xl_attach();

	if (error) {
		xl_detach();
		xl_session.phase = XL_ENDED;
		return error;
	}
	xl_session.phase = XL_BEGINNING;
	xl_begin();
	if (!xl_session.exiting) {
		WRITE_ONCE(xl_session.phase, XL_RUNNING);
		xl_open_gates();
		xl_start();
	}
	return 0;
}

/* Says at the end what was counted. */
XL_COLD void xl_report_counts(void)
{
	int skipped = atomic_read(&xl_session.skipped), errors = atomic_read(&xl_session.errors);
	int silent = atomic_read(&xl_messages_lost), cpu;
	u32 lost = 0, turned_away = 0;

	xl_each_cpu(cpu) {
		lost += per_cpu(xl_contexts, cpu).lost;
		turned_away += per_cpu(xl_contexts, cpu).turned_away;
	}
	if (errors | skipped | turned_away | lost | silent)
		xl_report("WARNING: %d errors, %d messages lost, output of %u handlers lost, "
			  "%d skipped for locks, %u that interrupted another\n",
			  errors, silent, lost, skipped, turned_away);
}

/* A clock that goes on while the session's may not. */
#ifndef xl_idle_clock
#define xl_idle_clock() get_cycles()
#endif

/*
 * Detaching waits until no handler runs; then every context is idle but for the
 * instructions that free it, and end handlers are alone. A context that is not idle long
 * after is that of a handler in which something died: nobody waits for it any longer.
 */
XL_COLD void xl_wait_idle(void)
{
	u64 start = xl_idle_clock();
	int cpu;

	xl_each_cpu(cpu)
		while (smp_load_acquire(&per_cpu(xl_contexts, cpu).busy)) {
			if (xl_idle_clock() - start > XL_IDLE_WAIT_CYCLES) {
				xl_report("ERROR: a handler on CPU %d has not come to its end\n", cpu);
				xl_session.failed = true;
				break;
			}
			cpu_relax();
		}
}

/* The end of a session, if it has begun and not ended. */
XL_COLD void xl_session_stop(void)
{
	enum xl_phase phase = xl_session.phase;

	if (phase == XL_BEGINNING || phase == XL_RUNNING) {
		xl_close_gates();
		xl_detach();
		xl_wait_idle();
		xl_gather();
		if (xl_session.failed) {
			WRITE_ONCE(xl_session.phase, XL_FAILING);
			xl_error();
		} else {
			WRITE_ONCE(xl_session.phase, XL_ENDING);
			xl_end();
		}
		xl_messages_limit = XL_MESSAGES;
		xl_report_counts();
	}
	WRITE_ONCE(xl_session.phase, XL_ENDED);
}

/* What the handlers of a CPU need beyond their context, in one piece. */
struct xl_memory {
#ifdef XL_HAVE_FRAME
	struct xl_frame frame;
#endif
#ifdef XL_ERROR_TEXT
	char error_text[MAXSTRINGLEN];
#endif
#ifdef XL_TOKENIZE
	struct xl_tokens tokens;
#endif
#ifdef XL_HAVE_SHARDS
	struct xl_shards shards;
#endif
} ____cacheline_aligned_in_smp;		/* no line is another CPU's, too */

#define XL_HAVE_MEMORY (sizeof(struct xl_memory) > 0)

static int __init xl_memory_init(struct xl_context *c)
{
	struct xl_memory *memory;

	if (!XL_HAVE_MEMORY)
		return 0;
	memory = kvzalloc(sizeof(*memory), GFP_KERNEL | __GFP_NOWARN);
	if (!memory)
		return -ENOMEM;
	c->memory = memory;
#ifdef XL_HAVE_FRAME
	c->frame = &memory->frame;
#endif
#ifdef XL_ERROR_TEXT
	c->error_text = memory->error_text;
#endif
#ifdef XL_TOKENIZE
	c->tokens = &memory->tokens;
#endif
#ifdef XL_HAVE_SHARDS
	c->shards = &memory->shards;
#endif
	return 0;
}

static inline void xl_memory_free(struct xl_context *c)
{
	if (XL_HAVE_MEMORY)
		kvfree(c->memory);
}

/* The largest array with guarded shards; the emitted file says if there is one. */
#ifndef XL_GUARDED_ENTRIES
#define XL_GUARDED_ENTRIES 1
#endif

/*
 * How many guarded shards so many CPUs have: each its own, if all of them together can hold
 * no more than XL_GATHER_MOST entries.
 */
static inline u32 xl_guarded_shards(u32 cpus)
{
	return min_t(u32, cpus, max_t(u32, XL_GATHER_MOST / XL_GUARDED_ENTRIES, 1));
}

/* Gives them to the CPUs, to about as many each. All contexts have their memory. */
static inline void xl_guarded_init(u32 cpus)
{
#ifdef XL_HAVE_SHARDS
	u32 shards = xl_guarded_shards(cpus), number = 0;
	void *guarded = NULL;
	int cpu;

	xl_each_cpu(cpu) {
		/* The first one of those that share. */
		if (number * shards % cpus < shards)
			guarded = per_cpu(xl_contexts, cpu).shards;
		per_cpu(xl_contexts, cpu).guarded = guarded;
		number++;
	}
#endif
}

/* Memory for what is gathered from all CPUs; 0 or -ENOMEM, and what there is stays for xl_free(). */
static int __init xl_gathered_init(void)
{
	u32 cpus = 0;
	int cpu;

	xl_each_cpu(cpu)
		cpus++;
	xl_guarded_init(cpus);
	return xl_allocate(cpus, xl_guarded_shards(cpus));
}

#endif
