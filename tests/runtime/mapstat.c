// SPDX-License-Identifier: GPL-2.0-or-later
/* mapstat.stp, translated by xlate. */
#include "context.h"
#include "lock.h"
#include "map.h"
#include "output.h"
#include "session.h"
#include "task.h"
#include "tracepoint.h"

struct a_key {
	struct xl_name k0;		/* at most 15 bytes */
	s64 k1;
};

struct a_stat {				/* read by @count */
	s64 count;
};

XL_MAP_WORDS(a, struct a_key, struct a_stat, 2048);	/* mapstat.stp:1:8 */
static struct xl_lock a_lock;

/* mapstat.stp:2:1: kernel.trace("sys_enter") */
static void handler_0(struct xl_context *c)
{
	struct a_key key = { xl_ctx_execname(c), xl_ctx_pid(c) };
	unsigned long flags = xl_irq_off();
	struct a_stat *s;

	if (!xl_write_lock(c, &a_lock))
		goto out;
	s = a_put(&key);
	if (unlikely(!s)) {
		xl_raise(c, XL_FULL("a"), "mapstat.stp:2:34");
		goto unlock;
	}
	s->count++;
unlock:
	xl_write_unlock(&a_lock);
out:
	xl_irq_on(flags);
}

/* mapstat.stp:3:1: end */
static void handler_1(struct xl_context *c)
{
	struct a_entry *e;
	struct a_stat *s;

	xl_budget(c, MAXACTION_INTERRUPTIBLE);
	xl_map_each(a, e) {
		s = a_find(&e->key);
		xl_print_str(c, xl_name_str(&e->key.k0));
		xl_print(c, ",");
		xl_print_long(c, e->key.k1);
		xl_print(c, "=");
		xl_print_long(c, s ? s->count : 0);
		xl_print(c, "\n");
		if (unlikely(!xl_spend(c, "mapstat.stp:3:13")))
			return;
	}
}

XL_TRACEPOINT(probe_0, handler_0);

static struct xl_tracepoint tracepoints[] = {
	{ .name = "sys_enter", .probe = probe_0 },
};

static int xl_attach(void)
{
	return xl_attach_tracepoints(tracepoints, ARRAY_SIZE(tracepoints));
}

static void xl_detach(void)
{
	xl_detach_tracepoints(tracepoints, ARRAY_SIZE(tracepoints));
}

static void xl_end(void)
{
	XL_RUN(handler_1);
}
#define xl_end xl_end

#include "module.h"
