// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What counting costs with the safety left in: a handler on sys_enter with a
 * test of the session's state, a guard against reentrancy and a counter for
 * each CPU.
 */
#include <linux/percpu.h>
#include "sys_enter.h"

struct counter {
	u16 closed;
	u16 busy;
	u64 n;
};

static DEFINE_PER_CPU(struct counter, counters);

static void handler(void *data, struct pt_regs *regs, long id)
{
	struct counter *counter = raw_cpu_ptr(&counters);

	if (unlikely(READ_ONCE(counter->closed) | READ_ONCE(counter->busy)))
		return;
	WRITE_ONCE(counter->busy, 1);
	barrier();
	counter->n++;
	barrier();
	WRITE_ONCE(counter->busy, 0);
}

SYS_ENTER_MODULE(handler, "A tracepoint handler that counts");
