/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control file, .cmd: one message for each write and each read.
 *
 * One opener at a time, who holds a reference on the module. Closing without EXIT
 * detaches: handlers go on and overwrite the oldest trace data until somebody opens
 * the file again.
 */
#ifndef XL_CONTROL_H
#define XL_CONTROL_H

#include <linux/cred.h>
#include <linux/module.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>
#include "context.h"
#include "ring.h"

/*
 * What goes on: one opener, one message to the module, one read of messages from it. A
 * second one is refused, not kept waiting: there is one loader, which does one at a time.
 */
enum {
	XL_CONTROL_OPEN,
	XL_CONTROL_WRITING,
	XL_CONTROL_READING,
};

static unsigned long xl_control_busy;	/* those as bits */

XL_COLD int xl_session_start(void);
XL_COLD void xl_session_stop(void);

/* Whether a message can be read. Any context. */
static bool xl_message_ready(void)
{
	return READ_ONCE(xl_replies) ||
	       smp_load_acquire(&xl_messages[xl_messages_read % XL_MESSAGES].ready);
}

XL_COLD int xl_control_open(struct inode *inode, struct file *file)
{
	if (test_and_set_bit(XL_CONTROL_OPEN, &xl_control_busy))
		return -EBUSY;
	if (!try_module_get(THIS_MODULE)) {
		clear_bit(XL_CONTROL_OPEN, &xl_control_busy);
		return -ENODEV;
	}
	WRITE_ONCE(xl_ring_overwrite, false);
	return 0;
}

XL_COLD int xl_control_release(struct inode *inode, struct file *file)
{
	WRITE_ONCE(xl_ring_overwrite, true);
	clear_bit(XL_CONTROL_OPEN, &xl_control_busy);
	/* procfs waits for this function before the module can go. */
	module_put(THIS_MODULE);
	return 0;
}

/* The replies as they are read; START's has two more words. */
static u32 xl_reply_words[XL_REPLIES][3] = {
	[XL_REPLY_TRANSPORT] = { XL_MSG_TRANSPORT },
	[XL_REPLY_START] = { XL_MSG_START },
	[XL_REPLY_REQUEST_EXIT] = { XL_MSG_REQUEST_EXIT },
	[XL_REPLY_EXIT] = { XL_MSG_EXIT },
};

/* START: installs the probes; how that went is the reply. With XL_CONTROL_WRITING. */
XL_COLD int xl_control_start(const u32 __user *target)
{
	if (get_user(xl_session.target, target))
		return -EFAULT;
	xl_reply_words[XL_REPLY_START][1] = xl_session.target;
	xl_reply_words[XL_REPLY_START][2] = xl_session.phase == XL_LOADED ? xl_session_start() :
									    -EALREADY;
	xl_reply(XL_REPLY_START);
	return 0;
}

XL_COLD ssize_t xl_control_write(struct file *file, const char __user *from, size_t size,
				 loff_t *offset)
{
	const u32 __user *message = (const u32 __user *)from;
	int error = 0;
	u32 type;

	if (size < sizeof(type))
		return -EINVAL;
	if (get_user(type, message))
		return -EFAULT;
	if (test_and_set_bit_lock(XL_CONTROL_WRITING, &xl_control_busy))
		return -EBUSY;

	switch (type) {
	case XL_MSG_START:
		error = size < 2 * sizeof(*message) ? -EINVAL : xl_control_start(message + 1);
		break;
	case XL_MSG_EXIT:		/* repeated by the loader until it is answered */
		xl_session_stop();
		xl_reply(XL_REPLY_EXIT);
		break;
	case XL_MSG_READY:
	case XL_MSG_NAMESPACES_PID:
	case XL_MSG_MNT_NS_FDS:
		break;
	case XL_MSG_PRIVILEGE_CREDENTIALS:
	case XL_MSG_RELOCATION:
	case XL_MSG_TZINFO:
	case XL_MSG_REMOTE_ID:
		if (!uid_eq(current_euid(), GLOBAL_ROOT_UID))
			error = -EPERM;
		break;
	default:			/* BULK among them: this is not bulk mode */
		error = -EINVAL;
	}
	clear_bit_unlock(XL_CONTROL_WRITING, &xl_control_busy);
	return error ?: size;
}

/* Gives what is due first to the reader: its bytes, 0 if there is nothing. With XL_CONTROL_READING. */
XL_COLD ssize_t xl_control_give(char __user *to, size_t size)
{
	struct xl_message *m = &xl_messages[xl_messages_read % XL_MESSAGES];
	enum xl_reply reply = 0;
	const void *from;
	loff_t start = 0;
	ssize_t bytes;

	while (reply == XL_REPLY_TEXT ? !smp_load_acquire(&m->ready) : !test_bit(reply, &xl_replies))
		if (++reply == XL_REPLIES)
			return 0;
	if (reply == XL_REPLY_TEXT) {
		from = &m->type;
		bytes = sizeof(m->type) + m->length;
	} else {
		from = xl_reply_words[reply];
		bytes = sizeof(u32) * (reply == XL_REPLY_START ? 3 : 1);
	}
	if (bytes > (ssize_t)size)
		return -EMSGSIZE;
	if (simple_read_from_buffer(to, bytes, &start, from, bytes) != bytes)
		return -EFAULT;
	if (reply == XL_REPLY_TEXT) {
		m->ready = 0;
		smp_store_release(&xl_messages_read, xl_messages_read + 1);
	} else {
		clear_bit(reply, &xl_replies);
	}
	return bytes;
}

/* Never blocks: with nothing to read, EAGAIN. */
XL_COLD ssize_t xl_control_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	ssize_t bytes;

	if (test_and_set_bit_lock(XL_CONTROL_READING, &xl_control_busy))
		return -EAGAIN;
	bytes = xl_control_give(to, size);
	clear_bit_unlock(XL_CONTROL_READING, &xl_control_busy);
	return bytes ?: -EAGAIN;
}

/*
 * Readiness only. "Priority data" is not reported, which tells the loader to
 * poll with a timeout: a sleeper is not woken, see message.h.
 */
XL_COLD __poll_t xl_control_poll(struct file *file, poll_table *wait)
{
	return EPOLLOUT | EPOLLWRNORM | (xl_message_ready() ? EPOLLIN | EPOLLRDNORM : 0);
}

static const struct proc_ops xl_control_ops = {
	.proc_open = xl_control_open,
	.proc_release = xl_control_release,
	.proc_read = xl_control_read,
	.proc_write = xl_control_write,
	.proc_poll = xl_control_poll,
};

#endif
