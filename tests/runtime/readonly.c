// SPDX-License-Identifier: GPL-2.0-or-later
/* readonly.stp, translated by xlate. */
#include "context.h"
#include "lock.h"
#include "output.h"
#include "session.h"
#include "tracepoint.h"

static s64 n;				/* readonly.stp:1:41 */
static struct xl_lock n_lock;

/* readonly.stp:2:1: kernel.trace("sys_enter") */
static void handler_0(struct xl_context *c)
{
	unsigned long flags = xl_irq_off();

	if (xl_write_lock(c, &n_lock)) {
		n++;
		xl_write_unlock(&n_lock);
	}
	xl_irq_on(flags);
}

/* readonly.stp:3:1: end */
static void handler_1(struct xl_context *c)
{
	xl_print(c, "n=");
	xl_print_long(c, n);
	xl_print(c, "\n");
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
