/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checked reads of memory by address. They never wait for a page: what is not
 * in memory counts as unreadable. Any context, no locks.
 */
#ifndef XL_PEEK_H
#define XL_PEEK_H

#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include "limits.h"

/* A string is read in aligned pieces of this size, so that no piece straddles two pages. */
#define XL_PEEK_PIECE	64

/* Copies what the address points at into *to; not 0 if it cannot be read. */
#define xl_peek_kernel(to, address) \
	copy_from_kernel_nofault(to, (const void *)(unsigned long)(address), sizeof(*(to)))
#define xl_peek_user(to, address) \
	copy_from_user_nofault(to, (const void __user *)(unsigned long)(address), sizeof(*(to)))

/* The size of a buffer for a string of at most this many bytes. */
static inline size_t xl_peek_size(s64 length)
{
	return clamp_t(s64, length, 0, MAXSTRINGLEN - 1) + 1;
}

/*
 * Copies a C string, cut where size - 1 bytes are full, and ends it with NUL.
 * -EFAULT if a byte before its end cannot be read; the place is then empty.
 */
static inline int xl_peek_string(char *to, size_t size, unsigned long address, bool user)
{
	size_t done = 0, piece;
	long failed;

	while (done < size - 1) {
		piece = min(size - 1 - done, XL_PEEK_PIECE - address % XL_PEEK_PIECE);
		if (user)
			failed = copy_from_user_nofault(to + done, (const void __user *)address,
							piece);
		else
			failed = copy_from_kernel_nofault(to + done, (const void *)address, piece);
		if (failed) {
			*to = 0;
			return -EFAULT;
		}
		if (memchr(to + done, 0, piece))
			return 0;
		done += piece;
		address += piece;
	}
	to[done] = 0;
	return 0;
}

static inline int xl_peek_kernel_string(char *to, size_t size, u64 address)
{
	return xl_peek_string(to, size, address, false);
}

static inline int xl_peek_user_string(char *to, size_t size, u64 address)
{
	return xl_peek_string(to, size, address, true);
}

#endif
