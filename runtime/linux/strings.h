/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings. A value is a view: bytes and their number, passed in registers. The
 * byte after the last is NUL, and none before it is. Literals and what lies in
 * arrays are so borrowed, not copied. A place is storage for a string, of a
 * fixed size that counts the NUL; a value that does not fit is cut. A name is a
 * string of at most 15 bytes in two words, zero padded: it is copied, hashed and
 * compared as words.
 *
 * All of this: any context, no locks, bounded by the length of the strings.
 */
#ifndef XL_STRINGS_H
#define XL_STRINGS_H

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "limits.h"

struct xl_str {
	const char *s;
	u32 len;
};

#define XL_STRING(size) struct { u32 len; char s[size]; }

struct xl_string {
	u32 len;
	char s[MAXSTRINGLEN];
};

/* A string that is taken apart, and where the next token may begin. */
struct xl_tokens {
	u32 at;
	struct xl_string text;
};

struct xl_name {
	u64 word[2];
};

/* A name that is known when the script is translated. */
union xl_name_constant {
	char text[sizeof(struct xl_name)];
	struct xl_name name;
};

/* A view of a literal. */
#define XL_STR(literal) ((struct xl_str){ "" literal, sizeof(literal) - 1 })

/* A view of a place. */
#define xl_str(place) ((struct xl_str){ (place)->s, (place)->len })

/* Copies a string into a place; yields the view of that. They may overlap. */
#define xl_set(place, string) xl_set_to(&(place)->len, (place)->s, sizeof((place)->s), string)

/* A view of a C string. */
static inline struct xl_str xl_str_c(const char *s)
{
	return (struct xl_str){ s, strlen(s) };
}

static __maybe_unused struct xl_str xl_set_to(u32 *len, char *s, u32 size, struct xl_str from)
{
	*len = min(from.len, size - 1);
	memmove(s, from.s, *len);
	s[*len] = 0;
	return (struct xl_str){ s, *len };
}

/* a followed by b, in a place that may be that of a but not that of b. */
#define xl_concat(place, a, b) xl_concat_to(&(place)->len, (place)->s, sizeof((place)->s), a, b)

static __maybe_unused struct xl_str xl_concat_to(u32 *len, char *s, u32 size, struct xl_str a,
						 struct xl_str b)
{
	u32 first = min(a.len, size - 1), second = min(b.len, size - 1 - first);

	if (s != a.s)
		memmove(s, a.s, first);
	memcpy(s + first, b.s, second);
	*len = first + second;
	s[*len] = 0;
	return (struct xl_str){ s, *len };
}

static __always_inline bool xl_str_equal(struct xl_str a, struct xl_str b)
{
	return a.len == b.len && !memcmp(a.s, b.s, b.len);
}

/* Below, equal to or above 0 as a sorts before, with or after b; bytes are unsigned. */
static inline int xl_str_compare(struct xl_str a, struct xl_str b)
{
	int order = memcmp(a.s, b.s, min(a.len, b.len));

	return order ?: (a.len > b.len) - (a.len < b.len);
}

/* The bytes of a name. Zero padding: the highest byte that is not 0 is the last. */
static __always_inline u32 xl_name_length(struct xl_name name)
{
	u32 bits = name.word[1] ? 64 + fls64(name.word[1]) : fls64(name.word[0]);

	return (bits + 7) / 8;
}

/* A view of a name, which must outlive it. */
#define xl_name_str(name) xl_name_view((name)->word)

static __always_inline struct xl_str xl_name_view(const u64 *word)
{
	struct xl_name name = { { word[0], word[1] } };

	return (struct xl_str){ (const char *)word, xl_name_length(name) };
}

static __always_inline bool xl_name_equal(struct xl_name a, struct xl_name b)
{
	return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

/* A name from a literal of at most 15 bytes, known when it is compiled. */
#define XL_NAME(literal) \
	((struct xl_name){ { XL_NAME_WORD("" literal, 0), XL_NAME_WORD("" literal, 8) } })

#define XL_NAME_WORD(s, at)								\
	(XL_NAME_BYTE(s, at, 0) | XL_NAME_BYTE(s, at, 1) | XL_NAME_BYTE(s, at, 2) |	\
	 XL_NAME_BYTE(s, at, 3) | XL_NAME_BYTE(s, at, 4) | XL_NAME_BYTE(s, at, 5) |	\
	 XL_NAME_BYTE(s, at, 6) | XL_NAME_BYTE(s, at, 7))

#define XL_NAME_BYTE(s, at, i) \
	((u64)((at) + (i) < sizeof(s) ? (u8)(s)[(at) + (i) < sizeof(s) ? (at) + (i) : 0] : 0) << 8 * (i))

/* The bytes of a word before its first 0 byte, the rest cleared; *zero tells whether there is one. */
static __always_inline u64 xl_before_zero(u64 word, bool *zero)
{
	u64 mark = (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL;

	*zero = mark;
	return *zero ? word & (((mark - 1) & ~mark) >> 7) : word;
}

/* A name from 16 bytes with a NUL among them, which may change meanwhile. */
static __always_inline struct xl_name xl_name_of(const void *bytes)
{
	const volatile u64 *word = bytes;
	struct xl_name name = { };
	bool zero;

	name.word[0] = xl_before_zero(word[0], &zero);
	if (!zero)
		name.word[1] = xl_before_zero(word[1] & (~0ULL >> 8), &zero);
	return name;
}

/* A name from a string, cut at 15 bytes. */
static inline struct xl_name xl_name(struct xl_str s)
{
	struct xl_name name = { };

	memcpy(&name, s.s, min_t(u32, s.len, sizeof(name) - 1));
	return name;
}

#endif
