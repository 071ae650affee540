// SPDX-License-Identifier: GPL-2.0-or-later
/* The floor that costs are measured from: a tracepoint handler that does nothing. */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static struct tracepoint *sys_enter;

static void handler(void *data)
{
}

static void match(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "sys_enter"))
		sys_enter = tracepoint;
}

static int __init empty_init(void)
{
	for_each_kernel_tracepoint(match, NULL);
	return sys_enter ? tracepoint_probe_register(sys_enter, handler, NULL) : -ENOENT;
}

static void __exit empty_exit(void)
{
	tracepoint_probe_unregister(sys_enter, handler, NULL);
	tracepoint_synchronize_unregister();
}

module_init(empty_init);
module_exit(empty_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("An empty tracepoint handler");
