/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conversions of printf with flags, width and precision, one function for each
 * kind. Formats are taken apart at translation; nothing is parsed here.
 *
 * Width and precision are run-time values: a negative width means left-justified,
 * a negative precision none, as in C; both are cut at XL_FIELD_MAX.
 * Owner of the context, any context up to NMI, no locks.
 */
#ifndef XL_FORMAT_H
#define XL_FORMAT_H

#include <linux/uaccess.h>
#include "output.h"

#define XL_FIELD_MAX 65536

/* Kinds of number, and flags. */
#define XL_DECIMAL	0
#define XL_UNSIGNED	1
#define XL_HEX		2
#define XL_UPPER_HEX	3
#define XL_OCTAL	4
#define XL_POINTER	5
#define XL_KIND		7
#define XL_LEFT		8	/* - */
#define XL_ZERO		16	/* 0 */
#define XL_PLUS		32	/* + */
#define XL_SPACE	64	/* blank */
#define XL_ALTERNATE	128	/* # */

/* Appends n times the same byte, if n is positive. */
XL_SLOW void xl_print_fill(struct xl_context *c, char byte, s64 n)
{
	u32 bytes = clamp_t(s64, n, 0, XL_FIELD_MAX);
	char *p = bytes ? xl_print_room(c, &bytes) : NULL;

	if (p)
		memset(p, byte, bytes);
}

/* Appends bytes in a field of a width. */
XL_SLOW void xl_print_field(struct xl_context *c, const char *s, u32 n, u32 flags, s64 width)
{
	if (width < 0) {
		flags |= XL_LEFT;
		width = -max_t(s64, width, -XL_FIELD_MAX);
	}
	if (!(flags & XL_LEFT))
		xl_print_fill(c, ' ', width - n);
	xl_print_bytes(c, s, n);
	if (flags & XL_LEFT)
		xl_print_fill(c, ' ', width - n);
}

/* %s */
XL_SLOW void xl_print_string(struct xl_context *c, struct xl_str s, u32 flags, s64 width,
			     s64 precision)
{
	if (precision >= 0 && precision < s.len)
		s.len = precision;
	xl_print_field(c, s.s, s.len, flags, width);
}

/* Digits of v in a base, written backwards from end; the first. */
static inline char *xl_digits(char *end, u64 v, u32 base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	for (; v; v /= base)
		*--end = digits[v % base];
	return end;
}

/* %d %u %x %X %o %p */
XL_SLOW void xl_print_number(struct xl_context *c, s64 v, u32 flags, s64 width, s64 precision)
{
	u32 kind = flags & XL_KIND, base = 16, prefix_length, zeros, length;
	char buffer[24], *end = buffer + sizeof(buffer), *p;
	const char *prefix = "";
	u64 u = v;

	if (kind == XL_DECIMAL) {
		prefix = v < 0 ? "-" : flags & XL_PLUS ? "+" : flags & XL_SPACE ? " " : "";
		u = v < 0 ? 0 - u : u;
	} else if (kind == XL_POINTER || (flags & XL_ALTERNATE && kind != XL_UNSIGNED)) {
		prefix = kind == XL_OCTAL ? "0" : kind == XL_UPPER_HEX ? "0X" : "0x";
	}
	if (kind == XL_DECIMAL || kind == XL_UNSIGNED)
		base = 10;
	else if (kind == XL_OCTAL)
		base = 8;
	p = xl_digits(end, u, base, kind == XL_UPPER_HEX);
	length = end - p;
	prefix_length = strlen(prefix);

	if (width < 0) {
		flags |= XL_LEFT;
		width = -max_t(s64, width, -XL_FIELD_MAX);
	}
	width = min_t(s64, width, XL_FIELD_MAX);
	/* As in C: a precision gives the number of digits and disables the flag 0. */
	if (precision >= 0)
		zeros = max_t(s64, min_t(s64, precision, XL_FIELD_MAX) - length, 0);
	else if (flags & XL_ZERO && !(flags & XL_LEFT))
		zeros = max_t(s64, width - prefix_length - length, length == 0);
	else
		zeros = length == 0;
	width -= prefix_length + zeros + length;

	if (!(flags & XL_LEFT))
		xl_print_fill(c, ' ', width);
	xl_print_bytes(c, prefix, prefix_length);
	xl_print_fill(c, '0', zeros);
	xl_print_bytes(c, p, length);
	if (flags & XL_LEFT)
		xl_print_fill(c, ' ', width);
}

/* A byte as C would write it in a literal, at p; its end. 4 bytes at most. */
static inline char *xl_escape(char *p, u8 byte, const char *quotes)
{
	static const char letters[] = "abtnvfr";	/* bytes 7 to 13 */

	if (byte >= 7 && byte <= 13) {
		*p++ = '\\';
		*p++ = letters[byte - 7];
	} else if (byte < 32 || byte > 126) {
		*p++ = '\\';
		*p++ = '0' + (byte >> 6);
		*p++ = '0' + (byte >> 3 & 7);
		*p++ = '0' + (byte & 7);
	} else {
		if (byte && strchr(quotes, byte))
			*p++ = '\\';
		*p++ = byte;
	}
	return p;
}

/* %c; with # unprintable bytes are escaped. */
XL_SLOW void xl_print_char(struct xl_context *c, s64 v, u32 flags, s64 width)
{
	char text[4] = { v }, *end = text + 1;

	if (flags & XL_ALTERNATE)
		end = xl_escape(text, v, "");
	xl_print_field(c, text, end - text, flags, width);
}

/* %b: width is the number of bytes, 1, 2, 4 or 8; what else is given means 8. */
XL_SLOW void xl_print_binary(struct xl_context *c, s64 v, s64 width)
{
	xl_print_bytes(c, (const char *)&v, width == 1 || width == 2 || width == 4 ? width : 8);
}

/*
 * %m, and with XL_HEX %M: precision bytes (without one: 1) of kernel memory, with # of
 * user memory. Raises if they cannot be read; a fault is not taken.
 */
XL_SLOW void xl_print_memory(struct xl_context *c, s64 address, u32 flags, s64 width,
			     s64 precision, const char *where)
{
	u32 bytes = precision < 0 ? 1 : min_t(s64, precision, XL_FIELD_MAX), n;
	u32 each = (flags & XL_KIND) == XL_HEX ? 2 : 1, i;
	char *p;
	long error;

	if (width < 0) {
		flags |= XL_LEFT;
		width = -max_t(s64, width, -XL_FIELD_MAX);
	}
	if (!(flags & XL_LEFT))
		xl_print_fill(c, ' ', width - bytes * each);
	n = bytes * each;
	p = bytes ? xl_print_room(c, &n) : NULL;
	if (p) {
		/* In a string's place there may be room for half a byte more. */
		bytes = n / each;
		c->output.cursor -= n % each;
		n = bytes * each;
		/* Bytes are read into the second half of the room and spread from there. */
		if (flags & XL_ALTERNATE)
			error = copy_from_user_nofault(p + n - bytes, (const void __user *)address,
						       bytes);
		else
			error = copy_from_kernel_nofault(p + n - bytes, (const void *)address,
							 bytes);
		if (error) {
			c->output.cursor = p;
			xl_raise(c, "memory cannot be read", where);
			return;
		}
		for (i = 0; each == 2 && i < bytes; i++) {
			u8 byte = p[n - bytes + i];

			p[2 * i] = "0123456789abcdef"[byte >> 4];
			p[2 * i + 1] = "0123456789abcdef"[byte & 15];
		}
	}
	if (flags & XL_LEFT)
		xl_print_fill(c, ' ', width - bytes * each);
}

#endif
