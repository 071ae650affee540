/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The current task: what an event says it is, else this process. */
#ifndef XL_HOST_SCHED_H
#define XL_HOST_SCHED_H

#include <linux/types.h>

#define TASK_COMM_LEN 16
#define MAX_RT_PRIO 100
#define NICE_ZERO 120
#define PRIO_TO_NICE(priority) ((priority) - NICE_ZERO)

typedef struct {
	uid_t val;
} kuid_t;

typedef struct {
	gid_t val;
} kgid_t;

struct cred {
	kuid_t uid, euid;
	kgid_t gid, egid;
};

struct task_struct {
	pid_t tgid, pid;
	char comm[TASK_COMM_LEN] __aligned(8);
	struct task_struct *real_parent;
	const struct cred *real_cred;
	struct cred credentials;
	pid_t group, session;
	unsigned int __state;
	int prio, static_prio;
	u64 start_time;
};

static __thread struct task_struct *xl_current;

#define current xl_current
#define current_uid() (current->credentials.uid)
#define current_euid() (current->credentials.euid)
#define current_gid() (current->credentials.gid)
#define current_egid() (current->credentials.egid)

#define init_user_ns 0
#define init_pid_ns (*(int *)NULL)
#define __kuid_val(id) ((id).val)
#define __kgid_val(id) ((id).val)
#define from_kuid_munged(space, id) __kuid_val(id)
#define from_kgid_munged(space, id) __kgid_val(id)
#define task_pgrp_nr_ns(task, space) ((task)->group)
#define task_session_nr_ns(task, space) ((task)->session)

/* The tasks that can be found by number are the current one and its parent. */
enum { PIDTYPE_PID };
#define find_pid_ns(number, space) (number)
#define pid_task(number, type) xl_task_of(number)

static inline __maybe_unused struct task_struct *xl_task_of(s64 number)
{
	if (current->pid == number)
		return current;
	return current->real_parent->pid == number ? current->real_parent : NULL;
}

/* Tasks stay as long as the program. */
#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)
#define rcu_dereference(pointer) (pointer)

#endif
