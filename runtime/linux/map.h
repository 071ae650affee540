/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arrays: hash tables with chains, all of whose memory is there from the start.
 *
 * XL_MAP_WORDS() and XL_MAP() define the functions of one array for its types, so
 * that sizes are constants and nothing is called through a pointer. An entry is
 * named by its index plus 1, so that 0 ends a chain. Entries are handed out in a
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

/* The entries of an array with wrap in order of age; names as above. */
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

/*
 * What each of the macros at the end defines. hash(lookup) gives 64 bits,
 * equal(key, lookup) compares and store(key, lookup) copies.
 */
#define XL_MAP_DEFINE(name, key_t, lookup_t, value_t, max, hash_, equal_, store_, wrap)	\
struct name##_entry {									\
	u32 next;			/* in its chain, or of deleted ones */		\
	u32 hash;			/* odd if the entry is live, else 0 */		\
	key_t key;									\
	value_t value;									\
};											\
static struct name##_entry name##_entries[max];						\
static u32 name##_buckets[1 << XL_MAP_BITS(max)];					\
static u32 name##_used;			/* entries handed out in a row */		\
static u32 name##_free;			/* first of the deleted ones */			\
static __maybe_unused struct xl_age name##_age[(wrap) ? (max) + 1 : 1];			\
											\
static __always_inline u32 name##_hash_of(const lookup_t *key)				\
{											\
	return hash_(key) >> 32 | 1;							\
}											\
											\
static __always_inline u32 *name##_bucket(u32 hash)					\
{											\
	return &name##_buckets[hash >> (32 - XL_MAP_BITS(max))];			\
}											\
											\
/* The link that names the entry of a key, or the 0 at the end of its chain. */		\
static __always_inline u32 *name##_link(const lookup_t *key, u32 hash)			\
{											\
	u32 *link = name##_bucket(hash);						\
											\
	while (*link) {									\
		struct name##_entry *e = &name##_entries[*link - 1];			\
											\
		if (e->hash == hash && equal_(&e->key, key))				\
			break;								\
		link = &e->next;							\
	}										\
	return link;									\
}											\
											\
/* The value of a key, or NULL. */							\
static inline __maybe_unused value_t *name##_find(const lookup_t *key)			\
{											\
	u32 entry = *name##_link(key, name##_hash_of(key));				\
											\
	return entry ? &name##_entries[entry - 1].value : NULL;				\
}											\
											\
/* Takes out the entry that a link names. */						\
static inline __maybe_unused void name##_remove(u32 *link)				\
{											\
	u32 entry = *link;								\
	struct name##_entry *e = &name##_entries[entry - 1];				\
											\
	*link = e->next;								\
	e->hash = 0;									\
	e->next = name##_free;								\
	name##_free = entry;								\
	if (wrap)									\
		xl_age_remove(name##_age, entry);					\
}											\
											\
/* Takes out the oldest entry. */							\
static inline __maybe_unused void name##_evict(void)					\
{											\
	u32 entry = name##_age[0].newer;						\
	u32 *link = name##_bucket(name##_entries[entry - 1].hash);			\
											\
	while (*link != entry)								\
		link = &name##_entries[*link - 1].next;					\
	name##_remove(link);								\
}											\
											\
/* Makes an entry, with a value of zero bytes; NULL if the array is full. */		\
XL_SLOW value_t *name##_insert(const lookup_t *key, u32 hash)	\
{											\
	u32 entry, *bucket = name##_bucket(hash);					\
	struct name##_entry *e;								\
											\
	if (name##_used < (max)) {							\
		entry = ++name##_used;							\
	} else {									\
		if ((wrap) && !name##_free)						\
			name##_evict();							\
		entry = name##_free;							\
		if (!entry)								\
			return NULL;							\
		name##_free = name##_entries[entry - 1].next;				\
	}										\
	e = &name##_entries[entry - 1];							\
	store_(&e->key, key);								\
	memset(&e->value, 0, sizeof(e->value));						\
	e->hash = hash;									\
	e->next = *bucket;								\
	*bucket = entry;								\
	if (wrap)									\
		xl_age_append(name##_age, entry);					\
	return &e->value;								\
}											\
											\
/* The value of a key, made if there is none; NULL if the array is full. */		\
static inline __maybe_unused value_t *name##_put(const lookup_t *key)			\
{											\
	u32 hash = name##_hash_of(key), entry = *name##_link(key, hash);		\
											\
	return likely(entry) ? &name##_entries[entry - 1].value : name##_insert(key, hash); \
}											\
											\
static inline __maybe_unused void name##_delete(const lookup_t *key)			\
{											\
	u32 *link = name##_link(key, name##_hash_of(key));				\
											\
	if (*link)									\
		name##_remove(link);							\
}											\
											\
static inline __maybe_unused void name##_clear(void)					\
{											\
	if (!name##_used)								\
		return;									\
	memset(name##_buckets, 0, sizeof(name##_buckets));				\
	memset(name##_age, 0, sizeof(name##_age[0]));					\
	name##_used = 0;								\
	name##_free = 0;								\
}											\
struct name##_entry

/* Functions of an array whose keys consist of s64 and struct xl_name only. */
#define XL_MAP_WORDS_DEFINE(name, key_t, value_t, max, wrap)				\
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
											\
XL_MAP_DEFINE(name, key_t, key_t, value_t, max, name##_words_hash, name##_words_equal,	\
	      name##_words_store, wrap)

/* An array that reports when it is full, and one that replaces its oldest entry then. */
#define XL_MAP_WORDS(name, key_t, value_t, max) XL_MAP_WORDS_DEFINE(name, key_t, value_t, max, 0)
#define XL_MAP_WORDS_WRAP(name, key_t, value_t, max)					\
	XL_MAP_WORDS_DEFINE(name, key_t, value_t, max, 1)

/* The same for any key, with name##_hash(), name##_equal() and name##_store() as above. */
#define XL_MAP(name, key_t, lookup_t, value_t, max)					\
	XL_MAP_DEFINE(name, key_t, lookup_t, value_t, max, name##_hash, name##_equal,	\
		      name##_store, 0)
#define XL_MAP_WRAP(name, key_t, lookup_t, value_t, max)				\
	XL_MAP_DEFINE(name, key_t, lookup_t, value_t, max, name##_hash, name##_equal,	\
		      name##_store, 1)

/* Loops over the live entries, which the body must not add or delete. */
#define xl_map_each(name, e)								\
	for ((e) = name##_entries; (e) < name##_entries + name##_used; (e)++)		\
		if (!(e)->hash)								\
			;								\
		else

#endif
