/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_STRING_H
#define XL_HOST_STRING_H

#include <errno.h>
#include <string.h>
#include <linux/types.h>

/* Copies what fits, with a NUL; the length, or -E2BIG if it was cut. */
static inline __maybe_unused ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size);

	if (!size)
		return -E2BIG;
	if (length == size) {
		memcpy(to, from, size - 1);
		to[size - 1] = 0;
		return -E2BIG;
	}
	memcpy(to, from, length + 1);
	return length;
}

#endif
