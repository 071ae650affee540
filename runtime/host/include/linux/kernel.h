/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Odds and ends of the kernel, by the C library. */
#ifndef XL_HOST_KERNEL_H
#define XL_HOST_KERNEL_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/string.h>

#define PAGE_SIZE sysconf(_SC_PAGESIZE)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(pointer, type, member)					\
	((type *)((char *)(pointer) - offsetof(type, member)))

/* Checked as printf's arguments are, and not printed. */
static inline __printf(1, 2) __maybe_unused int no_printk(const char *format, ...)
{
	return 0;
}

/* As vsnprintf(), but gives the bytes written without the NUL. */
static inline __printf(3, 0) int vscnprintf(char *to, size_t size, const char *format,
					    va_list args)
{
	int length = vsnprintf(to, size, format, args);

	if (!size || length < 0)
		return 0;
	return (size_t)length < size ? length : (int)size - 1;
}

/* Unchecked: xl_message_words() passes words for whatever its format asks for. */
static inline __maybe_unused int scnprintf(char *to, size_t size, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	length = vscnprintf(to, size, format, args);
#pragma GCC diagnostic pop
	va_end(args);
	return length;
}

/* 0, or -EINVAL or -ERANGE if the text is not a number that fits. */
static inline __maybe_unused int kstrtos64(const char *text, unsigned int base, s64 *to)
{
	char *end;
	s64 value;

	errno = 0;
	value = strtoll(text, &end, base);
	if (end == text || *end)
		return -EINVAL;
	if (errno)
		return -errno;
	*to = value;
	return 0;
}

/* There is no trace of the kernel's: goes to standard error. */
#define trace_printk(format, ...) fprintf(stderr, format, ##__VA_ARGS__)

#endif
