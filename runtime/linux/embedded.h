/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What C of a script may use. STAP_ARG_x and STAP_RETVALUE are variables of the
 * emitted function, which has a label out at its end and says its script
 * position in xl_where. Owner of the context, any context up to NMI, no locks.
 */
#ifndef XL_EMBEDDED_H
#define XL_EMBEDDED_H

#include <linux/kernel.h>
#include <linux/stdarg.h>
#include "output.h"
#include "strings.h"

#define CONTEXT c

/* Leaves the function: with a value, a string, or nothing. */
#define STAP_RETURN_LONG(value)								\
do {											\
	STAP_RETVALUE = (value);							\
	goto out;									\
} while (0)

#define STAP_RETURN_STR(text)								\
do {											\
	strscpy(ret->s, (text), sizeof(ret->s));					\
	goto out;									\
} while (0)

#define STAP_RETURN_VOID()	goto out

/* Leaves the function; its caller goes on with the next overload. */
#define STAP_NEXT									\
do {											\
	c->next = true;									\
	goto out;									\
} while (0)

/* Whether the function that has just returned used STAP_NEXT. */
static inline bool xl_next_asked(struct xl_context *c)
{
	bool asked = c->next;

	c->next = false;
	return asked;
}

/* The string of such a function, which C wrote to its place. */
static inline struct xl_str xl_str_end(struct xl_string *place)
{
	place->len = strnlen(place->s, sizeof(place->s) - 1);
	place->s[place->len] = 0;
	return xl_str(place);
}

#ifdef XL_ERROR_TEXT
static __maybe_unused __printf(3, 4) void xl_raise_format(struct xl_context *c, const char *where,
							  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->error_text, MAXSTRINGLEN, format, args);
	va_end(args);
	xl_raise(c, c->error_text, where);
}

/* Raises an error and leaves the function. */
#define STAP_ERROR(format, ...)								\
do {											\
	xl_raise_format(c, xl_where, format, ##__VA_ARGS__);				\
	goto out;									\
} while (0)
#endif

static __maybe_unused __printf(2, 3) void xl_print_format(struct xl_context *c,
							  const char *format, ...)
{
	size_t room, want;
	va_list args;

	va_start(args, format);
	want = vsnprintf(NULL, 0, format, args);
	va_end(args);
	room = c->output.limit - c->output.cursor;
	if (room <= want && !c->output.place) {
		if (!xl_print_extend(c, want + 1))
			return;
		room = want + 1;
	}
	if (!room)
		return;
	va_start(args, format);
	c->output.cursor += vscnprintf(c->output.cursor, room, format, args);
	va_end(args);
}

#define STAP_PRINTF(format, ...) xl_print_format(c, format, ##__VA_ARGS__)

/* Assignments to an element, of which C may make one if the array is not full. */
#define xl_put_value(pointer, value)							\
({											\
	typeof(pointer) place_ = (pointer);						\
											\
	if (place_)									\
		*place_ = (value);							\
})

#define xl_put_str(pointer, text)							\
({											\
	typeof(pointer) place_ = (pointer);						\
											\
	if (place_)									\
		xl_set(place_, xl_str_c(text));						\
})

#endif
