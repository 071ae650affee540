// SPDX-License-Identifier: GPL-2.0-or-later
/* Phases: an error in a begin handler voids the later ones and all others; error handlers run. */
#include "context.h"
#include "output.h"
#include "session.h"
#include "tracepoint.h"

static s64 fired;

static void first(struct xl_context *c)
{
	xl_print(c, "begin\n");
	xl_raise(c, "division by zero", "phases.stp:1:1");
}

static void second(struct xl_context *c)
{
	xl_print(c, "not reached\n");
}

static void other(struct xl_context *c)
{
	fired++;
}

static void failed(struct xl_context *c)
{
	xl_print(c, "error ");
	xl_print_long(c, fired);
	xl_print(c, "\n");
}

XL_TRACEPOINT(probe_0, other);

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

static void xl_begin(void)
{
	XL_RUN(first);
	XL_RUN(second);
}
#define xl_begin xl_begin

static void xl_end(void)
{
	XL_RUN(second);
}
#define xl_end xl_end

static void xl_error(void)
{
	XL_RUN(failed);
}
#define xl_error xl_error

#include "module.h"
