// SPDX-License-Identifier: GPL-2.0-or-later
/* map.stp, translated by xlate. */
#include "context.h"
#include "lock.h"
#include "map.h"
#include "output.h"
#include "session.h"
#include "task.h"
#include "tracepoint.h"

struct a_key {
	s64 k0;
};

XL_MAP_WORDS(a, struct a_key, s64, 2048);	/* map.stp:1:8 */
static struct xl_lock a_lock;

/* map.stp:2:1: kernel.trace("sys_enter") */
static void handler_0(struct xl_context *c)
{
	struct a_key key = { xl_ctx_pid(c) };
	unsigned long flags = xl_irq_off();
	s64 *v;

	if (!xl_write_lock(c, &a_lock))
		goto out;
	v = a_put(&key);
	if (unlikely(!v)) {
		xl_raise(c, XL_FULL("a"), "map.stp:2:34");
		goto unlock;
	}
	(*v)++;
unlock:
	xl_write_unlock(&a_lock);
out:
	xl_irq_on(flags);
}

/* map.stp:3:1: end */
static void handler_1(struct xl_context *c)
{
	struct a_entry *e;
	s64 *v;

	xl_budget(c, MAXACTION_INTERRUPTIBLE);
	xl_map_each(a, e) {
		xl_print_long(c, e->key.k0);
		xl_print(c, "=");
		v = a_find(&e->key);
		xl_print_long(c, v ? *v : 0);
		xl_print(c, "\n");
		if (unlikely(!xl_spend(c, "map.stp:3:13")))
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
