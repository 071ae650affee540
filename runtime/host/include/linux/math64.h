/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_MATH64_H
#define XL_HOST_MATH64_H

#include <linux/types.h>

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	return (unsigned __int128)a * b / c;
}

#endif
