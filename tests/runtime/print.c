// SPDX-License-Identifier: GPL-2.0-or-later
/* print.stp, translated by xlate. */
#include "context.h"
#include "output.h"
#include "session.h"
#include "strings.h"
#include "task.h"
#include "tracepoint.h"

/* print.stp:1:1: kernel.trace("sys_enter") */
static void handler_0(struct xl_context *c)
{
	struct xl_name execname = xl_ctx_execname(c);

	if (xl_str_equal(xl_name_str(&execname), XL_STR("sysloop"))) {
		xl_print_long(c, xl_ctx_pid(c));
		xl_print(c, " ");
		xl_print_str(c, xl_name_str(&execname));
		xl_print(c, "\n");
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

#include "module.h"
