/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arrays: hash tables with chains, all of whose memory is there from the start.
 *
 * XL_MAP_WORDS() and XL_MAP() define the functions of one array for its types, so
 * that sizes are constants and nothing is called through a pointer. The name of an
 * entry is the distance of its end from where entries begin, in words of 32 bits: that
 * needs no multiplication to find it, and 0 ends a chain. Entries are handed out in a
 * row first, then from the chain of deleted ones; in an array with wrap, from the
 * oldest when there is no other.
 *
 * All of this: any context; the caller holds the array's lock, or is alone. A chain
 * is as long as the array in the worst case, which bounds each function; a
 * handler therefore ends however its keys were chosen.
 */
#ifndef XL_MAP_H
#define XL_MAP_H

#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>
#include "limits.h"
#include "strings.h"

#define XL_FULL(name) "array " name " is full"

/* The start value of a hash. */
#define XL_HASH 0ULL

/*
 * Adds a word to a hash: multiplicative hashing (Knuth, The Art of Computer
 * Programming, volume 3, 1973, section 6.4), so the high bits are the good ones.
 */
static __always_inline u64 xl_hash_long(u64 hash, u64 word)
{
	return (rol64(hash, 5) ^ word) * 0x9e3779b97f4a7c15ULL;
}

/* Adds the words of a key. */
static __always_inline u64 xl_hash_words(u64 hash, const u64 *word, size_t words)
{
	size_t i;

#pragma GCC unroll 18
	for (i = 0; i < words; i++)
		hash = xl_hash_long(hash, word[i]);
	return hash;
}

static __always_inline bool xl_words_equal(const u64 *a, const u64 *b, size_t words)
{
	size_t i;

#pragma GCC unroll 18
	for (i = 0; i < words; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Adds a string, word by word; of the last word, only what belongs to it. */
static inline u64 xl_hash_str(u64 hash, struct xl_str s)
{
	u64 word;
	u32 i;

	for (i = 0; i + sizeof(word) <= s.len; i += sizeof(word)) {
		__builtin_memcpy(&word, s.s + i, sizeof(word));
		hash = xl_hash_long(hash, word);
	}
	for (word = s.len; i < s.len; i++)
		word = word << 8 | (u8)s.s[i];
	return xl_hash_long(hash, word);
}

/* The entries of an array with wrap in order of age, by their indices plus 1. */
struct xl_age {
	u32 older;
	u32 newer;
};

/* Link 0 closes the ring: its newer is the oldest entry, its older the newest. */
static inline void xl_age_append(struct xl_age *age, u32 entry)
{
	age[entry] = (struct xl_age){ .older = age[0].older };
	age[age[0].older].newer = entry;
	age[0].older = entry;
}

static inline void xl_age_remove(struct xl_age *age, u32 entry)
{
	age[age[entry].older].newer = age[entry].newer;
	age[age[entry].newer].older = age[entry].older;
}

/* The bits of a bucket's number: at least one, so that the shift below is defined. */
#define XL_MAP_BITS(max) ((max) < 3 ? 1 : ilog2((max) - 1) + 1)

/* From the name of an entry to that of the next one. */
#define XL_MAP_STRIDE(entry_t) (sizeof(struct entry_t) / sizeof(u32))

/* What an entry keeps of its hash: odd, so never 0. From that, what finds its bucket. */
#define XL_MAP_MARK(hash) ((u32)((hash) >> 32) | 1)
#define XL_MAP_HASH(e) ((u64)(e)->hash << 32)

/*
 * The functions of one type of table, struct table: bits and room, which may ask the
 * table t, are the logarithm of its number of buckets and its number of entries. hash(lookup)
 * gives 64 bits, equal(key, lookup) compares and store(key, lookup) copies. With marked, what
 * entries keep of their hashes is compared ahead of keys, which may take longer.
 */
#define XL_MAP_FUNCTIONS(name, table, entry_t, lookup_t, value_t, bits, room, hash_, equal_, \
			 store_, marked, wrap)						\
static __always_inline u32 *name##_bucket(struct table *t, u64 hash)			\
{											\
	return &t->buckets[hash >> (64 - (bits))];					\
}											\
											\
/* The entry of a name: never NULL, which the compiler is told, so that nobody asks. */	\
static __always_inline struct entry_t *name##_at(struct table *t, u32 entry)		\
{											\
	unsigned long at = (unsigned long)t->entries - sizeof(struct entry_t) +		\
			   entry * sizeof(u32);						\
											\
	if (!at)									\
		__builtin_unreachable();						\
	return (struct entry_t *)at;							\
}											\
											\
static __always_inline bool name##_is(const struct entry_t *e, const lookup_t *key, u64 hash) \
{											\
	return (!(marked) || e->hash == XL_MAP_MARK(hash)) && equal_(&e->key, key);	\
}											\
											\
/* The entry of a key, or NULL. */							\
static __always_inline struct entry_t *name##_seek(struct table *t, const lookup_t *key, \
						   u64 hash)				\
{											\
	u32 entry = *name##_bucket(t, hash);						\
											\
	while (entry) {									\
		struct entry_t *e = name##_at(t, entry);				\
											\
		if (likely(name##_is(e, key, hash)))					\
			return e;							\
		entry = e->next;							\
	}										\
	return NULL;									\
}											\
											\
/* Takes out the entry that a link names. */						\
static inline __maybe_unused void name##_remove(struct table *t, u32 *link)		\
{											\
	u32 entry = *link;								\
	struct entry_t *e = name##_at(t, entry);					\
											\
	*link = e->next;								\
	e->hash = 0;									\
	e->next = t->free;								\
	t->free = entry;								\
	t->live--;									\
	if (wrap)									\
		xl_age_remove(t->age, entry / XL_MAP_STRIDE(entry_t));			\
}											\
											\
/* Takes out the oldest entry. */							\
static inline __maybe_unused void name##_evict(struct table *t)				\
{											\
	u32 entry = t->age[0].newer * XL_MAP_STRIDE(entry_t);				\
	u32 *link = name##_bucket(t, XL_MAP_HASH(name##_at(t, entry)));			\
											\
	while (*link != entry)								\
		link = &name##_at(t, *link)->next;					\
	name##_remove(t, link);								\
}											\
											\
/* Makes an entry for the wanted key, its value zero bytes; NULL if there are limit already. */ \
XL_SLOW value_t *name##_insert(struct table *t, u64 hash, u32 limit)			\
{											\
	u32 entry, *bucket = name##_bucket(t, hash);					\
	struct entry_t *e;								\
											\
	if (t->live >= limit) {								\
		if (!(wrap))								\
			return NULL;							\
		name##_evict(t);							\
	}										\
	entry = t->free;								\
	if (entry)									\
		t->free = name##_at(t, entry)->next;					\
	else										\
		entry = ++t->used * XL_MAP_STRIDE(entry_t);				\
	t->live++;									\
	e = name##_at(t, entry);							\
	store_(&e->key, &t->wanted);							\
	memset(&e->value, 0, sizeof(e->value));						\
	e->hash = XL_MAP_MARK(hash);							\
	e->next = *bucket;								\
	*bucket = entry;								\
	if (wrap)									\
		xl_age_append(t->age, entry / XL_MAP_STRIDE(entry_t));			\
	return &e->value;								\
}											\
											\
static inline __maybe_unused void name##_reset(struct table *t)				\
{											\
	if (!t->used)									\
		return;									\
	memset(t->buckets, 0, sizeof(u32) << (bits));					\
	memset(t->age, 0, sizeof(t->age[0]));						\
	t->used = 0;									\
	t->live = 0;									\
	t->free = 0;									\
}											\
struct entry_t

#define XL_MAP_ENTRY(name, key_t, value_t)						\
struct name##_entry {									\
	u32 next;			/* in its chain, or of deleted ones */		\
	u32 hash;			/* odd if the entry is live, else 0 */		\
	key_t key;									\
	value_t value;									\
}

/* What every table has beside buckets and entries. */
#define XL_MAP_HEAD(lookup_t)								\
	lookup_t wanted;		/* the key of an entry that is to be made */	\
	u32 used;			/* entries handed out in a row */		\
	u32 live;			/* and not deleted since */			\
	u32 free;			/* first of the deleted ones */

/* The functions of an array, on the one table NAME_table. */
#define XL_MAP_ARRAY(name, lookup_t, value_t, max, hash_)				\
/* The value of a key, or NULL. */							\
static inline __maybe_unused value_t *name##_find(const lookup_t *key)			\
{											\
	struct name##_entry *e = name##_seek(&name##_table, key, hash_(key));		\
											\
	return e ? &e->value : NULL;							\
}											\
											\
/* The value of a key, made if there is none; NULL if the array is full. */		\
static inline __maybe_unused value_t *name##_put(const lookup_t *key)			\
{											\
	u64 hash = hash_(key);								\
	struct name##_entry *e = name##_seek(&name##_table, key, hash);			\
											\
	if (likely(e))									\
		return &e->value;							\
	name##_table.wanted = *key;							\
	return name##_insert(&name##_table, hash, max);					\
}											\
											\
static inline __maybe_unused void name##_delete(const lookup_t *key)			\
{											\
	u64 hash = hash_(key);								\
	u32 *link = name##_bucket(&name##_table, hash);					\
											\
	while (*link && !name##_is(name##_at(&name##_table, *link), key, hash))		\
		link = &name##_at(&name##_table, *link)->next;				\
	if (*link)									\
		name##_remove(&name##_table, link);					\
}											\
											\
static inline __maybe_unused void name##_clear(void)					\
{											\
	name##_reset(&name##_table);							\
}											\
struct name##_entry

#define XL_MAP_DEFINE(name, key_t, lookup_t, value_t, max, hash_, equal_, store_, marked, wrap) \
XL_MAP_ENTRY(name, key_t, value_t);							\
											\
static struct name##_table {								\
	XL_MAP_HEAD(lookup_t)								\
	struct xl_age age[(wrap) ? (max) + 1 : 1];					\
	u32 buckets[1 << XL_MAP_BITS(max)];						\
	struct name##_entry entries[max];						\
} name##_table;										\
_Static_assert((u64)(max) * XL_MAP_STRIDE(name##_entry) <= U32_MAX, "names are 32 bits");	\
											\
XL_MAP_FUNCTIONS(name, name##_table, name##_entry, lookup_t, value_t,			\
		 XL_MAP_BITS(max), max, hash_, equal_, store_, marked, wrap);		\
XL_MAP_ARRAY(name, lookup_t, value_t, max, hash_)

/* Functions of an array whose keys consist of s64 and struct xl_name only. */
#define XL_MAP_WORDS_FUNCTIONS(name, key_t)						\
static __always_inline u64 name##_words_hash(const key_t *key)				\
{											\
	return xl_hash_words(XL_HASH, (const u64 *)key, sizeof(*key) / sizeof(u64));	\
}											\
											\
static __always_inline bool name##_words_equal(const key_t *a, const key_t *b)		\
{											\
	return xl_words_equal((const u64 *)a, (const u64 *)b, sizeof(*a) / sizeof(u64)); \
}											\
											\
static __always_inline void name##_words_store(key_t *to, const key_t *from)		\
{											\
	*to = *from;									\
}											\
struct name##_entry

#define XL_MAP_WORDS_DEFINE(name, key_t, value_t, max, wrap)				\
XL_MAP_WORDS_FUNCTIONS(name, key_t);							\
XL_MAP_DEFINE(name, key_t, key_t, value_t, max, name##_words_hash, name##_words_equal,	\
	      name##_words_store, 0, wrap)

/* An array that reports when it is full, and one that replaces its oldest entry then. */
#define XL_MAP_WORDS(name, key_t, value_t, max) XL_MAP_WORDS_DEFINE(name, key_t, value_t, max, 0)
#define XL_MAP_WORDS_WRAP(name, key_t, value_t, max)					\
	XL_MAP_WORDS_DEFINE(name, key_t, value_t, max, 1)

/* The same for any key, with name##_hash(), name##_equal() and name##_store() as above. */
#define XL_MAP(name, key_t, lookup_t, value_t, max)					\
	XL_MAP_DEFINE(name, key_t, lookup_t, value_t, max, name##_hash, name##_equal,	\
		      name##_store, 1, 0)
#define XL_MAP_WRAP(name, key_t, lookup_t, value_t, max)				\
	XL_MAP_DEFINE(name, key_t, lookup_t, value_t, max, name##_hash, name##_equal,	\
		      name##_store, 1, 1)

/* Loops over the live entries, which the body must not add or delete. */
#define xl_map_each(name, e)								\
	for ((e) = name##_table.entries; (e) < name##_table.entries + name##_table.used; (e)++) \
		if (!(e)->hash)								\
			;								\
		else

#endif
