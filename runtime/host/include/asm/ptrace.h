/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of the registers, what the function is called that they are in. */
#ifndef XL_HOST_PTRACE_H
#define XL_HOST_PTRACE_H

struct pt_regs {
	const char *function;
};

#endif
