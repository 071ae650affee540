// SPDX-License-Identifier: GPL-2.0-or-later
/* stat.stp, translated by xlate. */
#include "context.h"
#include "lock.h"
#include "output.h"
#include "session.h"
#include "stat.h"
#include "tracepoint.h"

struct s_stat {				/* read by @count, @avg */
	s64 count;
	s64 sum;
};

static struct s_stat s;			/* stat.stp:1:8 */
static struct xl_lock s_lock;

/* stat.stp:2:1: kernel.trace("sys_enter") */
static void handler_0(struct xl_context *c)
{
	unsigned long flags = xl_irq_off();
	s64 v;

	if (xl_write_lock(c, &s_lock)) {
		v = xl_ctx_cpu(c);
		s.count++;
		s.sum += v;
		xl_write_unlock(&s_lock);
	}
	xl_irq_on(flags);
}

/* stat.stp:3:1: end */
static void handler_1(struct xl_context *c)
{
	s64 avg;

	if (unlikely(!s.count)) {
		xl_raise(c, "empty aggregate", "stat.stp:3:45");
		return;
	}
	avg = xl_div(s.sum, s.count);
	xl_print(c, "n=");
	xl_print_long(c, s.count);
	xl_print(c, " avg=");
	xl_print_long(c, avg);
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
