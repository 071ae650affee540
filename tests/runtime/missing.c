// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes that cannot be installed: the start fails with a message that names the point. */
#include "context.h"
#include "kprobe.h"
#include "output.h"
#include "session.h"
#include "tracepoint.h"

static void handler(struct xl_context *c)
{
}

static void never(struct xl_context *c)
{
	xl_print(c, "not reached\n");
}

XL_TRACEPOINT(probe_0, handler);
XL_KPROBE(probe_1, handler);

static struct xl_tracepoint tracepoints[] = {
	{ .name = "no_such_tracepoint", .probe = probe_0, .optional = true },
	{ .name = "sys_enter", .probe = probe_0 },
};
static struct xl_kprobe kprobes[] = {
	{ .kp.symbol_name = "no_such_function", .kp.pre_handler = probe_1 },
};

static int xl_attach(void)
{
	return xl_attach_tracepoints(tracepoints, ARRAY_SIZE(tracepoints)) ?:
		xl_attach_kprobes(kprobes, ARRAY_SIZE(kprobes));
}

static void xl_detach(void)
{
	xl_detach_tracepoints(tracepoints, ARRAY_SIZE(tracepoints));
	xl_detach_kprobes(kprobes, ARRAY_SIZE(kprobes));
}

static void xl_begin(void)
{
	XL_RUN(never);
}
#define xl_begin xl_begin

static void xl_end(void)
{
	XL_RUN(never);
}
#define xl_end xl_end

#include "module.h"
