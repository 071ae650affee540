/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A module with one handler on the tracepoint sys_enter, found by name. */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static struct tracepoint *sys_enter;

static void match(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "sys_enter"))
		sys_enter = tracepoint;
}

#define SYS_ENTER_MODULE(handler, description)					\
static int __init floor_init(void)						\
{										\
	for_each_kernel_tracepoint(match, NULL);				\
	return sys_enter ? tracepoint_probe_register(sys_enter, handler, NULL)	\
			 : -ENOENT;						\
}										\
										\
static void __exit floor_exit(void)						\
{										\
	tracepoint_probe_unregister(sys_enter, handler, NULL);			\
	tracepoint_synchronize_unregister();					\
}										\
										\
module_init(floor_init);							\
module_exit(floor_exit);							\
MODULE_LICENSE("GPL");								\
MODULE_DESCRIPTION(description)
