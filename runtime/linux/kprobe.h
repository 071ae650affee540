/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes at the entry of kernel functions. */
#ifndef XL_KPROBE_H
#define XL_KPROBE_H

#include <linux/kprobes.h>
#include "context.h"

struct xl_kprobe {
	struct kprobe kp;		/* symbol_name, and pre_handler of XL_KPROBE() */
	const void *data;		/* for the _DATA form */
	bool optional;
	bool attached;
};

/* Kprobes call their handlers with preemption off. */
#define XL_KPROBE_CALL(name, call)							\
static int name(struct kprobe *kp, struct pt_regs *regs)				\
{											\
	struct xl_context *c = xl_here();						\
											\
	if (xl_enter(&c)) {								\
		c->regs = regs;								\
		call;									\
		c->regs = NULL;								\
		xl_leave(c);								\
	}										\
	return 0;									\
}											\
static int name(struct kprobe *kp, struct pt_regs *regs)

/* Entry code for a handler, and the same for handler(c, table entry's data). */
#define XL_KPROBE(name, handler) XL_KPROBE_CALL(name, handler(c))
#define XL_KPROBE_DATA(name, handler)							\
	XL_KPROBE_CALL(name, handler(c, container_of(kp, struct xl_kprobe, kp)->data))

/* Both for a handler that claims no context. */
#define XL_KPROBE_OPEN(name, call)							\
static int name(struct kprobe *kp, struct pt_regs *regs)				\
{											\
	struct xl_context *c = xl_here();						\
											\
	if (xl_open())									\
		call;									\
	return 0;									\
}											\
static int name(struct kprobe *kp, struct pt_regs *regs)

#define XL_KPROBE_BARE(name, handler) XL_KPROBE_OPEN(name, handler(c))
#define XL_KPROBE_BARE_DATA(name, handler)						\
	XL_KPROBE_OPEN(name, handler(c, container_of(kp, struct xl_kprobe, kp)->data))

/* Why a function cannot be probed. */
XL_COLD const char *xl_kprobe_error(int error)
{
	switch (error) {
	case -ENOENT:
		return "no such function";
	case -EADDRNOTAVAIL:
		return "more than one function of that name";
	case -EINVAL:
		return "this function may not be probed";
	default:
		return "registration failed";
	}
}

/* Attaches all; stops with a message at the first that cannot be. May sleep. */
XL_COLD int xl_attach_kprobes(struct xl_kprobe *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int error = register_kprobe(&table[i].kp);

		table[i].attached = !error;
		if (error && !table[i].optional) {
			xl_report("ERROR: cannot probe kprobe.function(\"%s\"): %s (%d)\n",
				  table[i].kp.symbol_name, xl_kprobe_error(error), error);
			return error;
		}
	}
	return 0;
}

/* Detaches what is attached and waits until no handler of it runs. May sleep. */
XL_COLD void xl_detach_kprobes(struct xl_kprobe *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (table[i].attached)
			unregister_kprobe(&table[i].kp);
		table[i].attached = false;
	}
}

#endif
