/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions, as the event's probe point has them. */
#ifndef XL_SYMBOL_H
#define XL_SYMBOL_H

#include <asm/ptrace.h>
#include "context.h"
#include "strfun.h"

/* The function that the event is in; "" where none is known. */
#define xl_ctx_probefunc(c, place) xl_probefunc_to(c, XL_PLACE(place))

static __maybe_unused struct xl_str xl_probefunc_to(struct xl_context *c, struct xl_place to)
{
	const char *name = c->regs ? c->regs->function : "";

	return xl_place_end(to, xl_place_add(to, 0, name, strlen(name)));
}

#endif
