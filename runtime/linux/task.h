/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the current task, in the initial namespaces. Any context, no locks. */
#ifndef XL_TASK_H
#define XL_TASK_H

#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>
#include "context.h"
#include "strings.h"

static __always_inline s64 xl_ctx_pid(struct xl_context *c)
{
	return current->tgid;
}

static __always_inline s64 xl_ctx_tid(struct xl_context *c)
{
	return current->pid;
}

/* Another task may rewrite the name meanwhile: it is copied first. */
static __always_inline struct xl_name xl_ctx_execname(struct xl_context *c)
{
	return xl_name_of(current->comm);
}

static inline s64 xl_ctx_ppid(struct xl_context *c)
{
	s64 pid;

	rcu_read_lock();
	pid = rcu_dereference(current->real_parent)->tgid;
	rcu_read_unlock();
	return pid;
}

static inline struct xl_name xl_ctx_pexecname(struct xl_context *c)
{
	struct xl_name name;

	rcu_read_lock();
	name = xl_name_of(rcu_dereference(current->real_parent)->comm);
	rcu_read_unlock();
	return name;
}

static inline s64 xl_ctx_pgrp(struct xl_context *c)
{
	return task_pgrp_nr_ns(current, &init_pid_ns);
}

static inline s64 xl_ctx_sid(struct xl_context *c)
{
	return task_session_nr_ns(current, &init_pid_ns);
}

static inline s64 xl_ctx_uid(struct xl_context *c)
{
	return from_kuid_munged(&init_user_ns, current_uid());
}

static inline s64 xl_ctx_euid(struct xl_context *c)
{
	return from_kuid_munged(&init_user_ns, current_euid());
}

static inline s64 xl_ctx_gid(struct xl_context *c)
{
	return from_kgid_munged(&init_user_ns, current_gid());
}

static inline s64 xl_ctx_egid(struct xl_context *c)
{
	return from_kgid_munged(&init_user_ns, current_egid());
}

/* The address of the task's structure. */
static __always_inline s64 xl_ctx_task(struct xl_context *c)
{
	return (long)current;
}

#endif
