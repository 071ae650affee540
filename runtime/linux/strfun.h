/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * String functions of the script library. A result that is a string goes to a
 * place, which must not be that of an argument, and is cut at its size.
 *
 * Any context, no locks; bounded by the product of two string lengths.
 */
#ifndef XL_STRFUN_H
#define XL_STRFUN_H

#include <linux/ctype.h>
#include "context.h"
#include "format.h"
#include "strings.h"

/* A place of any size. */
struct xl_place {
	u32 *len;
	char *s;
	u32 size;
};

#define XL_PLACE(place) ((struct xl_place){ &(place)->len, (place)->s, sizeof((place)->s) })

/* Ends a string of len bytes that was written to a place. */
static inline struct xl_str xl_place_end(struct xl_place to, u32 len)
{
	*to.len = len;
	to.s[len] = 0;
	return (struct xl_str){ to.s, len };
}

/* Adds bytes to a place that has len so far; the new length. */
static inline u32 xl_place_add(struct xl_place to, u32 len, const char *s, u32 n)
{
	n = min(n, to.size - 1 - len);
	memcpy(to.s + len, s, n);
	return len + n;
}

#define xl_str_concat(c, place, a, b) xl_concat(place, a, b)

static __always_inline s64 xl_str_len(struct xl_context *c, struct xl_str s)
{
	return s.len;
}

/* length bytes from start, or as many as there are; empty if start is outside. */
#define xl_str_sub(c, place, s, start, length) xl_str_sub_to(XL_PLACE(place), s, start, length)

static __maybe_unused struct xl_str xl_str_sub_to(struct xl_place to, struct xl_str s, s64 start,
						  s64 length)
{
	if (start < 0 || start >= s.len || length <= 0)
		return xl_place_end(to, 0);
	length = min_t(s64, length, s.len - start);
	return xl_place_end(to, xl_place_add(to, 0, s.s + start, length));
}

/* Where b first stands in a at or behind from; a.len if it does not. */
static __maybe_unused u32 xl_str_search(struct xl_str a, struct xl_str b, u32 from)
{
	for (; from + b.len <= a.len; from++)
		if (!memcmp(a.s + from, b.s, b.len))
			return from;
	return a.len;
}

/* Whether b stands in a. */
static inline s64 xl_str_find(struct xl_context *c, struct xl_str a, struct xl_str b)
{
	return !b.len || xl_str_search(a, b, 0) < a.len;
}

/* The byte at a position; raises if that is outside. */
static inline s64 xl_str_at(struct xl_context *c, struct xl_str s, s64 at, const char *where)
{
	if (likely(at >= 0 && at < s.len))
		return (u8)s.s[at];
	xl_raise(c, "string index out of bounds", where);
	return 0;
}

/* The byte at a position that is inside. */
static inline s64 xl_str_byte(struct xl_context *c, struct xl_str s, s64 at)
{
	return (u8)s.s[at];
}

/* s with each old replaced, from left to right. */
#define xl_str_replace(c, place, s, old, new) xl_str_replace_to(XL_PLACE(place), s, old, new)

static __maybe_unused struct xl_str xl_str_replace_to(struct xl_place to, struct xl_str s,
						      struct xl_str old, struct xl_str new)
{
	u32 from = 0, len = 0, found;

	while (old.len && (found = xl_str_search(s, old, from)) < s.len) {
		len = xl_place_add(to, len, s.s + from, found - from);
		len = xl_place_add(to, len, new.s, new.len);
		from = found + old.len;
	}
	return xl_place_end(to, xl_place_add(to, len, s.s + from, s.len - from));
}

/*
 * The number that the text starts with, after white space, in base 2 to 36; 0 takes
 * it from the prefix as in C, 16 allows a prefix. 0 if there is none; wraps.
 */
static __maybe_unused s64 xl_str_to_long(struct xl_context *c, struct xl_str text, s64 base)
{
	const char *s = text.s;
	bool minus = false;
	u64 v = 0;

	while (isspace(*s))
		s++;
	if (*s == '-' || *s == '+')
		minus = *s++ == '-';
	if ((!base || base == 16) && *s == '0' && (s[1] | 32) == 'x' && isxdigit(s[2])) {
		s += 2;
		base = 16;
	} else if (!base) {
		base = *s == '0' ? 8 : 10;
	}
	if (base < 2 || base > 36)
		return 0;
	for (; isalnum(*s) && (u8)*s < 128; s++) {
		u32 digit = isdigit(*s) ? *s - '0' : (*s | 32) - 'a' + 10;

		if (digit >= base)
			break;
		v = v * base + digit;
	}
	return minus ? 0 - v : v;
}

/* Quotes, backslashes and unprintable bytes as escapes. */
#define xl_str_text(c, place, s) xl_str_text_to(XL_PLACE(place), s)

static __maybe_unused struct xl_str xl_str_text_to(struct xl_place to, struct xl_str s)
{
	char text[4], *end;
	u32 i, len = 0;

	for (i = 0; i < s.len; i++) {
		end = xl_escape(text, s.s[i], "\"\\");
		if (len + (end - text) >= to.size)
			break;
		len = xl_place_add(to, len, text, end - text);
	}
	return xl_place_end(to, len);
}

#ifdef XL_TOKENIZE
/*
 * The next token of input that is not empty, split at any byte of delimiters; an empty
 * input goes on with what is left, which each CPU keeps for itself.
 */
#define xl_str_tokenize(c, place, input, delimiters)					\
	xl_str_tokenize_to(c, XL_PLACE(place), input, delimiters)

static __maybe_unused struct xl_str xl_str_tokenize_to(struct xl_context *c, struct xl_place to,
						       struct xl_str input,
						       struct xl_str delimiters)
{
	struct xl_tokens *t = c->tokens;
	u32 start;

	if (input.len) {
		xl_set(&t->text, input);
		t->at = 0;
	}
	while (t->at < t->text.len && strchr(delimiters.s, t->text.s[t->at]))
		t->at++;
	start = t->at;
	while (t->at < t->text.len && !strchr(delimiters.s, t->text.s[t->at]))
		t->at++;
	return xl_place_end(to, xl_place_add(to, 0, t->text.s + start, t->at - start));
}
#endif

#endif
