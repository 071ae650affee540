/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's headers say of functions and variables, in an ordinary program. */
#ifndef XL_HOST_COMPILER_H
#define XL_HOST_COMPILER_H

#include <sys/cdefs.h>

#ifndef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#endif
#define noinline		__attribute__((__noinline__))
#define __cold			__attribute__((__cold__))
#define __maybe_unused		__attribute__((__unused__))
#define __packed		__attribute__((__packed__))
#define __aligned(bytes)	__attribute__((__aligned__(bytes)))
#define __printf(format, first)	__attribute__((__format__(printf, format, first)))
#define ____cacheline_aligned_in_smp __aligned(64)
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ volatile("" : : : "memory")

/* The system may not run the thread that holds a lock for a while: waiting for one is longer. */
#ifndef XL_LOCK_WAIT_NS
#define XL_LOCK_WAIT_NS 10000000000ULL
#endif

#define __user
#define __percpu
#define __force
#define __init
#define __exit
#define __initdata

/*
 * Accesses that another thread may race with. Atomic, so that the compiler does not
 * tear them and ThreadSanitizer knows that they are meant.
 */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)

#endif
