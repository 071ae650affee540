// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What goes wrong in the field, in one module: CPUs that want the same locks in
 * both modes, a probe on a function that handlers call, a ring that
 * overflows, an array that is full, errors by the thousand.
 */
#define MAXERRORS 100000000
#define MAXSKIPPED 100000000
#define STP_NO_OVERLOAD
#include "context.h"
#include "format.h"
#include "kprobe.h"
#include "lock.h"
#include "map.h"
#include "output.h"
#include "session.h"
#include "task.h"
#include "timer.h"
#include "tracepoint.h"

struct calls_key {
	s64 k0;
};

XL_MAP_WORDS(calls, struct calls_key, s64, 8);
static s64 a, b, differences, nested;
static struct xl_lock a_lock, b_lock;

/* Changes both, so that no other handler sees them differ. */
static void change(struct xl_context *c)
{
	struct calls_key key = { a & 15 };
	unsigned long flags = xl_irq_off();
	s64 *v = NULL;

	if (!xl_write_lock(c, &a_lock))
		goto out;
	if (!xl_write_lock(c, &b_lock))
		goto unlock_a;
	a++;
	v = calls_put(&key);
	if (v)
		(*v)++;
	else
		xl_raise(c, XL_FULL("calls"), "stress.stp:1:1");
	b++;
	xl_write_unlock(&b_lock);
unlock_a:
	xl_write_unlock(&a_lock);
out:
	xl_irq_on(flags);
	xl_print(c, "a line that fills the ring ");
	xl_print_number(c, a, XL_DECIMAL, 200, -1);
	xl_print(c, "\n");
}

/* Reads both. */
static void look(struct xl_context *c)
{
	unsigned long flags = xl_irq_off();

	if (!xl_read_lock(c, &a_lock))
		goto out;
	if (!xl_read_lock(c, &b_lock))
		goto unlock_a;
	if (a != b)
		differences++;
	xl_read_unlock(&b_lock);
unlock_a:
	xl_read_unlock(&a_lock);
out:
	xl_irq_on(flags);
}

/* On what a handler calls: turned away there, so it runs only for others. */
static void inside(struct xl_context *c)
{
	nested++;
}

static void report(struct xl_context *c)
{
	xl_print(c, "differences ");
	xl_print_long(c, differences);
	xl_print_str(c, a == b ? XL_STR(" equal ") : XL_STR(" unequal "));
	xl_print_long(c, a > 1000);
	xl_print(c, "\n");
}

XL_TRACEPOINT(probe_0, change);
XL_TRACEPOINT(probe_1, look);
XL_KPROBE(probe_2, inside);
XL_TIMER(probe_3, look);

static struct xl_tracepoint tracepoints[] = {
	{ .name = "sys_enter", .probe = probe_0 },
	{ .name = "sys_exit", .probe = probe_1 },
};
static struct xl_kprobe kprobes[] = {
	{ .kp.symbol_name = "vscnprintf", .kp.pre_handler = probe_2 },
};
static struct xl_timer timers[] = {
	{ .function = probe_3, .interval = 100000 },
};

static int xl_attach(void)
{
	return xl_attach_kprobes(kprobes, ARRAY_SIZE(kprobes)) ?:
		xl_attach_tracepoints(tracepoints, ARRAY_SIZE(tracepoints));
}

static void xl_detach(void)
{
	xl_detach_kprobes(kprobes, ARRAY_SIZE(kprobes));
	xl_detach_tracepoints(tracepoints, ARRAY_SIZE(tracepoints));
	xl_detach_timers(timers, ARRAY_SIZE(timers));
}

static void xl_start(void)
{
	xl_start_timers(timers, ARRAY_SIZE(timers));
}
#define xl_start xl_start

static void xl_end(void)
{
	XL_RUN(report);
}
#define xl_end xl_end

#include "module.h"
