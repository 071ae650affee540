/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program in the role of the module. */
#ifndef XL_HOST_MODULE_H
#define XL_HOST_MODULE_H

#include <linux/moduleparam.h>

#ifndef XL_PROGRAM_NAME
#define XL_PROGRAM_NAME "xlate_host"
#endif

static const struct {
	const char *name;
} xl_this_module = { XL_PROGRAM_NAME };

#define THIS_MODULE (&xl_this_module)

#endif
