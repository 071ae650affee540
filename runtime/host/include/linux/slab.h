/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_SLAB_H
#define XL_HOST_SLAB_H

#include <stdlib.h>
#include <linux/types.h>

#define GFP_KERNEL 0
#define kvzalloc(size, flags) calloc(1, size)
#define kvfree(pointer) free(pointer)

#endif
