/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the module has to say to its loader besides trace data: replies of
 * the control protocol, warnings and errors.
 *
 * Replies are bits, so that none is lost for want of memory. Texts go through
 * a fixed array of slots that any context up to NMI can fill: a writer takes
 * the next slot with one compare-and-exchange, fills it and marks it ready.
 * One reader at a time takes them in that order.
 * Nobody is woken: a handler may be anywhere, even in a wake-up. The reader polls.
 */
#ifndef XL_MESSAGE_H
#define XL_MESSAGE_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include "limits.h"

/* Numbers of the control protocol. */
enum xl_message_type {
	XL_MSG_START = 0x50,
	XL_MSG_EXIT = 0x51,
	XL_MSG_OOB_DATA = 0x52,
	XL_MSG_SYSTEM = 0x53,
	XL_MSG_TRANSPORT = 0x54,
	XL_MSG_BULK = 0x57,
	XL_MSG_READY = 0x58,
	XL_MSG_RELOCATION = 0x59,
	XL_MSG_REQUEST_EXIT = 0x5d,
	XL_MSG_TZINFO = 0x5e,
	XL_MSG_PRIVILEGE_CREDENTIALS = 0x5f,
	XL_MSG_REMOTE_ID = 0x60,
	XL_MSG_NAMESPACES_PID = 0x62,
	XL_MSG_MNT_NS_FDS = 0x63,
};

/* What waits to be read, in order of delivery. */
enum xl_reply {
	XL_REPLY_TRANSPORT,
	XL_REPLY_TEXT,			/* any of xl_messages; not a bit */
	XL_REPLY_START,
	XL_REPLY_REQUEST_EXIT,
	XL_REPLY_EXIT,
	XL_REPLIES
};

struct xl_message {
	u32 ready;
	u32 length;			/* of text */
	u32 type;			/* from here on as it is read */
	char text[MAXSTRINGLEN + 256];	/* a string of the script and a script position */
};

static struct xl_message xl_messages[XL_MESSAGES];
static atomic_t xl_messages_taken;	/* slots handed to writers, ever */
static u32 xl_messages_read;		/* slots read, ever; only the reader writes it */
static u32 xl_messages_limit = XL_MESSAGES - 4;	/* slots in use; the rest is for the last words */
static atomic_t xl_messages_lost;
static unsigned long xl_replies;	/* bits of enum xl_reply */

/* Makes a reply readable. Any context; no locks. */
static inline void xl_reply(enum xl_reply reply)
{
	set_bit(reply, &xl_replies);
}

/*
 * Queues a text for the loader. Any context; no locks. Retries only when
 * another writer took the slot; a text for which there is no slot is counted.
 * Arguments come as words, which is how a variable argument list passes them too.
 */
XL_COLD void xl_message_words(enum xl_message_type type, const char *format, unsigned long a,
			      unsigned long b, unsigned long c, unsigned long d, unsigned long e)
{
	int taken = atomic_read(&xl_messages_taken);
	struct xl_message *m;

	do {
		if ((u32)taken - smp_load_acquire(&xl_messages_read) >= xl_messages_limit) {
			atomic_inc(&xl_messages_lost);
			return;
		}
	} while (!atomic_try_cmpxchg(&xl_messages_taken, &taken, taken + 1));

	m = &xl_messages[(u32)taken % XL_MESSAGES];
	m->type = type;
	m->length = scnprintf(m->text, sizeof(m->text), format, a, b, c, d, e);
	smp_store_release(&m->ready, 1);
}

/* xl_message(type, format, at most five arguments): checked as printf's are. */
#define xl_message(type, ...)								\
do {											\
	no_printk(__VA_ARGS__);								\
	xl_message_pad(type, __VA_ARGS__, 0, 0, 0, 0, 0);				\
} while (0)

#define xl_message_pad(type, format, a, b, c, d, e, ...)				\
	xl_message_words(type, format, (unsigned long)(a), (unsigned long)(b),		\
			 (unsigned long)(c), (unsigned long)(d), (unsigned long)(e))

#define xl_report(...) xl_message(XL_MSG_OOB_DATA, __VA_ARGS__)

#endif
