/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_RANDOM_H
#define XL_HOST_RANDOM_H

#include <sys/random.h>
#include <linux/types.h>

static inline u32 get_random_u32(void)
{
	u32 n = 0;

	while (getrandom(&n, sizeof(n), 0) != sizeof(n))
		;
	return n;
}

#endif
