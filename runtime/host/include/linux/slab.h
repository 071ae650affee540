/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_SLAB_H
#define XL_HOST_SLAB_H

#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

#define GFP_KERNEL 0
#define __GFP_NOWARN 0
#define kvzalloc(size, flags) xl_zeroed(size)
#define kvcalloc(count, size, flags) calloc(count, size)
#define kvfree(pointer) free(pointer)

/* Zeroes, aligned to a line as the kernel's allocators do for whole lines. */
static inline void *xl_zeroed(size_t size)
{
	void *memory;

	if (posix_memalign(&memory, 64, size))
		return NULL;
	return memset(memory, 0, size);
}

#endif
