/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes of functions: hit by what the event file says. There is a function of every name. */
#ifndef XL_HOST_KPROBES_H
#define XL_HOST_KPROBES_H

#include <asm/ptrace.h>
#include <linux/types.h>
#include "points.h"

struct kprobe {
	const char *symbol_name;
	int (*pre_handler)(struct kprobe *kp, struct pt_regs *regs);
	struct xl_point point;
};

struct kretprobe;

struct kretprobe_instance {
	struct kretprobe *rp;
};

struct kretprobe {
	struct kprobe kp;
	int (*handler)(struct kretprobe_instance *instance, struct pt_regs *regs);
	int maxactive;
	int nmissed;
};

static inline void xl_kprobe_fire(void *data)
{
	struct kprobe *kp = data;
	struct pt_regs regs = { .function = kp->symbol_name };

	kp->pre_handler(kp, &regs);
}

static inline void xl_kretprobe_fire(void *data)
{
	struct kretprobe *rp = data;
	struct kretprobe_instance instance = { rp };
	struct pt_regs regs = { .function = "" };	/* where it returns to is not known */

	rp->handler(&instance, &regs);
}

static inline int register_kprobe(struct kprobe *kp)
{
	return xl_point_add(&kp->point, XL_POINT_FUNCTION, kp->symbol_name, xl_kprobe_fire, kp);
}

static inline int register_kretprobe(struct kretprobe *rp)
{
	return xl_point_add(&rp->kp.point, XL_POINT_RETURN, rp->kp.symbol_name, xl_kretprobe_fire,
			    rp);
}

#define unregister_kprobe(kp) ((void)(kp))	/* when no thread fires it any more */
#define unregister_kretprobe(rp) ((void)(rp))
#define get_kretprobe(instance) ((instance)->rp)

#endif
