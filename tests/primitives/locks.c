// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What lock.h and shard_lock.h promise. At each event that CPUs 0 and 1 share, the one holds
 * a lock and the other wants it meanwhile; what one CPU can show alone is in end handlers.
 */
#define XL_HAVE_SHARDS
#define XL_LOCK_WAIT_NS 200000000ULL
#define MAXSKIPPED 1000000
#include <err.h>
#include <sched.h>
#include "context.h"
#include "lock.h"
#include "output.h"
#include "session.h"
#include "shard.h"
#include "shard_lock.h"
#include "tracepoint.h"

struct xl_shards {
	struct xl_lock lock;
};

static struct xl_lock lock;

#define CHECK(condition, ...)								\
do {											\
	if (!(condition))								\
		errx(1, __VA_ARGS__);							\
} while (0)

static const struct {
	const char *name;
	bool holder_writes, other_writes;
} steps[] = {
	{ "a writer and a writer", true, true },
	{ "a writer and a reader", true, false },
	{ "a reader and a writer", false, true },
	{ "two readers", false, false },
};

static u32 held, wanted, entered;	/* numbers of steps, from 1 */

static bool take(struct xl_context *c, bool write)
{
	return write ? xl_write_lock(c, &lock) : xl_read_lock(c, &lock);
}

static void give(bool write)
{
	if (write)
		xl_write_unlock(&lock);
	else
		xl_read_unlock(&lock);
}

/* Holds the lock until the other is in, or for so long that it would be. */
static void hold(struct xl_context *c, u32 step)
{
	bool write = steps[step - 1].holder_writes, shared = !write && !steps[step - 1].other_writes;
	u64 start;

	CHECK(take(c, write), "%s: the lock is not free", steps[step - 1].name);
	smp_store_release(&held, step);
	while (smp_load_acquire(&wanted) != step)
		sched_yield();
	start = ktime_get_mono_fast_ns();
	while (smp_load_acquire(&entered) != step &&
	       ktime_get_mono_fast_ns() - start < (shared ? 20 : 1) * XL_LOCK_WAIT_NS / 4)
		sched_yield();
	CHECK((smp_load_acquire(&entered) == step) == shared, "%s %s", steps[step - 1].name,
	      shared ? "keep each other out" : "are in at once");
	give(write);
}

static void want(struct xl_context *c, u32 step)
{
	bool write = steps[step - 1].other_writes;

	while (smp_load_acquire(&held) != step)
		sched_yield();
	smp_store_release(&wanted, step);
	while (!take(c, write))
		sched_yield();
	smp_store_release(&entered, step);
	give(write);
}

static void meet(struct xl_context *c)
{
	static u32 step[NR_CPUS];
	int cpu = xl_ctx_cpu(c);

	if (cpu > 1)
		return;
	(cpu ? want : hold)(c, ++step[cpu]);
}

XL_TRACEPOINT(probe_0, meet);

/* Who is in, and who may come. */
static void counting(struct xl_context *c)
{
	CHECK(held == ARRAY_SIZE(steps), "only %u steps", held);
	CHECK(xl_try_write(&lock), "the lock is still held");
	CHECK(!xl_try_write(&lock) && !xl_try_read(&lock), "a writer is not alone");
	xl_write_unlock(&lock);
	CHECK(xl_try_read(&lock) && xl_try_read(&lock), "readers are alone");
	CHECK(!xl_try_write(&lock), "a writer comes to readers");
	xl_read_unlock(&lock);
	CHECK(!xl_try_write(&lock), "a writer comes to the last of two readers");
	xl_read_unlock(&lock);
	CHECK(xl_try_write(&lock), "readers that are gone are in the way");
	xl_write_unlock(&lock);
}

/* How long an acquire takes that must fail. */
static u64 refusal(struct xl_context *c, bool write)
{
	int skipped = atomic_read(&xl_session.skipped);
	u64 start = ktime_get_mono_fast_ns();

	CHECK(!take(c, write), "what is held is given away");
	CHECK(atomic_read(&xl_session.skipped) == skipped + 1, "a skipped handler is not counted");
	return ktime_get_mono_fast_ns() - start;
}

/* A handler waits for all of its locks together only so long, and the next one as long again. */
static void waiting(struct xl_context *c)
{
	CHECK(xl_try_write(&lock), "the lock is still held");
	CHECK(refusal(c, true) >= XL_LOCK_WAIT_NS, "a wait is too short");
	CHECK(refusal(c, false) < XL_LOCK_WAIT_NS / 2, "a handler waits for each lock anew");
	xl_write_unlock(&lock);
}

/* All shards or none. */
static void sharded(struct xl_context *c)
{
	size_t offset = offsetof(struct xl_shards, lock);
	int busy, cpu;

	for_each_possible_cpu(busy) {
		xl_try_write(xl_shard_lock(busy, offset));
		CHECK(!xl_lock_shards(c, lock), "the shard of CPU %d is not waited for", busy);
		for_each_possible_cpu(cpu)
			CHECK(cpu == busy || xl_try_write(xl_shard_lock(cpu, offset)),
			      "the shard of CPU %d is held after a failure at CPU %d", cpu, busy);
		xl_unlock_shards(lock);
		CHECK(xl_lock_shards(c, lock), "shards that are free are not to be had");
		for_each_possible_cpu(cpu)
			CHECK(!xl_try_read(xl_shard_lock(cpu, offset)),
			      "the shard of CPU %d is left out", cpu);
		xl_unlock_shards(lock);
	}
}

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
	XL_RUN(counting);
	XL_RUN(waiting);
	XL_RUN(waiting);
	XL_RUN(sharded);
	atomic_set(&xl_session.skipped, 0);	/* which are no news at the end */
}
#define xl_end xl_end

#include "module.h"
