/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_FS_H
#define XL_HOST_FS_H

#include <string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

static inline ssize_t simple_read_from_buffer(void __user *to, size_t count, loff_t *at,
					      const void *from, size_t available)
{
	if ((size_t)*at >= available)
		return 0;
	if (count > available - *at)
		count = available - *at;
	memcpy(to, (const char *)from + *at, count);
	*at += count;
	return count;
}

#endif
