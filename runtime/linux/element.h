/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions on what an array's functions give: the value of an element that may
 * not be there, and the next entry of a walk. Any context; the caller holds the
 * array's lock, or is alone.
 */
#ifndef XL_ELEMENT_H
#define XL_ELEMENT_H

#include "map.h"
#include "strings.h"

/* The value that NAME_find() points to; 0 or the empty name if there is none. */
#define xl_value(pointer)								\
({											\
	typeof(pointer) value_ = (pointer);						\
											\
	value_ ? *value_ : (typeof(*value_)){ 0 };					\
})

/* A view of the string that it points to. */
#define xl_value_str(pointer)								\
({											\
	typeof(pointer) value_ = (pointer);						\
											\
	value_ ? xl_str(value_) : XL_STR("");						\
})

/* A field of the statistic that it points to; 0 if there is none. */
#define xl_field(pointer, field)							\
({											\
	typeof(pointer) value_ = (pointer);						\
											\
	value_ ? (s64)value_->field : 0;						\
})

/* The live entry after e, the first if e is NULL; NULL at the end. */
#define xl_map_next(name, e)								\
({											\
	struct name##_entry *next_ = (e) ? (e) + 1 : name##_table.entries;		\
	struct name##_entry *end_ = name##_table.entries + name##_table.used;		\
											\
	while (next_ < end_ && !next_->hash)						\
		next_++;								\
	next_ < end_ ? next_ : NULL;							\
})

/* The next copy of a snapshot, in order; NULL at the end. u32 i counts them. */
#define xl_snapshot_next(snapshot, i)							\
	((i) < (snapshot)->count ? &(snapshot)->entry[(snapshot)->order[(i)++]] : NULL)

#endif
