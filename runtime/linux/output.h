/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Printing. All that a handler prints is built in place in the ring of its
 * CPU and published when the handler ends, by session.h, as one record: whole
 * or not at all. (What exceeds the longest record that the transport knows is
 * cut into several, which are published together.)
 *
 * The first append of a handler finds no room, since none was made, and opens
 * the record; so a handler that does not print pays nothing. sprintf uses the same
 * appenders on a string's place, where they truncate.
 *
 * All of this: owner of the context, any context up to NMI, no locks.
 */
#ifndef XL_OUTPUT_H
#define XL_OUTPUT_H

#include <linux/string.h>
#include "context.h"
#include "ring.h"
#include "strings.h"

/* What handlers may not fill, so that end handlers can print. */
static __always_inline u32 xl_print_reserved(const struct xl_ring *ring)
{
	return xl_session.phase == XL_RUNNING ? ring->size / 4 : 0;
}

/* Lets a record grow by want bytes, or closes it and opens the next; false if there is no room. */
XL_SLOW bool xl_print_grow(struct xl_context *c, u32 want)
{
	struct xl_ring *ring = c->ring;
	struct xl_record *r = xl_ring_at(ring, c->record);
	u32 used = c->output.cursor - r->data, room;
	u64 at = c->record;

	if (!c->records)
		return false;		/* it is lost already */
	if (used + want > XL_RECORD_MAX) {
		r->length = used;
		at = xl_ring_next(ring, at, used);
		r = xl_ring_at(ring, at);
		used = 0;
	}
	want += sizeof(*r) + used;
	room = xl_ring_room(ring, at, want, xl_print_reserved(ring));
	room = min_t(u32, room, sizeof(*r) + XL_RECORD_MAX);
	if (room < want) {
		c->records = 0;
		c->output.limit = c->output.cursor;
		return false;
	}
	if (at != c->record) {
		c->records++;
		c->record = at;
		c->output.cursor = r->data;
	}
	c->output.limit = (char *)r + room;
	return true;
}

/*
 * Makes room for want more bytes of output: opens a record if there is none. False if
 * there is no room: all of it is lost.
 */
XL_SLOW bool xl_print_extend(struct xl_context *c, u32 want)
{
	struct xl_ring *ring = c->ring;
	u64 at = ring->head;
	struct xl_record *r = xl_ring_at(ring, at);
	u32 room, reserved = xl_print_reserved(ring);

	if (c->pending & XL_PENDING_OUTPUT)
		return xl_print_grow(c, want);
	c->pending |= XL_PENDING_OUTPUT;
	want += sizeof(*r);
	room = xl_ring_free(ring, at, smp_load_acquire(&ring->tail), want, reserved);
	if (unlikely(room < want))
		room = xl_ring_room(ring, at, want, reserved);
	/* A record can be no longer, however much room there is. */
	room = min_t(u32, room, sizeof(*r) + XL_RECORD_MAX);
	if (unlikely(room < want))
		return false;
	c->records = 1;
	c->record = at;
	c->output.cursor = r->data;
	c->output.limit = (char *)r + room;
	return true;
}

/*
 * Room for n more bytes, to be filled by the caller; NULL if there is none. In a
 * string's place there may be less: *n is what there is.
 */
static __always_inline char *xl_print_room(struct xl_context *c, u32 *n)
{
	char *p = c->output.cursor;
	size_t room = c->output.limit - p;

	if (unlikely(*n > room)) {
		if (c->output.place)
			*n = room;
		else if (!xl_print_extend(c, *n))
			return NULL;
		p = c->output.cursor;
	}
	c->output.cursor = p + *n;
	return p;
}

/* Appends bytes. */
XL_SLOW void xl_print_bytes(struct xl_context *c, const char *s, u32 n)
{
	char *p = xl_print_room(c, &n);

	if (likely(p))
		memcpy(p, s, n);
}

/* Appends a literal, in line if it is short. */
#define xl_print(c, literal) xl_print_literal(c, "" literal, sizeof(literal) - 1)

static __always_inline void xl_print_literal(struct xl_context *c, const char *s, size_t n)
{
	if (n <= 8 && likely(n <= c->output.limit - c->output.cursor)) {
		__builtin_memcpy(c->output.cursor, s, n);
		c->output.cursor += n;
	} else {
		xl_print_bytes(c, s, n);
	}
}

/* %s */
static __always_inline void xl_print_str(struct xl_context *c, struct xl_str s)
{
	xl_print_bytes(c, s.s, s.len);
}

/* %d */
XL_SLOW void xl_print_long(struct xl_context *c, s64 v)
{
	u64 u = v < 0 ? 0 - (u64)v : v, power;
	u32 sign = v < 0, n = sign + 1, room;
	char *p, *end;

	for (power = 10; power <= u; power *= 10)	/* at most 10^19: fits */
		n++;
	room = n;
	p = xl_print_room(c, &room);
	if (unlikely(!p))
		return;
	for (; n > room; n--)
		u /= 10;
	for (end = p + n; end > p + sign; u /= 10)
		*--end = '0' + u % 10;
	if (sign && n)
		*p = '-';
}

/*
 * Room for what is appended next by xl_put() and its kind, none of which looks for it;
 * false if there is none. n counts 20 bytes for a number and 16 for a name. Not for sprintf.
 */
static __always_inline bool xl_print_room_for(struct xl_context *c, u32 n)
{
	return likely(n <= c->output.limit - c->output.cursor) || likely(xl_print_extend(c, n));
}

#define xl_put(c, literal) xl_put_bytes(c, "" literal, sizeof(literal) - 1)

static __always_inline void xl_put_bytes(struct xl_context *c, const char *s, size_t n)
{
	memcpy(c->output.cursor, s, n);
	c->output.cursor += n;
}

static __always_inline void xl_put_name(struct xl_context *c, struct xl_name name)
{
	struct { u64 word; } __packed *to = (void *)c->output.cursor;

	to[0].word = name.word[0];
	to[1].word = name.word[1];
	c->output.cursor += xl_name_length(name);
}

XL_SLOW void xl_put_long(struct xl_context *c, s64 v)
{
	u64 u = v < 0 ? 0 - (u64)v : v, power;
	char *p = c->output.cursor, *end = p + 1;

	if (v < 0) {
		*p++ = '-';
		end++;
	}
	for (power = 10; power <= u; power *= 10)	/* u is below 10^19: fits */
		end++;
	c->output.cursor = end;
	for (; end > p; u /= 10)
		*--end = '0' + u % 10;
}

/* Lets output go to a place of a string, until xl_sprint_end(). */
#define xl_sprint_begin(c, saved, to) xl_sprint_to(c, saved, (to)->s, sizeof((to)->s))

static inline void xl_sprint_to(struct xl_context *c, struct xl_output *saved, char *to, size_t size)
{
	*saved = c->output;
	c->output.cursor = to;
	c->output.limit = to + size - 1;
	c->output.place = to;
}

/* Ends it; yields the string. Also to be called when printing raised an error. */
#define xl_sprint_end(c, saved, to) xl_sprint_done(c, saved, &(to)->len)

static inline struct xl_str xl_sprint_done(struct xl_context *c, const struct xl_output *saved,
					   u32 *length)
{
	struct xl_str s = { c->output.place, c->output.cursor - c->output.place };

	*c->output.cursor = 0;
	*length = s.len;
	c->output = *saved;
	return s;
}

#endif
