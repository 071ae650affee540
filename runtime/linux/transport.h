/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace files: traceN gives the records of CPU N. A read never blocks: no
 * data reads as 0 bytes. Poll tells whether there is data now and never
 * wakes a sleeper, so that handlers need not: a reader polls with a timeout.
 * (For the same reason nobody sleeps on a wait queue of the module here.)
 */
#ifndef XL_TRANSPORT_H
#define XL_TRANSPORT_H

#include <linux/moduleparam.h>
#include <linux/cred.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include "context.h"
#include "ring.h"

#define XL_RING_TOTAL (64U << 20)	/* bytes for all CPUs, unless asked for more */
#define XL_RING_MIN (64U << 10)
#define XL_RING_MAX (1U << 20)

static int xl_bufsize;		/* MiB of trace data kept for each CPU, 0 for the default */
module_param_named(_stp_bufsize, xl_bufsize, int, 0);

XL_COLD ssize_t xl_trace_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	return xl_ring_read(pde_data(file_inode(file)), to, size);
}

XL_COLD __poll_t xl_trace_poll(struct file *file, poll_table *wait)
{
	struct xl_ring *ring = pde_data(file_inode(file));

	return smp_load_acquire(&ring->head) != READ_ONCE(ring->tail) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct proc_ops xl_trace_ops = {
	.proc_read = xl_trace_read,
	.proc_poll = xl_trace_poll,
};

/* Makes a file for the user who loads the module; 0 or -errno. May sleep. */
static int __init xl_file_init(struct proc_dir_entry *directory, const char *name, umode_t mode,
			       const struct proc_ops *ops, void *data)
{
	struct proc_dir_entry *file = proc_create_data(name, mode, directory, ops, data);

	if (!file)
		return -ENOMEM;
	proc_set_user(file, current_uid(), current_gid());
	return 0;
}

/* Makes the ring and trace file of a CPU; 0 or -errno, and what is made stays. May sleep. */
static int __init xl_transport_init(struct proc_dir_entry *directory, int cpu)
{
	u32 size = xl_bufsize ? clamp(xl_bufsize, 1, 1024) << 20 :
		clamp(XL_RING_TOTAL / nr_cpu_ids, XL_RING_MIN, XL_RING_MAX);
	static char name[16] __initdata;
	struct xl_ring *ring;

	/* As much as the user asked for, or a failure that the loader reports: not the log. */
	ring = kvzalloc(sizeof(*ring) + size + sizeof(struct xl_record) + XL_RECORD_MAX,
			GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	per_cpu(xl_contexts, cpu).ring = ring;
	if (!ring)
		return -ENOMEM;
	ring->size = size;
	scnprintf(name, sizeof(name), "trace%d", cpu);
	return xl_file_init(directory, name, 0400, &xl_trace_ops, ring);
}

#endif
