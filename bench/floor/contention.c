// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the scripts of the same names cost at the least, as host programs: a guard against
 * reentrancy with a test of the session's state, and data of each CPU's own that nobody
 * else looks at before the end. FLOOR says which of them this is.
 */
#include "context.h"
#include "format.h"
#include "session.h"
#include "strings.h"
#include "task.h"
#include "tracepoint.h"

#define COUNT	1
#define STAT	2
#define MAP	3
#define STRMAP	4
#define MAPSTAT	5

#define ENTRIES 1024			/* of a table, with open addressing */

struct entry {
	u64 key[3];			/* the first is 0 if it is free */
	s64 count, sum;
};

struct floor {
	u16 closed;
	u16 busy;
	s64 count, sum;
	struct entry entries[ENTRIES];
};

static DEFINE_PER_CPU_ALIGNED(struct floor, floors);

/* The entry of a key of that many words, made if there is none. */
static __always_inline struct entry *entry(struct floor *f, const u64 *key, int words)
{
	u64 hash = 0;
	u32 at;
	int i;

	for (i = 0; i < words; i++)
		hash = (rol64(hash, 5) ^ key[i]) * 0x9e3779b97f4a7c15ULL;
	for (at = hash >> 54;; at = (at + 1) % ENTRIES) {
		struct entry *e = &f->entries[at];

		for (i = 0; i < words && e->key[i] == key[i]; i++)
			;
		if (i == words)
			return e;
		if (!e->key[0]) {
			for (i = 0; i < words; i++)
				e->key[i] = key[i];
			return e;
		}
	}
}

static __always_inline void update(struct floor *f)
{
#if FLOOR == COUNT
	f->count++;
#elif FLOOR == STAT
	f->count++;
	f->sum += raw_smp_processor_id();
#elif FLOOR == MAP
	u64 key[] = { current->tgid };

	entry(f, key, 1)->count++;
#else
	struct xl_name name = xl_name_of(current->comm);
	u64 key[] = { name.word[0], name.word[1], current->tgid };

#if FLOOR == STRMAP
	entry(f, key, 2)->count++;
#else
	struct entry *e = entry(f, key, 3);

	e->count++;
	e->sum++;
#endif
#endif
}

static void probe(void *data)
{
	struct floor *f = raw_cpu_ptr(&floors);

	if (unlikely(READ_ONCE(f->closed) | READ_ONCE(f->busy)))
		return;
	WRITE_ONCE(f->busy, 1);
	barrier();
	update(f);
	smp_store_release(&f->busy, 0);
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

static void total(struct xl_context *c)
{
	s64 count = 0;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		struct floor *f = per_cpu_ptr(&floors, cpu);

		count += f->count;
		for (i = 0; i < ENTRIES; i++)
			count += f->entries[i].count;
	}
	xl_print_long(c, count);
	xl_print(c, "\n");
}

static void xl_end(void)
{
	XL_RUN(total);
}
#define xl_end xl_end

#include "module.h"
