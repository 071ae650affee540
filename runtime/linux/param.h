/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Globals of a script as module parameters, set when the module is loaded. */
#ifndef XL_PARAM_H
#define XL_PARAM_H

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include "strings.h"

static __maybe_unused int xl_param_set_long(const char *text, const struct kernel_param *param)
{
	return kstrtos64(text, 0, param->arg);
}

static const struct kernel_param_ops xl_param_long __maybe_unused = {
	.set = xl_param_set_long,
};

#define XL_PARAM_LONG(name, variable) module_param_cb(name, &xl_param_long, &variable, 0)

struct xl_param_place {
	u32 *len;
	char *s;
	u32 size;
};

static __maybe_unused int xl_param_set_string(const char *text, const struct kernel_param *param)
{
	const struct xl_param_place *place = param->arg;

	xl_set_to(place->len, place->s, place->size, xl_str_c(text));
	return 0;
}

static const struct kernel_param_ops xl_param_string __maybe_unused = {
	.set = xl_param_set_string,
};

#define XL_PARAM_STRING(name, variable)							\
static struct xl_param_place variable##_place = {					\
	&variable.len, variable.s, sizeof(variable.s)					\
};											\
module_param_cb(name, &xl_param_string, &variable##_place, 0)

static __maybe_unused int xl_param_set_name(const char *text, const struct kernel_param *param)
{
	*(struct xl_name *)param->arg = xl_name(xl_str_c(text));
	return 0;
}

static const struct kernel_param_ops xl_param_name __maybe_unused = {
	.set = xl_param_set_name,
};

#define XL_PARAM_NAME(name, variable) module_param_cb(name, &xl_param_name, &variable, 0)

#endif
