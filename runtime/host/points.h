/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites, which events hit, and the script's probe points there. A site is there once
 * an event or a probe point names it, for as long as the program.
 */
#ifndef XL_POINTS_H
#define XL_POINTS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

enum xl_point_kind {
	XL_POINT_TRACE,			/* kernel.trace("name") */
	XL_POINT_FUNCTION,		/* kernel.function("name") */
	XL_POINT_RETURN,		/* kernel.function("name").return */
};

/* A probe point of the script, part of what the kernel has for such a probe. */
struct xl_point {
	struct xl_point *next;		/* at its site, in the order of the script */
	void (*fire)(void *data);
	void *data;
};

struct xl_site {
	struct xl_site *next;		/* in its bucket */
	enum xl_point_kind kind;
	struct xl_point *points;
	char name[];
};

#define XL_SITE_BUCKETS 1024

static struct xl_site *xl_sites[XL_SITE_BUCKETS];

/* The site of that kind and name, made if there is none; NULL without memory. */
static inline struct xl_site *xl_site_of(enum xl_point_kind kind, const char *name)
{
	struct xl_site **link, *site;
	unsigned int hash = kind;
	const char *p;

	for (p = name; *p; p++)
		hash = hash * 31 + (unsigned char)*p;
	for (link = &xl_sites[hash % XL_SITE_BUCKETS]; *link; link = &(*link)->next)
		if ((*link)->kind == kind && !strcmp((*link)->name, name))
			return *link;
	site = calloc(1, sizeof(*site) + strlen(name) + 1);
	if (site) {
		site->kind = kind;
		strcpy(site->name, name);
		*link = site;
	}
	return site;
}

/* Puts a probe point at its site. Before any thread runs handlers; 0 or -ENOMEM. */
static inline int xl_point_add(struct xl_point *point, enum xl_point_kind kind, const char *name,
			       void (*fire)(void *data), void *data)
{
	struct xl_site *site = xl_site_of(kind, name);
	struct xl_point **link;

	if (!site)
		return -ENOMEM;
	for (link = &site->points; *link; link = &(*link)->next)
		;
	*point = (struct xl_point){ .fire = fire, .data = data };
	*link = point;
	return 0;
}

#endif
