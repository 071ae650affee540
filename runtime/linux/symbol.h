/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of addresses. Any context, no locks. */
#ifndef XL_SYMBOL_H
#define XL_SYMBOL_H

#include <asm/ptrace.h>
#include "context.h"
#include "strfun.h"

/* The function that the probe's registers are in, without its offset; "" without registers. */
#define xl_ctx_probefunc(c, place) xl_probefunc_to(c, XL_PLACE(place))

static __maybe_unused struct xl_str xl_probefunc_to(struct xl_context *c, struct xl_place to)
{
	u32 len;

	if (!c->regs || user_mode(c->regs))
		return xl_place_end(to, 0);
	snprintf(to.s, to.size, "%ps", (void *)instruction_pointer(c->regs));
	for (len = 0; to.s[len] && to.s[len] != '+'; len++)
		;
	return xl_place_end(to, len);
}

#endif
