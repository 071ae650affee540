/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sharded arrays: tables as in map.h, the shards, and the one that is gathered
 * from them, which has room for what all of them can hold.
 *
 * max entries are the limit of a shard; also, what is not in the array as it was gathered
 * last may not be added once that has max entries. So an array that is not sharded would
 * have been full by then, and what is gathered fits: it can grow only while it has fewer
 * than max entries, and then by max for each shard.
 *
 * An update may read the gathered array: that changes only while no update runs. Contexts
 * as in shard.h; gathering takes one step for each entry of a shard.
 */
#ifndef XL_SHARD_MAP_H
#define XL_SHARD_MAP_H

#include <linux/mm.h>
#include "map.h"
#include "shard.h"

/* Too much memory is the user's to hear of, not the kernel log's. */
#define XL_SHARD_GFP (GFP_KERNEL | __GFP_NOWARN)

#define XL_MAP_SHARDED(name, key_t, lookup_t, value_t, max, hash_, equal_, store_, marked, \
		       lookup_of, gather_)						\
XL_MAP_ENTRY(name, key_t, value_t);							\
											\
struct name##_shard {									\
	XL_MAP_HEAD(lookup_t)								\
	struct xl_age age[1];								\
	u32 buckets[1 << XL_MAP_BITS(max)];						\
	struct name##_entry entries[max];						\
};											\
											\
static struct name##_table {								\
	XL_MAP_HEAD(lookup_t)								\
	u32 bits;									\
	u32 room;									\
	struct xl_age age[1];								\
	u32 *buckets;									\
	struct name##_entry *entries;							\
} name##_table;										\
											\
XL_MAP_FUNCTIONS(name##_shard, name##_shard, name##_entry, lookup_t, value_t,		\
		 XL_MAP_BITS(max), max, hash_, equal_, store_, marked, 0);		\
XL_MAP_FUNCTIONS(name, name##_table, name##_entry, lookup_t, value_t, t->bits, t->room,	\
		 hash_, equal_, store_, marked, 0);					\
XL_MAP_ARRAY(name, lookup_t, value_t, max, hash_);					\
											\
XL_SLOW value_t *name##_shard_add(struct name##_shard *shard, u64 hash)			\
{											\
	if (name##_table.live >= (max) &&						\
	    !name##_seek(&name##_table, &shard->wanted, hash))				\
		return NULL;								\
	return name##_shard_insert(shard, hash, max);					\
}											\
											\
/* The value of a key in a shard, made if there is none; NULL if the array is full. */	\
static inline __maybe_unused value_t *name##_shard_put(struct name##_shard *shard,	\
						       const lookup_t *key)		\
{											\
	u64 hash = hash_(key);								\
	struct name##_entry *e = name##_shard_seek(shard, key, hash);			\
											\
	if (likely(e))									\
		return &e->value;							\
	shard->wanted = *key;								\
	return name##_shard_add(shard, hash);						\
}											\
											\
/* Moves what is in a shard to the array. */						\
XL_SLOW void name##_gather(struct name##_shard *shard)					\
{											\
	struct name##_table *t = &name##_table;						\
	struct name##_entry *e, *old;							\
											\
	for (e = shard->entries; e < shard->entries + shard->used; e++) {		\
		u64 hash = XL_MAP_HASH(e);						\
		value_t *to;								\
											\
		t->wanted = lookup_of(&e->key);						\
		old = name##_seek(t, &t->wanted, hash);					\
		to = old ? &old->value : name##_insert(t, hash, t->room);		\
		if (likely(to))								\
			gather_(to, &e->value);						\
	}										\
	name##_shard_reset(shard);							\
}											\
											\
/* Makes room for what so many shards can hold; 0 or -ENOMEM. May sleep. */		\
XL_COLD int name##_allocate(u32 shards)							\
{											\
	struct name##_table *t = &name##_table;						\
	u64 room = (u64)(max) * (shards + 1ull);					\
											\
	/* The names of entries have 32 bits. */					\
	if (room * XL_MAP_STRIDE(name##_entry) > U32_MAX)				\
		return -ENOMEM;								\
	t->room = room;									\
	t->bits = XL_MAP_BITS(t->room);							\
	t->buckets = kvcalloc(1 << t->bits, sizeof(*t->buckets), XL_SHARD_GFP);		\
	t->entries = kvcalloc(t->room, sizeof(*t->entries), XL_SHARD_GFP);		\
	return t->buckets && t->entries ? 0 : -ENOMEM;					\
}											\
											\
XL_COLD void name##_free(void)								\
{											\
	kvfree(name##_table.buckets);							\
	kvfree(name##_table.entries);							\
}											\
struct name##_entry

/* For keys that consist of s64 and struct xl_name only. gather(to, from) is as in shard.h. */
#define XL_MAP_WORDS_SHARDED(name, key_t, value_t, max, gather_)			\
XL_MAP_WORDS_FUNCTIONS(name, key_t);							\
XL_MAP_SHARDED(name, key_t, key_t, value_t, max, name##_words_hash, name##_words_equal,	\
	       name##_words_store, 0, *, gather_)

/* For any key, with name##_hash() and its kind, and name##_lookup_of(), which looks up a key. */
#define XL_MAP_ANY_SHARDED(name, key_t, lookup_t, value_t, max, gather_)		\
	XL_MAP_SHARDED(name, key_t, lookup_t, value_t, max, name##_hash, name##_equal,	\
		       name##_store, 1, name##_lookup_of, gather_)

/* A snapshot of such an array, see snapshot.h. Allocated as the array is, after it. */
#define XL_SNAPSHOT_SHARDED(snapshot, name)						\
static struct {										\
	u32 count;									\
	u32 *order;									\
	struct name##_entry *entry;							\
} snapshot;										\
											\
XL_COLD int snapshot##_allocate(void)							\
{											\
	u32 room = name##_table.room;							\
											\
	snapshot.order = kvcalloc(room, sizeof(*snapshot.order), XL_SHARD_GFP);		\
	snapshot.entry = kvcalloc(room, sizeof(*snapshot.entry), XL_SHARD_GFP);		\
	return snapshot.order && snapshot.entry ? 0 : -ENOMEM;				\
}											\
											\
XL_COLD void snapshot##_free(void)							\
{											\
	kvfree(snapshot.order);								\
	kvfree(snapshot.entry);								\
}											\
struct name##_entry

#endif
