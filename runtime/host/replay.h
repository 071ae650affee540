/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads that run handlers, one for each CPU.
 *
 * With an event file, time is that of the events, and nobody waits for a clock. Each
 * CPU says up to which time it has come, and no CPU runs ahead: an event may only
 * overlap with what other CPUs do less than XL_REPLAY_SLACK before it, as on a real
 * machine handlers overlap that start almost at once; a timer waits for all that happens
 * before it, so that what it sees is exact. (The CPU that is furthest behind never
 * waits.) Without events, timers run when the machine's clock says so.
 */
#ifndef XL_REPLAY_H
#define XL_REPLAY_H

#include <pthread.h>
#include <signal.h>
#include <linux/hrtimer.h>
#include <linux/smp.h>
#include "context.h"
#include "events.h"
#include "ring.h"

#define XL_REPLAY_SLACK 1000000		/* ns */
#define XL_FOREVER U64_MAX

struct xl_cpu {
	u64 reached;			/* all before is done; XL_FOREVER at the end. Others read it */
	pthread_t thread;
	unsigned int number;
	u32 next;			/* event */
	u64 all_reached;		/* by the other CPUs, when this one last looked */
	u64 time;			/* of what this one did last */
	u64 started, ended;		/* of repetitions: machine time, ns */
	unsigned long hits;		/* events of them */
	struct task_struct idle;
} __aligned(128);

static struct {
	struct xl_cpu cpu[NR_CPUS];
	unsigned int threads;
	u64 end;			/* session time of the last event or timer */
	bool stopping;			/* the threads are to end */
	unsigned int running;		/* threads */
	pthread_t main;			/* gets SIGUSR1 when a thread ends */
	pthread_mutex_t lock;		/* of idle, for threads that wait for a clock */
	pthread_cond_t idle;
} xl_replay = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* Whether handlers are to end: exit(), an error, or the user. Any thread. */
static inline bool xl_replay_over(void)
{
	return READ_ONCE(xl_session.exiting) || READ_ONCE(xl_replay.stopping);
}

/* As the thread is to see itself between events. */
static inline void xl_replay_idle(struct xl_cpu *cpu)
{
	xl_become_cpu(cpu->number);
	current = &cpu->idle;
}

/* Runs the handlers of an event, on its CPU. */
static inline void xl_replay_hit(struct xl_cpu *cpu, const struct xl_event *event)
{
	struct xl_point *point;

	current = event->task;
	xl_event_time = cpu->time = event->time;
	for (point = event->site->points; point; point = point->next)
		point->fire(point->data);
}

static inline void xl_replay_timer(struct xl_cpu *cpu, struct hrtimer *timer)
{
	current = &cpu->idle;
	xl_event_time = cpu->time = timer->expires;
	xl_timer_fire(timer);
}

/* Lets the reader of the output come along: time does not press. */
static inline void xl_replay_drain(void)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	struct xl_ring *ring = xl_here()->ring;

	for (;;) {
		u64 tail = smp_load_acquire(&ring->tail);
		u32 used = (u32)ring->head - (u32)tail;

		if ((ring->head ^ tail) >> 32)
			used += ring->size;
		if (used < ring->size / 4 || xl_replay_over())
			return;
		nanosleep(&pause, NULL);
	}
}

/* Waits until all other CPUs have come to a time; false if handlers are to end. */
static inline bool xl_replay_wait(struct xl_cpu *self, u64 time)
{
	unsigned int i;

	while (self->all_reached < time) {
		u64 all = XL_FOREVER;

		for (i = 0; i < xl_replay.threads; i++)
			if (&xl_replay.cpu[i] != self)
				all = min(all, smp_load_acquire(&xl_replay.cpu[i].reached));
		self->all_reached = all;
		if (all < time) {
			if (xl_replay_over())
				return false;
			cpu_relax();
		}
	}
	/* What they have done may have been exit(). */
	return !xl_replay_over();
}

/* One CPU's events and timers in the order of time. */
static inline void xl_replay_cpu(struct xl_cpu *self)
{
	while (!xl_replay_over()) {
		struct hrtimer *timer = xl_timer_first(self->number);
		const struct xl_event *event = NULL;
		u64 time = XL_FOREVER;

		if (self->next != XL_NO_EVENT && xl_events.event[self->next].time <= xl_replay.end) {
			event = &xl_events.event[self->next];
			time = event->time;
		}
		if (timer && timer->expires <= min(time, xl_replay.end))
			time = timer->expires;
		else
			timer = NULL;
		smp_store_release(&self->reached, time);
		if (time == XL_FOREVER)
			return;
		if (!xl_replay_wait(self, timer ? time : time - min_t(u64, time, XL_REPLAY_SLACK)))
			break;
		if (timer) {
			xl_replay_timer(self, timer);
		} else {
			xl_replay_hit(self, event);
			self->next = event->next;
		}
		xl_replay_drain();
	}
}

/* All events in the order of the file, and all timers. */
static inline void xl_replay_serial(struct xl_cpu *self)
{
	u32 at = 0;

	while (!xl_replay_over()) {
		const struct xl_event *event = NULL;
		struct hrtimer *timer, *first = NULL;
		u64 time = xl_replay.end;
		unsigned int cpu;

		if (at < xl_events.count && xl_events.event[at].time <= xl_replay.end) {
			event = &xl_events.event[at];
			time = event->time;
		}
		for_each_possible_cpu(cpu) {
			timer = xl_timer_first(cpu);
			if (timer && timer->expires <= time && (!first || timer->expires < first->expires)) {
				first = timer;
				xl_become_cpu(cpu);
			}
		}
		if (first) {
			xl_replay_timer(self, first);
		} else if (event) {
			xl_become_cpu(event->cpu);
			xl_replay_hit(self, event);
			at++;
		} else {
			break;
		}
		xl_replay_drain();
	}
	xl_replay_idle(self);
}

/* Waits for the machine's clock to come to a time, or for the end. */
static inline void xl_replay_sleep(u64 time)
{
	const struct timespec until = { time / NSEC_PER_SEC, time % NSEC_PER_SEC };

	pthread_mutex_lock(&xl_replay.lock);
	if (!xl_replay_over())
		pthread_cond_timedwait(&xl_replay.idle, &xl_replay.lock, &until);
	pthread_mutex_unlock(&xl_replay.lock);
}

/* One CPU's timers when the machine's clock says so. */
static inline void xl_replay_clock(struct xl_cpu *self)
{
	while (!xl_replay_over()) {
		struct hrtimer *timer = xl_timer_first(self->number);

		if (!timer)
			break;
		if (timer->expires <= xl_session_clock())
			xl_replay_timer(self, timer);
		else
			xl_replay_sleep(timer->expires);
	}
}

/* Each CPU's events over and over, at no time in particular and without waiting for anybody. */
static unsigned long xl_replay_rounds;
static unsigned int xl_replay_ready;	/* threads; they spin, so that none begins measurably later */

static inline void xl_replay_repeat(struct xl_cpu *self)
{
	const struct xl_event *first = &xl_events.event[self->next];
	bool several = self->next != XL_NO_EVENT && first->next != XL_NO_EVENT;
	unsigned long round, hits = 0;
	struct xl_point *point;
	u32 at;

	__atomic_add_fetch(&xl_replay_ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&xl_replay_ready, __ATOMIC_ACQUIRE) < xl_replay.threads)
		cpu_relax();
	self->started = xl_machine_clock(CLOCK_MONOTONIC);
	if (self->next == XL_NO_EVENT)
		goto out;
	/* With one event only its handlers are left in the loop. */
	if (!several) {
		xl_replay_hit(self, first);
		for (hits = 1; hits < xl_replay_rounds && !xl_replay_over(); hits++)
			for (point = first->site->points; point; point = point->next)
				point->fire(point->data);
		goto out;
	}
	for (round = 0; round < xl_replay_rounds && !xl_replay_over(); round++) {
		for (at = self->next; at != XL_NO_EVENT; at = xl_events.event[at].next) {
			xl_replay_hit(self, &xl_events.event[at]);
			hits++;
		}
	}
out:
	self->hits = hits;
	self->ended = xl_machine_clock(CLOCK_MONOTONIC);
}

/* Says how fast that was. When all threads have ended. */
static inline void xl_replay_report(void)
{
	unsigned long hits = 0;
	u64 began = XL_FOREVER, ended = 0;
	unsigned int i;

	for (i = 0; i < xl_replay.threads; i++) {
		hits += xl_replay.cpu[i].hits;
		began = min(began, xl_replay.cpu[i].started);
		ended = max(ended, xl_replay.cpu[i].ended);
	}
	fprintf(stderr, "%lu events on %u CPUs in %llu ns, %d skipped\n", hits, xl_replay.threads,
		ended - began, atomic_read(&xl_session.skipped));
}

static void (*xl_replay_work)(struct xl_cpu *self);
static pthread_barrier_t xl_replay_together;	/* so that no thread is through before another begins */

static inline void *xl_replay_thread(void *data)
{
	struct xl_cpu *self = data;

	xl_replay_idle(self);
	pthread_barrier_wait(&xl_replay_together);
	xl_replay_work(self);
	smp_store_release(&self->reached, XL_FOREVER);
	__atomic_sub_fetch(&xl_replay.running, 1, __ATOMIC_RELEASE);
	pthread_kill(xl_replay.main, SIGUSR1);
	return NULL;
}

/* How each thread sees itself when it does nothing in particular, named as the kernel's. */
static inline void xl_replay_init(void)
{
	pthread_condattr_t attributes;
	unsigned int i;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&xl_replay.idle, &attributes);
	xl_replay.main = pthread_self();
	for (i = 0; i < nr_cpu_ids; i++) {
		struct xl_cpu *cpu = &xl_replay.cpu[i];

		cpu->number = i;
		cpu->next = xl_events.count ? xl_events.first[i] : XL_NO_EVENT;
		snprintf(cpu->idle.comm, TASK_COMM_LEN, "swapper/%u", i % NR_CPUS);
		cpu->idle.real_parent = &cpu->idle;
		cpu->idle.real_cred = &cpu->idle.credentials;
		cpu->idle.prio = cpu->idle.static_prio = NICE_ZERO;
	}
}

/* Starts the threads; they end by themselves or by xl_replay_stop(). */
static inline void xl_replay_start(void (*work)(struct xl_cpu *self), unsigned int threads)
{
	unsigned int i;

	xl_replay_work = work;
	xl_replay.threads = threads;
	xl_replay.running = threads;
	pthread_barrier_init(&xl_replay_together, NULL, threads);
	for (i = 0; i < threads; i++) {
		errno = pthread_create(&xl_replay.cpu[i].thread, NULL, xl_replay_thread,
				       &xl_replay.cpu[i]);
		if (errno)
			err(1, "cannot start a thread");
	}
}

/* The time that the events have come to. When all threads have ended. */
static inline u64 xl_replay_time(void)
{
	u64 time = 0;
	unsigned int i;

	for (i = 0; i < xl_replay.threads; i++)
		time = max(time, xl_replay.cpu[i].time);
	return time;
}

/* Ends the threads and waits for them. */
static inline void xl_replay_stop(void)
{
	unsigned int i;

	pthread_mutex_lock(&xl_replay.lock);
	WRITE_ONCE(xl_replay.stopping, true);
	pthread_cond_broadcast(&xl_replay.idle);
	pthread_mutex_unlock(&xl_replay.lock);
	for (i = 0; i < xl_replay.threads; i++)
		pthread_join(xl_replay.cpu[i].thread, NULL);
}

#endif
