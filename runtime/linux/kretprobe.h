/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes at the return of kernel functions. */
#ifndef XL_KRETPROBE_H
#define XL_KRETPROBE_H

#include <linux/version.h>
#include "kprobe.h"

struct xl_kretprobe {
	struct kretprobe rp;		/* kp.symbol_name, handler of XL_KRETPROBE(), maxactive */
	const void *data;		/* for the _DATA form */
	bool optional;
	bool attached;
};

/* Return handlers are called with preemption off. */
#define XL_KRETPROBE_CALL(name, call)							\
static int name(struct kretprobe_instance *instance, struct pt_regs *regs)		\
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
static int name(struct kretprobe_instance *instance, struct pt_regs *regs)

/* Entry code for a handler, and the same for handler(c, table entry's data). */
#define XL_KRETPROBE(name, handler) XL_KRETPROBE_CALL(name, handler(c))
#define XL_KRETPROBE_DATA(name, handler)						\
	XL_KRETPROBE_CALL(name, {							\
		struct kretprobe *probe_ = get_kretprobe(instance);			\
											\
		/* NULL once it is being unregistered. */				\
		if (likely(probe_))							\
			handler(c, container_of(probe_, struct xl_kretprobe, rp)->data); \
	})

/* Attaches all; stops with a message at the first that cannot be. May sleep. */
XL_COLD int xl_attach_kretprobes(struct xl_kretprobe *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		int error = register_kretprobe(&table[i].rp);

		table[i].attached = !error;
		if (error && !table[i].optional) {
			xl_report("ERROR: cannot probe kprobe.function(\"%s\").return: %s (%d)\n",
				  table[i].rp.kp.symbol_name, xl_kprobe_error(error), error);
			return error;
		}
	}
	return 0;
}

/* Detaches what is attached and waits until no handler of it runs. May sleep. */
XL_COLD void xl_detach_kretprobes(struct xl_kretprobe *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (table[i].attached) {
			unregister_kretprobe(&table[i].rp);
			if (table[i].rp.nmissed)
				xl_report("WARNING: %d returns of %s missed (maxactive)\n",
					  table[i].rp.nmissed, table[i].rp.kp.symbol_name);
		}
		table[i].attached = false;
	}
}

#endif
