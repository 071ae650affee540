/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's atomic operations by the compiler's. Those without a suffix that give
 * a value are fully ordered there, so they are sequentially consistent here; those
 * that give none order nothing.
 */
#ifndef XL_HOST_ATOMIC_H
#define XL_HOST_ATOMIC_H

#include <sched.h>
#include <linux/types.h>

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#define ATOMIC_INIT(value) { value }
#define ATOMIC64_INIT(value) { value }

/* An operation that gives the old value, the one that gives the new, and the one that gives none. */
#define XL_ATOMIC_OP(prefix, type, number, op)						\
static __always_inline number prefix##_fetch_##op(number n, type *v)			\
{											\
	return __atomic_fetch_##op(&v->counter, n, __ATOMIC_SEQ_CST);			\
}											\
static __always_inline number prefix##_fetch_##op##_relaxed(number n, type *v)		\
{											\
	return __atomic_fetch_##op(&v->counter, n, __ATOMIC_RELAXED);			\
}											\
static __always_inline number prefix##_##op##_return(number n, type *v)			\
{											\
	return __atomic_##op##_fetch(&v->counter, n, __ATOMIC_SEQ_CST);			\
}											\
static __always_inline number prefix##_##op##_return_release(number n, type *v)		\
{											\
	return __atomic_##op##_fetch(&v->counter, n, __ATOMIC_RELEASE);			\
}											\
static __always_inline void prefix##_##op(number n, type *v)				\
{											\
	__atomic_fetch_##op(&v->counter, n, __ATOMIC_RELAXED);				\
}

#define XL_ATOMIC_TRY(prefix, type, number, suffix, order)				\
static __always_inline bool prefix##_try_cmpxchg##suffix(type *v, number *old, number new) \
{											\
	return __atomic_compare_exchange_n(&v->counter, old, new, false, order,		\
					   __ATOMIC_RELAXED);				\
}

#define XL_ATOMIC(prefix, type, number)							\
XL_ATOMIC_OP(prefix, type, number, add)							\
XL_ATOMIC_OP(prefix, type, number, sub)							\
XL_ATOMIC_OP(prefix, type, number, and)							\
XL_ATOMIC_OP(prefix, type, number, or)							\
XL_ATOMIC_OP(prefix, type, number, xor)							\
XL_ATOMIC_TRY(prefix, type, number, , __ATOMIC_SEQ_CST)					\
XL_ATOMIC_TRY(prefix, type, number, _acquire, __ATOMIC_ACQUIRE)				\
XL_ATOMIC_TRY(prefix, type, number, _release, __ATOMIC_RELEASE)				\
XL_ATOMIC_TRY(prefix, type, number, _relaxed, __ATOMIC_RELAXED)				\
static __always_inline number prefix##_read(const type *v)				\
{											\
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);				\
}											\
static __always_inline number prefix##_read_acquire(const type *v)			\
{											\
	return __atomic_load_n(&v->counter, __ATOMIC_ACQUIRE);				\
}											\
static __always_inline void prefix##_set(type *v, number n)				\
{											\
	__atomic_store_n(&v->counter, n, __ATOMIC_RELAXED);				\
}											\
static __always_inline void prefix##_set_release(type *v, number n)			\
{											\
	__atomic_store_n(&v->counter, n, __ATOMIC_RELEASE);				\
}											\
static __always_inline number prefix##_xchg(type *v, number n)				\
{											\
	return __atomic_exchange_n(&v->counter, n, __ATOMIC_SEQ_CST);			\
}											\
static __always_inline number prefix##_cmpxchg(type *v, number old, number new)		\
{											\
	prefix##_try_cmpxchg(v, &old, new);						\
	return old;									\
}											\
static __always_inline void prefix##_inc(type *v)					\
{											\
	prefix##_add(1, v);								\
}											\
static __always_inline void prefix##_dec(type *v)					\
{											\
	prefix##_sub(1, v);								\
}											\
static __always_inline number prefix##_inc_return(type *v)				\
{											\
	return prefix##_add_return(1, v);						\
}											\
static __always_inline number prefix##_dec_return(type *v)				\
{											\
	return prefix##_sub_return(1, v);						\
}											\
static __always_inline number prefix##_dec_return_release(type *v)			\
{											\
	return prefix##_sub_return_release(1, v);					\
}

XL_ATOMIC(atomic, atomic_t, int)
XL_ATOMIC(atomic64, atomic64_t, s64)

#define xchg(p, value)			__atomic_exchange_n(p, value, __ATOMIC_SEQ_CST)
#define try_cmpxchg(p, old, new)							\
	__atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
#define cmpxchg(p, old, new)								\
({											\
	typeof(*(p)) cmpxchg_old_ = (old);						\
											\
	try_cmpxchg(p, &cmpxchg_old_, new);						\
	cmpxchg_old_;									\
})
#define smp_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, value)	__atomic_store_n(p, value, __ATOMIC_RELEASE)

/* ThreadSanitizer knows no fences, but atomic operations on one variable. */
#ifdef __SANITIZE_THREAD__
static int xl_fence;
#define smp_mb()			((void)__atomic_fetch_add(&xl_fence, 0, __ATOMIC_SEQ_CST))
#else
#define smp_mb()			__atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif
#define smp_mb__before_atomic()		smp_mb()
#define smp_mb__after_atomic()		smp_mb()
#define smp_rmb()			smp_mb()
#define smp_wmb()			smp_mb()

/*
 * In a loop that waits for another thread, which the system may not be running just
 * now: lets it run now and then.
 */
static inline void cpu_relax(void)
{
	static __thread unsigned int rounds;

#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
	if (!(++rounds % 64))
		sched_yield();
}

#endif
