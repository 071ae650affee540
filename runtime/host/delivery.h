/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that writes the output: it empties the rings of all CPUs, and puts their
 * records in the order of their numbers.
 */
#ifndef XL_DELIVERY_H
#define XL_DELIVERY_H

#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include "context.h"
#include "events.h"
#include "ring.h"

#define XL_DELIVERY_PAUSE 5000000	/* ns between two looks at the rings */
#define XL_DELIVERY_READ (256 * 1024)

/* What has been read of one ring and not been written yet. */
struct xl_delivered {
	char *data;
	size_t at, used, room;
};

static struct {
	struct xl_delivered of[NR_CPUS];
	u32 next;			/* number of the record that is to be written */
	int fd;
	int error;			/* errno of a write that failed; what comes later is thrown away */
	pthread_t thread;
	pthread_t main;			/* gets SIGUSR1 at a failure and at the end */
	pthread_mutex_t lock;		/* of the rest */
	pthread_cond_t wake;
	bool ending;
	bool ended;
} xl_delivery = {
	.next = 1,
	.fd = STDOUT_FILENO,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static inline void xl_deliver_bytes(const char *data, size_t bytes)
{
	while (bytes && !xl_delivery.error) {
		ssize_t done = write(xl_delivery.fd, data, bytes);

		if (done < 0 && errno != EINTR) {
			__atomic_store_n(&xl_delivery.error, errno, __ATOMIC_RELEASE);
			pthread_kill(xl_delivery.main, SIGUSR1);
		}
		if (done > 0) {
			data += done;
			bytes -= done;
		}
	}
}

/* Takes all that is in a ring; whether there was something. */
static inline bool xl_delivery_take(struct xl_delivered *d, struct xl_ring *ring)
{
	ssize_t bytes;
	bool any = false;

	if (d->at)
		memmove(d->data, d->data + d->at, d->used - d->at);
	d->used -= d->at;
	d->at = 0;
	do {
		if (d->room - d->used < XL_DELIVERY_READ) {
			d->room = 2 * d->room + 2 * XL_DELIVERY_READ;
			d->data = realloc(d->data, d->room);
			if (!d->data)
				errx(1, "no memory for the output");
		}
		bytes = xl_ring_read(ring, d->data + d->used, XL_DELIVERY_READ);
		d->used += bytes;
		any |= bytes > 0;
	} while (bytes);
	return any;
}

/* The next record of a CPU, if all of it is here. */
static inline const struct xl_record *xl_delivery_record(const struct xl_delivered *d)
{
	const struct xl_record *r = (const void *)(d->data + d->at);

	if (d->used - d->at < sizeof(*r) || d->used - d->at < sizeof(*r) + r->length)
		return NULL;
	return r;
}

/* Writes what is in order. One that is missing is about to come: it has its number already. */
static inline void xl_delivery_write(void)
{
	unsigned int cpu = 0, without = 0;

	while (without < nr_cpu_ids) {
		struct xl_delivered *d = &xl_delivery.of[cpu];
		const struct xl_record *r = xl_delivery_record(d);

		if (r && r->sequence == xl_delivery.next) {
			xl_deliver_bytes(r->data, r->length);
			d->at += sizeof(*r) + r->length;
			xl_delivery.next++;
			without = 0;
		} else {
			cpu = (cpu + 1) % nr_cpu_ids;
			without++;
		}
	}
}

static inline bool xl_delivery_round(void)
{
	unsigned int cpu;
	bool any = false;

	for_each_possible_cpu(cpu)
		any |= xl_delivery_take(&xl_delivery.of[cpu], per_cpu(xl_contexts, cpu).ring);
	xl_delivery_write();
	return any;
}

static inline void *xl_delivery_thread(void *data)
{
	bool ending = false;

	while (xl_delivery_round() || !ending) {
		u64 time = xl_machine_clock(CLOCK_MONOTONIC) + XL_DELIVERY_PAUSE;
		const struct timespec until = { time / NSEC_PER_SEC, time % NSEC_PER_SEC };

		pthread_mutex_lock(&xl_delivery.lock);
		if (!xl_delivery.ending)
			pthread_cond_timedwait(&xl_delivery.wake, &xl_delivery.lock, &until);
		ending = xl_delivery.ending;
		pthread_mutex_unlock(&xl_delivery.lock);
	}
	__atomic_store_n(&xl_delivery.ended, true, __ATOMIC_RELEASE);
	pthread_kill(xl_delivery.main, SIGUSR1);
	return NULL;
}

static inline void xl_delivery_start(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&xl_delivery.wake, &attributes);
	xl_delivery.main = pthread_self();
	errno = pthread_create(&xl_delivery.thread, NULL, xl_delivery_thread, NULL);
	if (errno)
		err(1, "cannot start a thread");
}

/* Asks the thread to write what there is and to end; it says so by SIGUSR1. */
static inline void xl_delivery_end(void)
{
	pthread_mutex_lock(&xl_delivery.lock);
	xl_delivery.ending = true;
	pthread_cond_signal(&xl_delivery.wake);
	pthread_mutex_unlock(&xl_delivery.lock);
}

#endif
