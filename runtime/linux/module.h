/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module itself: to be included last. */
#ifndef XL_MODULE_H
#define XL_MODULE_H

#include <linux/init.h>
#include <linux/module.h>
#include <linux/namei.h>
#include "control.h"
#include "phases.h"
#include "transport.h"

static struct proc_dir_entry *xl_directory;

/*
 * Makes the module's directory, in one that modules of this kind share and none
 * removes. Making the shared one twice would warn in the log, so a lock that all
 * of them can find is held from the look to the making: that of an inode which
 * nothing else locks.
 */
static int __init xl_directory_init(void)
{
	static char name[16 + MODULE_NAME_LEN] __initdata;
	static struct path lock __initdata, shared __initdata;
	int error = kern_path("/proc/modules", LOOKUP_FOLLOW, &lock);

	if (error)
		return error;
	inode_lock(d_inode(lock.dentry));
	if (!kern_path("/proc/systemtap", LOOKUP_FOLLOW, &shared))
		path_put(&shared);
	else if (!proc_mkdir("systemtap", NULL))
		error = -ENOMEM;
	inode_unlock(d_inode(lock.dentry));
	path_put(&lock);
	if (error)
		return error;
	scnprintf(name, sizeof(name), "systemtap/%s", THIS_MODULE->name);
	xl_directory = proc_mkdir(name, NULL);
	return xl_directory ? 0 : -ENOMEM;
}

/* Undoes all of xl_module_init(), whatever of it was done. */
XL_COLD void xl_module_free(void)
{
	int cpu;

	if (xl_directory)
		proc_remove(xl_directory);
	xl_each_cpu(cpu) {
		kvfree(per_cpu(xl_contexts, cpu).ring);
		xl_memory_free(&per_cpu(xl_contexts, cpu));
	}
	xl_free();
}

static int __init xl_module_init(void)
{
	int error = xl_directory_init(), cpu;

	xl_each_cpu(cpu)
		error = error ?: xl_memory_init(&per_cpu(xl_contexts, cpu)) ?:
			xl_transport_init(xl_directory, cpu);
	error = error ?: xl_gathered_init();
	/* Before there is a file that START can be written to. */
	if (!error)
		xl_setup();
	error = error ?: xl_file_init(xl_directory, ".cmd", 0600, &xl_control_ops, NULL);
	if (error) {
		xl_module_free();
		return error;
	}
	xl_reply(XL_REPLY_TRANSPORT);
	return 0;
}

static void __exit xl_module_exit(void)
{
	/* The control file is closed, or it would hold the module. */
	xl_session_stop();
	xl_module_free();
}

module_init(xl_module_init);
module_exit(xl_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A SystemTap script translated by xlate");

#endif
