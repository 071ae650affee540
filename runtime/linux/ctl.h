/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a script says to the session: its end, and messages outside the trace.
 * Owner of the context, any context up to NMI, no locks.
 */
#ifndef XL_CTL_H
#define XL_CTL_H

#include <linux/module.h>
#include "context.h"
#include "message.h"
#include "output.h"
#include "strings.h"

#define XL_SYSTEM_MAX 384	/* bytes of a command, NUL included, that the loader takes */

/* exit() */
static inline void xl_ctl_exit(struct xl_context *c)
{
	xl_exit();
}

/* abort(): the caller leaves the handler as if an error had been raised that no catch stops. */
XL_SLOW void xl_ctl_abort(struct xl_context *c)
{
	xl_exit();
	xl_raise_uncatchable(c, xl_aborted, NULL);
}

/* A newline, unless the text ends in one. */
static inline const char *xl_newline(struct xl_str s)
{
	return s.len && s.s[s.len - 1] == '\n' ? "" : "\n";
}

/* warn() */
XL_SLOW void xl_ctl_warn(struct xl_context *c, struct xl_str s)
{
	xl_report("WARNING: %s%s", s.s, xl_newline(s));
}

/* log(): a line of trace data. */
XL_SLOW void xl_ctl_log(struct xl_context *c, struct xl_str s)
{
	xl_print_str(c, s);
	xl_print_str(c, xl_str_c(xl_newline(s)));
}

/* system(): the loader runs the command. */
XL_SLOW void xl_ctl_system(struct xl_context *c, struct xl_str s)
{
	if (s.len < XL_SYSTEM_MAX)
		xl_message(XL_MSG_SYSTEM, "%s%c", s.s, 0);
	else
		xl_report("WARNING: a command of more than %d bytes was not run\n",
			  XL_SYSTEM_MAX - 1);
}

#ifdef XL_ERROR_TEXT
/* error(): raises with a string of the script, of which it keeps a copy. */
XL_SLOW void xl_raise_str(struct xl_context *c, struct xl_str error, const char *where)
{
	memmove(c->error_text, error.s, error.len + 1);
	xl_raise(c, c->error_text, where);
}
#endif

/*
 * At a catch: takes the error, and its message if text is not NULL, which stays valid until
 * the next one is raised. False for what no catch stops.
 */
static inline bool xl_catch(struct xl_context *c, struct xl_str *text)
{
	if (c->uncatchable)
		return false;
	if (text)
		*text = xl_str_c(c->error);
	c->error = NULL;
	return true;
}

/* The name under which the module was loaded. */
static inline struct xl_str xl_ctx_module_name(struct xl_context *c)
{
	return xl_str_c(THIS_MODULE->name);
}

/* The process of -c or -x, 0 if none. */
static inline s64 xl_ctx_target(struct xl_context *c)
{
	return xl_session.target;
}

#endif
