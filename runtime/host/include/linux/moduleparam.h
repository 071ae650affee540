/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters of the module: words NAME=VALUE of the program. */
#ifndef XL_HOST_MODULEPARAM_H
#define XL_HOST_MODULEPARAM_H

#include <linux/types.h>

struct kernel_param {
	void *arg;
};

struct kernel_param_ops {
	int (*set)(const char *text, const struct kernel_param *param);
};

struct xl_parameter {
	struct xl_parameter *next;
	const char *name;
	const struct kernel_param_ops *ops;
	struct kernel_param param;
};

static struct xl_parameter *xl_parameters;

/* Before main(). */
#define module_param_cb(name_, ops_, arg_, mode)					\
static __attribute__((__constructor__)) void xl_parameter_##name_(void)			\
{											\
	static struct xl_parameter parameter;						\
											\
	parameter = (struct xl_parameter){ xl_parameters, #name_, ops_, { (void *)(arg_) } }; \
	xl_parameters = &parameter;							\
}											\
static void xl_parameter_##name_(void)

#endif
