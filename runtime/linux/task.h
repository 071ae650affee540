/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the current task. Any context, no locks. */
#ifndef XL_TASK_H
#define XL_TASK_H

#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include "context.h"
#include "strings.h"

static __always_inline s64 xl_pid(void)
{
	return current->tgid;
}

static __always_inline s64 xl_tid(void)
{
	return current->pid;
}

/* Another task may rewrite the name meanwhile: it is copied first. */
static __always_inline struct xl_name xl_execname(void)
{
	return xl_name_of(current->comm);
}

static inline s64 xl_ppid(void)
{
	s64 pid;

	rcu_read_lock();
	pid = rcu_dereference(current->real_parent)->tgid;
	rcu_read_unlock();
	return pid;
}

static inline struct xl_name xl_pexecname(void)
{
	struct xl_name name;

	rcu_read_lock();
	name = xl_name_of(rcu_dereference(current->real_parent)->comm);
	rcu_read_unlock();
	return name;
}

static inline s64 xl_pgrp(void)
{
	return task_pgrp_nr_ns(current, &init_pid_ns);
}

static inline s64 xl_sid(void)
{
	return task_session_nr_ns(current, &init_pid_ns);
}

static inline s64 xl_uid(void)
{
	return from_kuid_munged(&init_user_ns, current_uid());
}

static inline s64 xl_euid(void)
{
	return from_kuid_munged(&init_user_ns, current_euid());
}

static inline s64 xl_gid(void)
{
	return from_kgid_munged(&init_user_ns, current_gid());
}

static inline s64 xl_egid(void)
{
	return from_kgid_munged(&init_user_ns, current_egid());
}

#endif
