/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints: hit by what the event file says. There is one of every name. */
#ifndef XL_HOST_TRACEPOINT_H
#define XL_HOST_TRACEPOINT_H

#include <errno.h>
#include <linux/slab.h>
#include <linux/types.h>
#include "points.h"

struct tracepoint {
	const char *name;
	struct xl_point point;
};

/* Shows the one that is looked for. */
#define for_each_kernel_tracepoint(look, wanted)					\
do {											\
	struct tracepoint *tracepoint_ = calloc(1, sizeof(*tracepoint_));		\
											\
	if (tracepoint_) {								\
		tracepoint_->name = (wanted)->name;					\
		look(tracepoint_, wanted);						\
	}										\
} while (0)

static inline int tracepoint_probe_register(struct tracepoint *tracepoint, void *probe, void *data)
{
	return xl_point_add(&tracepoint->point, XL_POINT_TRACE, tracepoint->name, probe, data);
}

/* When no thread fires it any more. */
static inline void tracepoint_probe_unregister(struct tracepoint *tracepoint, void *probe,
					       void *data)
{
}

#define tracepoint_synchronize_unregister() ((void)0)

#endif
