// SPDX-License-Identifier: GPL-2.0-or-later
/* The floor: a handler on sys_enter that does nothing. */
#include "sys_enter.h"

static void handler(void *data, struct pt_regs *regs, long id)
{
}

SYS_ENTER_MODULE(handler, "A tracepoint handler that does nothing");
