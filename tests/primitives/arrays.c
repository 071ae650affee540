// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What map.h and shard_map.h promise: arrays do many random operations, and a plain model
 * that knows everything by the number of its key does them, too.
 */
#define XL_HAVE_SHARDS
#define XL_GUARDED_ENTRIES 32
#define XL_GATHER_MOST 64
#include <err.h>
#include "context.h"
#include "map.h"
#include "output.h"
#include "session.h"
#include "shard.h"
#include "shard_map.h"

#define KEYS	48			/* that there are, */
#define ROOM	32			/* and that fit an array */
#define STEPS	20000

#define CHECK(condition, ...)								\
do {											\
	if (!(condition))								\
		errx(1, __VA_ARGS__);							\
} while (0)

/* The number of a key is in the last of its words. */
struct word_key {
	s64 number;
};

struct words_key {
	struct xl_name name;
	s64 number;
};

struct text_key {
	XL_STRING(40) text;
	s64 number;
};

struct text_lookup {
	struct xl_str text;
	s64 number;
};

static inline u64 text_hash(const struct text_lookup *k)
{
	return xl_hash_long(xl_hash_str(XL_HASH, k->text), k->number);
}

static inline bool text_equal(const struct text_key *e, const struct text_lookup *k)
{
	return e->number == k->number && xl_str_equal(xl_str(&e->text), k->text);
}

static inline void text_store(struct text_key *e, const struct text_lookup *k)
{
	xl_set(&e->text, k->text);
	e->number = k->number;
}

#define recent_hash text_hash
#define recent_equal text_equal
#define recent_store text_store

XL_MAP_WORDS(word, struct word_key, s64, ROOM);
XL_MAP_WORDS(words, struct words_key, s64, ROOM);
XL_MAP_WORDS_WRAP(last, struct words_key, s64, ROOM);
XL_MAP(text, struct text_key, struct text_lookup, s64, ROOM);
XL_MAP_WRAP(recent, struct text_key, struct text_lookup, s64, ROOM);
XL_MAP_WORDS_SHARDED(sum, struct words_key, s64, ROOM, xl_gather_add);

struct xl_shards {
	struct sum_shard sum;
};

static const char *const texts[] = { "", "a", "a text that is longer", "a text that is as long" };

static struct word_key word_of(s64 number)
{
	return (struct word_key){ number };
}

static struct words_key words_of(s64 number)
{
	return (struct words_key){ xl_name(xl_str_c(texts[number % 4])), number };
}

static struct text_lookup text_of(s64 number)
{
	return (struct text_lookup){ xl_str_c(texts[number % 4]), number };
}

static u64 seed = 1;

/*
 * A linear congruential generator (Knuth, The Art of Computer Programming, volume 2,
 * section 3.3.4); its high bits.
 */
static u32 chance(u32 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

/* What an array has: when each key came, 0 if it is not there, and its value. */
struct model {
	u32 came[KEYS];
	s64 value[KEYS];
	u32 live;
};

static u32 model_oldest(const struct model *m)
{
	u32 number, oldest = KEYS;

	for (number = 0; number < KEYS; number++)
		if (m->came[number] && (oldest == KEYS || m->came[number] < m->came[oldest]))
			oldest = number;
	return oldest;
}

static void model_delete(struct model *m, u32 number)
{
	m->live -= m->came[number] != 0;
	m->came[number] = 0;
}

/* The value of a key, made if there is room. */
static s64 *model_put(struct model *m, u32 number, u32 now, bool wrap)
{
	if (!m->came[number]) {
		if (m->live == ROOM && !wrap)
			return NULL;
		if (m->live == ROOM)
			model_delete(m, model_oldest(m));
		m->came[number] = now;
		m->value[number] = 0;
		m->live++;
	}
	return &m->value[number];
}

/* The functions of one array against the model; key_of(number) makes a key. */
#define AGAINST_MODEL(name, lookup_t, key_of, wrap)					\
static void name##_walk(const struct model *m, u32 step)				\
{											\
	struct name##_entry *e;								\
	u32 count = 0;									\
											\
	xl_map_each(name, e) {								\
		s64 number = e->key.number;						\
											\
		count++;								\
		CHECK(m->came[number] && m->value[number] == e->value,			\
		      #name ", step %u: key %lld is met", step, (long long)number);	\
	}										\
	CHECK(count == m->live, #name ", step %u: %u elements, not %u", step, count, m->live); \
}											\
											\
static void name##_test(struct xl_context *c)						\
{											\
	struct model m = { };								\
	u32 step;									\
											\
	for (step = 1; step <= STEPS; step++) {						\
		u32 number = chance(KEYS), what = chance(400);				\
		lookup_t key = key_of(number);						\
		s64 *value, *wanted;							\
											\
		if (what < 1) {								\
			name##_clear();							\
			memset(&m, 0, sizeof(m));					\
		} else if (what < 10) {							\
			name##_walk(&m, step);						\
		} else if (what < 100) {						\
			name##_delete(&key);						\
			model_delete(&m, number);					\
		} else if (what < 250) {						\
			value = name##_find(&key);					\
			CHECK(!value == !m.came[number],				\
			      #name ", step %u: key %u is %sthere", step, number,	\
			      value ? "" : "not ");					\
			CHECK(!value || *value == m.value[number],			\
			      #name ", step %u: wrong value of key %u", step, number);	\
		} else {								\
			value = name##_put(&key);					\
			wanted = model_put(&m, number, step, wrap);			\
			CHECK(!value == !wanted, #name ", step %u: key %u %s", step, number, \
			      value ? "still fits" : "does not fit");			\
			if (value) {							\
				CHECK(*value == *wanted, #name				\
				      ", step %u: wrong value of key %u", step, number); \
				*value += step;						\
				*wanted += step;					\
			}								\
		}									\
	}										\
	name##_clear();									\
}											\
struct name##_entry

AGAINST_MODEL(word, struct word_key, word_of, false);
AGAINST_MODEL(words, struct words_key, words_of, false);
AGAINST_MODEL(last, struct words_key, words_of, true);
AGAINST_MODEL(text, struct text_lookup, text_of, false);
AGAINST_MODEL(recent, struct text_lookup, text_of, true);

/* Shards of all CPUs, now and then gathered: sums are kept, and none is full too early. */
static void sum_test(struct xl_context *c)
{
	bool has[NR_CPUS][KEYS] = { }, gathered[KEYS] = { };
	s64 total[KEYS] = { };
	u32 step, live[NR_CPUS] = { }, all = 0;
	struct sum_entry *e;
	int cpu;

	for (step = 1; step <= STEPS; step++) {
		u32 number = chance(KEYS), at = chance(nr_cpu_ids);
		struct words_key key = words_of(number);
		bool full = !has[at][number] &&
			    (live[at] == ROOM || (all >= ROOM && !gathered[number]));
		s64 *value = sum_shard_put(&XL_SHARDS_OF(at)->sum, &key);

		CHECK(!value == full, "sum, step %u: key %u %s CPU %u", step, number,
		      full ? "still fits" : "does not fit", at);
		if (value) {
			live[at] += !has[at][number];
			has[at][number] = true;
			*value += step;
			total[number] += step;
		}
		if (chance(300))
			continue;
		xl_each_cpu(cpu)
			sum_gather(&XL_SHARDS_OF(cpu)->sum);
		all = 0;
		xl_map_each(sum, e) {
			CHECK(e->value == total[e->key.number], "sum, step %u: key %lld has %lld, not %lld",
			      step, (long long)e->key.number, (long long)e->value,
			      (long long)total[e->key.number]);
			gathered[e->key.number] = true;
			all++;
		}
		for (number = 0; number < KEYS; number++)
			CHECK(gathered[number] == (total[number] != 0),
			      "sum, step %u: key %u is lost", step, number);
		memset(has, 0, sizeof(has));
		memset(live, 0, sizeof(live));
		if (chance(3))
			continue;
		sum_clear();
		memset(gathered, 0, sizeof(gathered));
		memset(total, 0, sizeof(total));
		all = 0;
	}
}

/* Of the CPUs that are there, so many have guarded shards of their own as can hold XL_GATHER_MOST. */
static void sharing_test(struct xl_context *c)
{
	u32 most = XL_GATHER_MOST / XL_GUARDED_ENTRIES, different = 0;
	void *before = NULL;
	int cpu;

	xl_each_cpu(cpu) {
		void *guarded = per_cpu(xl_contexts, cpu).guarded;

		CHECK(guarded, "CPU %d has no guarded shards", cpu);
		different += guarded != before;
		before = guarded;
	}
	CHECK(different == min(most, nr_cpu_ids), "%u CPUs have %u guarded shards", nr_cpu_ids,
	      different);
}

#define MANY 4096

XL_MAP_WORDS(many, struct words_key, s64, MANY);
#define long_texts_hash text_hash
#define long_texts_equal text_equal
#define long_texts_store text_store
XL_MAP(long_texts, struct text_key, struct text_lookup, s64, MANY);

/* Keys that share a bucket with one before them; a good hash leaves three in five alone. */
#define CROWDED(name)									\
({											\
	struct name##_entry *entry_;							\
	u32 crowded_ = 0;								\
											\
	xl_map_each(name, entry_)							\
		crowded_ += entry_->next != 0;						\
	crowded_;									\
})

/* Keys that differ in one place only find buckets of their own. */
static void spread_test(struct xl_context *c)
{
	u32 number, place;

	for (place = 0; place < 3; place++) {
		for (number = 0; number < MANY; number++) {
			struct words_key key = { };
			char text[] = "a text that is the same but for ...", digits[8];

			snprintf(digits, sizeof(digits), "%04x", number);
			(place < 2 ? &key.name.word[place] : (u64 *)&key.number)[0] = number;
			many_put(&key);
			memcpy(text + 15 * place, digits, 4);
			long_texts_put(&(struct text_lookup){ { text, sizeof(text) - 1 }, 0 });
		}
		CHECK(CROWDED(many) < MANY / 2, "word %u: %u of %u keys meet others", place,
		      CROWDED(many), MANY);
		CHECK(CROWDED(long_texts) < MANY / 2, "byte %u: %u of %u keys meet others",
		      15 * place, CROWDED(long_texts), MANY);
		many_clear();
		long_texts_clear();
	}
}

static int xl_attach(void)
{
	return 0;
}

static void xl_detach(void)
{
}

static int xl_allocate(u32 cpus, u32 guarded)
{
	CHECK(sum_allocate(1u << 30) == -ENOMEM, "more entries than there are names for");
	return sum_allocate(cpus);
}

static void xl_free(void)
{
	sum_free();
}
#define xl_allocate xl_allocate

static void xl_begin(void)
{
	XL_RUN(word_test);
	XL_RUN(words_test);
	XL_RUN(last_test);
	XL_RUN(text_test);
	XL_RUN(recent_test);
	XL_RUN(sum_test);
	XL_RUN(sharing_test);
	XL_RUN(spread_test);
	xl_free();
	xl_exit();
}
#define xl_begin xl_begin

#include "module.h"
