// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What ends a session: handlers that take too much time, and, with the parameter
 * held=1, handlers that cannot get a lock. A skipped handler has done nothing.
 */
#define XL_LOCK_WAIT_NS 10000
#define STP_OVERLOAD_INTERVAL 100000000LL
#define STP_OVERLOAD_THRESHOLD 50000000LL
#include "context.h"
#include "lock.h"
#include "output.h"
#include "param.h"
#include "session.h"
#include "timer.h"

static s64 held, entered, skipped_did;
static struct xl_lock lock;

XL_PARAM_LONG(held, held);

static void handler(struct xl_context *c)
{
	unsigned long flags;
	int i;

	entered++;
	flags = xl_irq_off();
	if (xl_write_lock(c, &lock)) {
		skipped_did++;
		xl_write_unlock(&lock);
	}
	xl_irq_on(flags);
	for (i = 0; i < 1000000 && !held; i++)
		barrier();
}

static void failed(struct xl_context *c)
{
	xl_print(c, "failed, ");
	xl_print_long(c, held ? entered == MAXSKIPPED + 1 && !skipped_did : entered > 0);
	xl_print(c, "\n");
}

XL_TIMER(probe_0, handler);

static struct xl_timer timers[] = {
	{ .function = probe_0, .interval = 100000 },
};

static int xl_attach(void)
{
	return 0;
}

static void xl_detach(void)
{
	xl_detach_timers(timers, ARRAY_SIZE(timers));
}

static void xl_setup(void)
{
	if (held)
		xl_try_write(&lock);
}
#define xl_setup xl_setup

static void xl_start(void)
{
	xl_start_timers(timers, ARRAY_SIZE(timers));
}
#define xl_start xl_start

static void xl_error(void)
{
	XL_RUN(failed);
}
#define xl_error xl_error

#include "module.h"
