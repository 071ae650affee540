/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's names of types. */
#ifndef XL_HOST_TYPES_H
#define XL_HOST_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/compiler.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned short umode_t;

#define U32_MAX	UINT32_MAX
#define S32_MAX	INT32_MAX
#define S32_MIN	INT32_MIN
#define U64_MAX	((u64)-1)
#define S64_MAX	((s64)(U64_MAX >> 1))
#define S64_MIN	((s64)(-S64_MAX - 1))

#endif
