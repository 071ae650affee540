// SPDX-License-Identifier: GPL-2.0-or-later
/* A handler that never gives its context back, as if it had died: the session ends all the same. */
#include "context.h"
#include "output.h"
#include "session.h"
#include "tracepoint.h"

static void probe(void *data)
{
	struct xl_context *c = xl_here();

	xl_enter(&c);
}

static void failed(struct xl_context *c)
{
	xl_print(c, "failed\n");
}

static struct xl_tracepoint tracepoints[] = {
	{ .name = "sys_enter", .probe = probe },
};

static int xl_attach(void)
{
	return xl_attach_tracepoints(tracepoints, ARRAY_SIZE(tracepoints));
}

static void xl_detach(void)
{
	xl_detach_tracepoints(tracepoints, ARRAY_SIZE(tracepoints));
}

#define xl_error() XL_RUN(failed)

#include "module.h"
