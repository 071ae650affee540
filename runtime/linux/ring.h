/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of trace records for one CPU.
 *
 * Every record is contiguous in memory and is built in place: one may begin
 * anywhere below the ring's size and run beyond it, into slack that holds the
 * longest record; the next then begins at 0, in the next lap. An offset is a
 * position in its low half and the lap in its high half.
 *
 * The owner of the CPU's context is the only writer and moves head; the reader
 * of the trace file moves tail. When no reader is attached the writer makes room
 * by moving tail over the oldest records, so both do it by compare-and-exchange, and
 * a reader that loses the exchange knows that what it copied may be overwritten.
 */
#ifndef XL_RING_H
#define XL_RING_H

#include <linux/atomic.h>
#include <linux/slab.h>
#include <linux/fs.h>
#include "limits.h"

struct xl_record {
	u8 magic[4];
	u32 sequence;		/* the first of a session is 1 */
	u32 length;		/* of data, 1 to XL_RECORD_MAX */
	char data[];
} __packed;

#define XL_RECORD_MAGIC "\xf0\x9f\xa9\xba"
#define XL_RECORD_MAX (128 * 1024)

struct xl_ring {
	u64 head;
	u64 tail;
	u32 size;
	u32 given;		/* bytes of the record at tail that a read has returned */
	u64 given_of;		/* the tail that it belongs to */
	unsigned long reading;	/* bit 0: a read goes on */
	char data[];		/* size + sizeof(struct xl_record) + XL_RECORD_MAX */
};

/* No reader is attached: overwrite the oldest records. */
static bool xl_ring_overwrite;

static inline struct xl_record *xl_ring_at(struct xl_ring *ring, u64 offset)
{
	return (void *)(ring->data + (u32)offset);
}

/* The offset behind a record at offset with length bytes of data. */
static inline u64 xl_ring_next(const struct xl_ring *ring, u64 offset, u32 length)
{
	offset += sizeof(struct xl_record) + length;
	return (u32)offset < ring->size ? offset : (offset | U32_MAX) + 1;
}

/*
 * Bytes that the writer can use from offset on as long as the tail is where it is; 0 if
 * that would leave less than what is reserved: a part of the ring, so that handlers that
 * fill it leave room for what end handlers print.
 */
static __always_inline u32 xl_ring_free(const struct xl_ring *ring, u64 offset, u64 tail, u32 want,
					u32 reserved)
{
	bool wrapped = (offset ^ tail) >> 32;
	/* Free is what lies before the tail if that is in the last lap, else all to the end. */
	u32 end = wrapped ? (u32)tail : ring->size + sizeof(struct xl_record) + XL_RECORD_MAX;
	u32 room = end - (u32)offset;
	/* What may be used of the rest, before the tail, decides on the reserve. */
	u32 rest = wrapped ? 0 : (u32)tail;

	return room + rest < reserved + want ? 0 : room;
}

/*
 * The same, at least want if it may overwrite and the ring can hold that much. The
 * writer; any context; one step for each record that is dropped.
 */
XL_COLD u32 xl_ring_room(struct xl_ring *ring, u64 offset, u32 want, u32 reserved)
{
	u64 tail = smp_load_acquire(&ring->tail);

	for (;;) {
		u32 room = xl_ring_free(ring, offset, tail, want, reserved);

		if (room >= want || tail == ring->head || !READ_ONCE(xl_ring_overwrite))
			return room;
		if (try_cmpxchg(&ring->tail, &tail,
				xl_ring_next(ring, tail, xl_ring_at(ring, tail)->length)))
			tail = ring->tail;
	}
}

/*
 * Copies the oldest records to user space: as many whole ones as fit, or a part
 * of one that does not. Returns their bytes, 0 if there are none or another read
 * goes on. May sleep.
 */
XL_COLD ssize_t xl_ring_read(struct xl_ring *ring, char __user *to, size_t size)
{
	u64 tail, next;
	struct xl_record *r;
	ssize_t done = 0, bytes;
	loff_t start;

	/* Nothing of a record would be given, for ever. */
	if (!size)
		return 0;
	if (test_and_set_bit(0, &ring->reading))
		return 0;
	tail = READ_ONCE(ring->tail);
	/* What an earlier reader took a part of may be overwritten since. */
	if (ring->given_of != tail)
		ring->given = 0;
	while (tail != smp_load_acquire(&ring->head)) {
		r = xl_ring_at(ring, tail);
		bytes = min_t(u32, READ_ONCE(r->length), XL_RECORD_MAX);
		next = xl_ring_next(ring, tail, bytes);
		bytes += sizeof(*r) - ring->given;
		if (bytes > (ssize_t)size) {
			if (done)
				break;
			bytes = size;
			next = tail;
		}
		start = ring->given;
		if (simple_read_from_buffer(to + done, bytes, &start, r, start + bytes) != bytes) {
			done = done ?: -EFAULT;
			break;
		}
		/* On failure the record was dropped, and tail is now what is the oldest. */
		if (!try_cmpxchg(&ring->tail, &tail, next)) {
			ring->given = 0;
			continue;
		}
		done += bytes;
		size -= bytes;
		ring->given = tail == next ? ring->given + bytes : 0;
		ring->given_of = next;
		tail = next;
		if (ring->given)
			break;
	}
	clear_bit_unlock(0, &ring->reading);
	return done;
}

#endif
