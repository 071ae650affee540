// SPDX-License-Identifier: GPL-2.0-or-later
/* Every primitive of the runtime, in handlers of all families; api.expected is its output. */
#define XL_HAVE_FRAME
#define XL_ERROR_TEXT
#define XL_TOKENIZE
#define MAXERRORS 3
#include "context.h"
#include "ctl.h"
#include "format.h"
#include "histogram.h"
#include "jiffies.h"
#include "kprobe.h"
#include "kretprobe.h"
#include "lock.h"
#include "map.h"
#include "output.h"
#include "profile.h"
#include "session.h"
#include "snapshot.h"
#include "stat.h"
#include "strfun.h"
#include "strings.h"
#include "symbol.h"
#include "task.h"
#include "time.h"
#include "timer.h"
#include "tracepoint.h"

struct xl_frame {
	struct {
		struct xl_string t0, t1;
	} formats;
	struct {
		struct xl_string s;
	} fibonacci[MAXNESTING];
};

struct s_stat {
	s64 count, sum, min, max;
	struct xl_squares squares;
	u64 linear[XL_LINEAR_BUCKETS(0, 40, 10)];
	u64 log[XL_LOG_BUCKETS];
};

static struct s_stat s;
static struct xl_string last;
static s64 ticks, jiffies_ticks, profiles, entries, returns, timer_errors;
static struct xl_lock counts_lock;

/* paths[str, long]: long */
struct paths_key {
	XL_STRING(MAXSTRINGLEN) k0;
	s64 k1;
};

struct paths_lookup {
	struct xl_str k0;
	s64 k1;
};

static inline u64 paths_hash(const struct paths_lookup *k)
{
	return xl_hash_long(xl_hash_str(XL_HASH, k->k0), k->k1);
}

static inline bool paths_equal(const struct paths_key *e, const struct paths_lookup *k)
{
	return e->k1 == k->k1 && xl_str_equal(xl_str(&e->k0), k->k0);
}

static inline void paths_store(struct paths_key *e, const struct paths_lookup *k)
{
	xl_set(&e->k0, k->k0);
	e->k1 = k->k1;
}

XL_MAP(paths, struct paths_key, struct paths_lookup, s64, 20);
XL_SNAPSHOT(paths_snapshot, paths, 20);

static inline bool before_0(const struct paths_entry *x, const struct paths_entry *y)
{
	int order = xl_str_compare(xl_str(&x->key.k0), xl_str(&y->key.k0));

	if (x->value != y->value)
		return x->value > y->value;
	return order ? order < 0 : x->key.k1 < y->key.k1;
}

/* recent[long]%: string */
struct recent_key {
	s64 k0;
};

XL_MAP_WORDS_WRAP(recent, struct recent_key, struct xl_string, 3);

/* begin */
static void formats(struct xl_context *c)
{
	struct xl_output saved;
	struct xl_str t0, t1;

	xl_print(c, "formats: ");
	xl_print_number(c, -5, XL_DECIMAL, 4, -1);
	xl_print_number(c, -5, XL_DECIMAL | XL_ZERO, 4, -1);
	xl_print_number(c, 5, XL_DECIMAL | XL_LEFT | XL_PLUS, 4, -1);
	xl_print_number(c, 5, XL_DECIMAL | XL_SPACE, 0, 3);
	xl_print(c, "|");
	xl_print_number(c, -1, XL_UNSIGNED, 0, -1);
	xl_print(c, "|");
	xl_print_number(c, 255, XL_HEX, 0, -1);
	xl_print_number(c, 255, XL_UPPER_HEX | XL_ALTERNATE, 6, -1);
	xl_print_number(c, 8, XL_OCTAL | XL_ALTERNATE, 0, -1);
	xl_print_number(c, 0x1234abcd, XL_POINTER, -12, -1);
	xl_print(c, "|");
	xl_print_number(c, S64_MIN, XL_DECIMAL, 0, -1);
	xl_print_long(c, S64_MIN);
	xl_print(c, "|");
	xl_print_number(c, 0, XL_DECIMAL, 0, -1);
	xl_print_long(c, 0);
	xl_print_string(c, XL_STR("abcdef"), 0, 5, 3);
	xl_print_string(c, XL_STR("ab"), XL_LEFT, 4, -1);
	xl_print_char(c, 'x', 0, 3);
	xl_print_char(c, 9, XL_ALTERNATE, 0);
	xl_print_char(c, 0, XL_ALTERNATE, 0);
	xl_print_binary(c, 0x44434241, 4);
	xl_print(c, "|");
	xl_print_memory(c, (long)"memory", 0, 8, 6, "api.stp:1:1");
	xl_print_memory(c, (long)"AB", XL_HEX | XL_LEFT, 5, 2, "api.stp:1:1");
	xl_print(c, "|\n");

	xl_sprint_begin(c, &saved, &XL_FRAME(c)->formats.t0);
	xl_print(c, "a=");
	xl_print_long(c, 42);
	t0 = xl_sprint_end(c, &saved, &XL_FRAME(c)->formats.t0);
	t1 = xl_concat(&XL_FRAME(c)->formats.t1, t0, XL_STR(", twice: "));
	t1 = xl_concat(&XL_FRAME(c)->formats.t1, t1, t0);
	xl_print_str(c, t1);
	xl_print(c, "\n");

	xl_sprint_begin(c, &saved, &XL_FRAME(c)->formats.t0);
	xl_print(c, "cut");
	xl_print_fill(c, '.', 2 * MAXSTRINGLEN);
	xl_print_long(c, 12345);
	t0 = xl_sprint_end(c, &saved, &XL_FRAME(c)->formats.t0);
	xl_print_long(c, t0.len);
	xl_print_str(c, xl_str_sub(c, &XL_FRAME(c)->formats.t1, t0, 500, 100));
	xl_print(c, "\n");
	xl_set(&last, t0);
}

/* begin */
static void strings(struct xl_context *c)
{
	typeof(XL_FRAME(c)->formats) *f = &XL_FRAME(c)->formats;
	struct xl_str t;

	xl_print(c, "strings: ");
	xl_print_str(c, xl_str_replace(c, &f->t0, XL_STR("banana"), XL_STR("an"), XL_STR("<>")));
	xl_print_str(c, xl_str_text(c, &f->t0, XL_STR("\"\t\\\001z")));
	xl_print_long(c, xl_str_find(c, XL_STR("banana"), XL_STR("nan")));
	xl_print_long(c, xl_str_find(c, XL_STR("banana"), XL_STR("nab")));
	xl_print_long(c, xl_str_at(c, XL_STR("A"), 0, "api.stp:2:2"));
	xl_print(c, " ");
	xl_print_long(c, xl_str_to_long(c, XL_STR(" -0x1fz"), 16));
	xl_print_long(c, xl_str_to_long(c, XL_STR("077"), 0));
	xl_print_long(c, xl_str_to_long(c, XL_STR("zz"), 36));
	xl_print_long(c, xl_str_to_long(c, XL_STR("none"), 10));
	xl_print(c, " ");
	for (t = xl_str_tokenize(c, &f->t0, XL_STR("/usr//lib"), XL_STR("/")); t.len;
	     t = xl_str_tokenize(c, &f->t0, XL_STR(""), XL_STR("/"))) {
		xl_print_str(c, t);
		xl_print(c, ",");
	}
	xl_print(c, "\n");
	xl_print(c, "compare: ");
	xl_print_long(c, xl_str_compare(XL_STR("a"), XL_STR("ab")) < 0);
	xl_print_long(c, xl_str_compare(XL_STR("\377"), XL_STR("a")) > 0);
	xl_print_long(c, xl_str_equal(XL_STR("same"), XL_STR("same")));
	xl_print_long(c, xl_str_equal(XL_STR("same"), XL_STR("sane")));
	xl_print(c, " numbers: ");
	xl_print_long(c, xl_div(S64_MIN, -1));
	xl_print_long(c, xl_mod(S64_MIN, -1));
	xl_print_long(c, xl_div(-7, 2));
	xl_print_long(c, xl_shl(1, 65));
	xl_print_long(c, xl_shr(-8, 1));
	xl_print_long(c, xl_ushr(-1, 60));
	xl_print(c, "\n");
}

/* begin */
static void arrays(struct xl_context *c)
{
	struct paths_lookup key;
	struct recent_key r;
	struct recent_entry *re;
	struct paths_entry *e;
	struct xl_name name;
	s64 i, *v;
	u32 n;

	for (i = 0; i < 20; i++) {
		key = (struct paths_lookup){ i & 1 ? XL_STR("a longer key") : XL_STR("k"), i };
		v = paths_put(&key);
		*v = i % 5;
	}
	key = (struct paths_lookup){ XL_STR("one too many"), 0 };
	if (!paths_put(&key))
		xl_print(c, "full ");
	key = (struct paths_lookup){ XL_STR("k"), 2 };
	paths_delete(&key);
	xl_print_long(c, !paths_find(&key));
	key = (struct paths_lookup){ XL_STR(""), -1 };
	*paths_put(&key) = 77;
	xl_snapshot_clear(&paths_snapshot);
	xl_map_each(paths, e)
		if (e->value != 1)
			xl_snapshot_add(&paths_snapshot, e);
	xl_snapshot_sort(&paths_snapshot, before_0);
	xl_print(c, " sorted:");
	xl_snapshot_each(&paths_snapshot, n, e) {
		xl_print(c, " ");
		xl_print_long(c, e->value);
		xl_print_string(c, xl_str(&e->key.k0), 0, 0, 1);
		xl_print_long(c, e->key.k1);
	}
	paths_clear();
	xl_print_long(c, !paths_find(&key));
	for (i = 1; i <= 5; i++) {
		r.k0 = i;
		xl_set(recent_put(&r), i == 5 ? XL_STR("five") : XL_STR("few"));
		if (i == 4) {
			r.k0 = 3;
			recent_delete(&r);
		}
	}
	xl_print(c, " recent:");
	xl_map_each(recent, re) {
		xl_print(c, " ");
		xl_print_long(c, re->key.k0);
		xl_print_str(c, xl_str(&re->value));
	}
	name = xl_name(XL_STR("exactly15 bytes, and more"));
	xl_print(c, " ");
	xl_print_str(c, xl_name_str(&name));
	name = xl_name_of("short\0 junk behi\0");
	xl_print_str(c, xl_name_str(&name));
	xl_print_long(c, name.word[1]);
	xl_print(c, "\n");
}

/* begin */
static void statistics(struct xl_context *c)
{
	s64 v;

	for (v = -1; v < 60; v += 3) {
		xl_stat_min(&s, v);
		xl_stat_max(&s, v);
		s.count++;
		s.sum += v;
		xl_squares_add(&s.squares, v);
		s.linear[xl_linear_bucket(v, 0, 40, 10)]++;
		s.log[xl_log_bucket(v)]++;
	}
	s.log[xl_log_bucket(5000)] += 70;
	xl_print_long(c, s.min);
	xl_print(c, " ");
	xl_print_long(c, s.max);
	xl_print(c, " ");
	xl_print_long(c, xl_variance(&s.squares, s.count, s.sum));
	xl_print(c, "\n");
	xl_print_linear_histogram(c, s.linear, 0, 40, 10);
	xl_print_log_histogram(c, s.log);
}

/* A recursive function: a string result in the caller's place, a string local in its own frame. */
static struct xl_str fibonacci(struct xl_context *c, struct xl_string *ret, s64 n)
{
	struct xl_str result = XL_STR("");

	if (!xl_nest(c, "api.stp:5:1"))
		return result;
	if (n) {
		struct xl_string *local = &XL_FRAME(c)->fibonacci[c->nesting - 1].s;
		struct xl_str t = fibonacci(c, local, n - 1);

		if (unlikely(xl_raised(c)))
			goto out;
		result = xl_concat(ret, t, XL_STR("+"));
	}
out:
	xl_unnest(c);
	return result;
}

/* begin */
static void errors(struct xl_context *c)
{
	struct xl_str message;

	xl_print_str(c, fibonacci(c, &XL_FRAME(c)->formats.t0, 9));
	xl_raise_str(c, XL_STR("own words"), "api.stp:6:6");
	goto catch_0;
catch_0:
	if (!xl_catch(c, &message))
		goto raise;
	xl_print(c, "caught ");
	xl_print_str(c, message);
	xl_str_at(c, XL_STR("A"), 1, "api.stp:7:7");
	if (!xl_raised(c) || !xl_catch(c, &message))
		goto raise;
	xl_print(c, ", ");
	xl_print_str(c, message);
	xl_print_memory(c, 16, 0, 0, 4, "api.stp:8:8");
	if (!xl_raised(c) || !xl_catch(c, &message))
		goto raise;
	xl_print(c, ", ");
	xl_print_str(c, message);
	xl_print(c, "\n");
	fibonacci(c, &XL_FRAME(c)->formats.t0, 10);
	if (!xl_raised(c) || xl_catch(c, NULL))
		xl_print(c, "not reached\n");
raise:
	return;
}

/* begin */
static void runaway(struct xl_context *c)
{
	xl_ctl_warn(c, XL_STR("a warning"));
	xl_ctl_log(c, XL_STR("a log line"));
	xl_budget(c, MAXACTION_INTERRUPTIBLE);
	for (;;)
		if (!xl_spend(c, "api.stp:9:9"))
			return;
}

static void tick(struct xl_context *c)
{
	unsigned long flags = xl_irq_off();

	if (xl_write_lock(c, &counts_lock)) {
		if (++ticks == 20)
			xl_ctl_exit(c);
		xl_write_unlock(&counts_lock);
	}
	xl_irq_on(flags);
}

static void jiffies_tick(struct xl_context *c)
{
	unsigned long flags = xl_irq_off();

	if (xl_write_lock(c, &counts_lock)) {
		jiffies_ticks++;
		xl_write_unlock(&counts_lock);
	}
	xl_irq_on(flags);
}

static void profile(struct xl_context *c)
{
	unsigned long flags = xl_irq_off();

	if (xl_write_lock(c, &counts_lock)) {
		profiles += c->regs != NULL;
		xl_write_unlock(&counts_lock);
	}
	xl_irq_on(flags);
}

static void entry(struct xl_context *c, const void *data)
{
	unsigned long flags = xl_irq_off();

	if (xl_write_lock(c, &counts_lock)) {
		xl_ctx_probefunc(c, &last);
		entries += *(const s64 *)data;
		xl_write_unlock(&counts_lock);
	}
	xl_irq_on(flags);
}

static void on_return(struct xl_context *c)
{
	unsigned long flags = xl_irq_off();

	if (xl_write_lock(c, &counts_lock)) {
		returns++;
		xl_write_unlock(&counts_lock);
	}
	xl_irq_on(flags);
}

static void failing(struct xl_context *c)
{
	unsigned long flags = xl_irq_off();
	bool first = false;

	if (xl_write_lock(c, &counts_lock)) {
		first = !timer_errors++;
		xl_write_unlock(&counts_lock);
	}
	xl_irq_on(flags);
	if (first)
		xl_raise(c, "division by zero", "api.stp:10:10");
}

/* end */
static void report(struct xl_context *c)
{
	xl_print(c, "end: ");
	xl_print_long(c, ticks >= 20);
	xl_print_long(c, jiffies_ticks > 0);
	xl_print_long(c, profiles > 0);
	xl_print_long(c, entries > 0 && entries % 3 == 0);
	xl_print_long(c, returns > 0);
	xl_print(c, " ");
	xl_print_str(c, xl_str(&last));
	xl_print(c, " ");
	xl_print_str(c, xl_ctx_module_name(c));
	xl_print_long(c, xl_time_ns(c) > 0 && xl_time_mono_ns(c) > 0 && xl_time_hz(c) > 0);
	xl_print_long(c, xl_ctx_ppid(c) > 0 && xl_ctx_uid(c) == 0 && xl_ctx_pgrp(c) >= 0);
	xl_print(c, "\n");
}

XL_TIMER(probe_0, tick);
XL_JIFFIES_TIMER(probe_1, jiffies_tick);
XL_PROFILE(probe_2, profile);
XL_KPROBE_DATA(probe_3, entry);
XL_KRETPROBE(probe_4, on_return);
XL_TIMER(probe_5, failing);

static const s64 three = 3;

static struct xl_timer timers[] = {
	{ .function = probe_0, .interval = 5000000, .randomize = 1000000 },
	{ .function = probe_5, .interval = 3000000 },
};
static struct xl_jiffies_timer jiffies_timers[] = {
	{ .function = probe_1, .interval = 2, .randomize = 1 },
};
static struct xl_profile profile_points[] = {
	{ .function = probe_2 },
};
static struct xl_kprobe kprobes[] = {
	{ .kp.symbol_name = "vfs_write", .kp.pre_handler = probe_3, .data = &three },
	{ .kp.symbol_name = "no_such_function", .kp.pre_handler = probe_3, .optional = true },
};
static struct xl_kretprobe kretprobes[] = {
	{ .rp.kp.symbol_name = "vfs_write", .rp.handler = probe_4, .rp.maxactive = 16 },
};

static int xl_attach(void)
{
	return xl_attach_kprobes(kprobes, ARRAY_SIZE(kprobes)) ?:
		xl_attach_kretprobes(kretprobes, ARRAY_SIZE(kretprobes)) ?:
		xl_attach_profiles(profile_points, ARRAY_SIZE(profile_points));
}

static void xl_detach(void)
{
	xl_detach_kprobes(kprobes, ARRAY_SIZE(kprobes));
	xl_detach_kretprobes(kretprobes, ARRAY_SIZE(kretprobes));
	xl_detach_profiles(profile_points, ARRAY_SIZE(profile_points));
	xl_detach_timers(timers, ARRAY_SIZE(timers));
	xl_detach_jiffies_timers(jiffies_timers, ARRAY_SIZE(jiffies_timers));
}

static void xl_begin(void)
{
	XL_RUN(formats);
	XL_RUN(strings);
	XL_RUN(arrays);
	XL_RUN(statistics);
	XL_RUN(errors);
	XL_RUN(runaway);
}
#define xl_begin xl_begin

static void xl_start(void)
{
	xl_start_timers(timers, ARRAY_SIZE(timers));
	xl_start_jiffies_timers(jiffies_timers, ARRAY_SIZE(jiffies_timers));
	xl_start_profiles(profile_points, ARRAY_SIZE(profile_points));
}
#define xl_start xl_start

static void xl_end(void)
{
	XL_RUN(report);
}
#define xl_end xl_end

#include "module.h"
