/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of the entries of an array, to be sorted and worked on when the array's
 * lock is released. Any context; whoever uses a snapshot has it for himself, by a
 * lock or by what cannot overlap.
 */
#ifndef XL_SNAPSHOT_H
#define XL_SNAPSHOT_H

#include <linux/minmax.h>
#include "map.h"

/* A static snapshot with room for all max entries of an array. */
#define XL_SNAPSHOT(snapshot, name, max)						\
static struct {										\
	u32 count;									\
	u32 order[max];			/* indices of entry[], in the order of the loop */ \
	struct name##_entry entry[max];							\
} snapshot

#define xl_snapshot_clear(snapshot) ((snapshot)->count = 0)

/* Copies an entry. */
#define xl_snapshot_add(snapshot, e)							\
do {											\
	(snapshot)->entry[(snapshot)->count] = *(e);					\
	(snapshot)->order[(snapshot)->count] = (snapshot)->count;			\
	(snapshot)->count++;								\
} while (0)

/*
 * Sorts so that before(x, y) holds for no y that precedes x. Heapsort (Williams,
 * Algorithm 232, 1964): in place, and n log n steps also in the worst case.
 */
#define xl_snapshot_sort(snapshot, before)						\
do {											\
	u32 *order = (snapshot)->order, end = (snapshot)->count, start = end / 2;	\
	u32 root, child;								\
											\
	while (end > 1) {								\
		if (start) {			/* the heap grows downwards */		\
			start--;							\
		} else {			/* its first goes behind it */		\
			end--;								\
			swap(order[0], order[end]);					\
		}									\
		for (root = start; (child = 2 * root + 1) < end; root = child) {	\
			if (child + 1 < end &&						\
			    before(&(snapshot)->entry[order[child]],			\
				   &(snapshot)->entry[order[child + 1]]))		\
				child++;						\
			if (!before(&(snapshot)->entry[order[root]],			\
				    &(snapshot)->entry[order[child]]))			\
				break;							\
			swap(order[root], order[child]);				\
		}									\
	}										\
} while (0)

/* Loops over the copies in order; u32 i. */
#define xl_snapshot_each(snapshot, i, e)						\
	for ((i) = 0; (i) < (snapshot)->count &&					\
	     ((e) = &(snapshot)->entry[(snapshot)->order[i]], true); (i)++)

#endif
