/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of a session. The emitted module may define any of them first. */
#ifndef XL_LIMITS_H
#define XL_LIMITS_H

#ifndef MAXSTRINGLEN
#define MAXSTRINGLEN 512		/* bytes of a string, with its NUL */
#endif
#ifndef MAXMAPENTRIES
#define MAXMAPENTRIES 2048
#endif
#ifndef MAXACTION
#define MAXACTION 1000
#endif
#ifndef MAXACTION_INTERRUPTIBLE
#define MAXACTION_INTERRUPTIBLE (10 * MAXACTION)
#endif
#ifndef MAXERRORS
#define MAXERRORS 0			/* errors that a session survives */
#endif
#ifndef MAXSKIPPED
#define MAXSKIPPED 100			/* handlers skipped for locks that it survives */
#endif
#ifndef MAXNESTING
#define MAXNESTING 10
#endif
#ifndef XL_LOCK_WAIT_NS
/*
 * The longest that a handler waits for its locks, all of them together. A holder needs
 * well under a microsecond, unless it is a virtual CPU that its host does not run for a
 * while: that is what this allows for.
 */
#define XL_LOCK_WAIT_NS 10000000
#endif
#ifndef XL_GATHER_MOST
/*
 * What all shards of an array can hold together that a timer gathers, as long as one may
 * hold fewer: with interrupts off, an entry takes some 50 ns to gather and as much to copy.
 */
#define XL_GATHER_MOST 32768
#endif
#ifndef XL_IDLE_WAIT_CYCLES
/* For handlers to end that no probe can run any more: a second or two. */
#define XL_IDLE_WAIT_CYCLES 4000000000ULL
#endif
#ifndef STP_OVERLOAD_INTERVAL
#define STP_OVERLOAD_INTERVAL 1000000000LL	/* cycles */
#endif
#ifndef STP_OVERLOAD_THRESHOLD
#define STP_OVERLOAD_THRESHOLD 500000000LL	/* cycles in handlers of each interval */
#endif
#ifndef XL_MESSAGES
#define XL_MESSAGES 32			/* warnings and errors that wait for the reader */
#endif

/*
 * A function off the hot path. What a script does not use is dropped silently. Handlers
 * call XL_SLOW functions: gcc 12 lays out as cold what follows a call of a cold one.
 */
#define XL_SLOW static noinline __maybe_unused
#define XL_COLD static noinline __cold __maybe_unused

#endif
