/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes on the kernel's own tracepoints, found by name. */
#ifndef XL_TRACEPOINT_H
#define XL_TRACEPOINT_H

#include <linux/tracepoint.h>
#include <linux/version.h>
#include "context.h"

struct xl_tracepoint {
	const char *name;
	void *probe;			/* of XL_TRACEPOINT() */
	const void *data;		/* for the _DATA form */
	bool optional;
	struct tracepoint *tracepoint;	/* once attached */
};

/* Since 6.13 some tracepoints call their probes with preemption on. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define xl_tracepoint_begin() preempt_disable_notrace()
#define xl_tracepoint_end() preempt_enable_notrace()
#else
#define xl_tracepoint_begin() ((void)0)
#define xl_tracepoint_end() ((void)0)
#endif

#define XL_TRACEPOINT_CALL(name, call)					\
static void name(void *data)						\
{									\
	struct xl_context *c;						\
									\
	xl_tracepoint_begin();						\
	c = xl_here();							\
	if (xl_enter(&c)) {						\
		call;							\
		xl_leave(c);						\
	}								\
	xl_tracepoint_end();						\
}									\
static void name(void *data)

/* Entry code of a tracepoint for a handler that needs no arguments of it. */
#define XL_TRACEPOINT(name, handler) XL_TRACEPOINT_CALL(name, handler(c))

/* The same for handler(c, table entry's data). */
#define XL_TRACEPOINT_DATA(name, handler)				\
	XL_TRACEPOINT_CALL(name, handler(c, ((const struct xl_tracepoint *)data)->data))

/* Both for a handler that claims no context: it runs with whatever preemption there is. */
#define XL_TRACEPOINT_OPEN(name, call)					\
static void name(void *data)						\
{									\
	struct xl_context *c = xl_here();				\
									\
	if (xl_open())							\
		call;							\
}									\
static void name(void *data)

#define XL_TRACEPOINT_BARE(name, handler) XL_TRACEPOINT_OPEN(name, handler(c))
#define XL_TRACEPOINT_BARE_DATA(name, handler)				\
	XL_TRACEPOINT_OPEN(name, handler(c, ((const struct xl_tracepoint *)data)->data))

XL_COLD void xl_match_tracepoint(struct tracepoint *tracepoint, void *data)
{
	const char *a = tracepoint->name, *b;
	struct xl_tracepoint *t = data;

	/* In line: one symbol less to import. */
	for (b = t->name; *a == *b; a++, b++)
		if (!*a) {
			t->tracepoint = tracepoint;
			return;
		}
}

/* Attaches one; 0 or -errno. May sleep. */
XL_COLD int xl_attach_tracepoint(struct xl_tracepoint *t)
{
	int error = -ENOENT;

	for_each_kernel_tracepoint(xl_match_tracepoint, t);
	if (t->tracepoint)
		error = tracepoint_probe_register(t->tracepoint, t->probe, t);
	if (error)
		t->tracepoint = NULL;
	return error;
}

/* Attaches all; stops with a message at the first that cannot be. May sleep. */
XL_COLD int xl_attach_tracepoints(struct xl_tracepoint *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int error = xl_attach_tracepoint(&table[i]);

		if (error && !table[i].optional) {
			xl_report("ERROR: cannot probe kernel.trace(\"%s\"): %s (%d)\n",
				  table[i].name, error == -ENOENT ? "no such tracepoint" :
				  "registration failed", error);
			return error;
		}
	}
	return 0;
}

/* Detaches what is attached and waits until no handler of it runs. May sleep. */
XL_COLD void xl_detach_tracepoints(struct xl_tracepoint *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (table[i].tracepoint)
			tracepoint_probe_unregister(table[i].tracepoint, table[i].probe, &table[i]);
		table[i].tracepoint = NULL;
	}
	tracepoint_synchronize_unregister();
}

#endif
