/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Variables of which each CPU has one. A CPU is a thread here. The variables as
 * declared lie in a section of their own, which is only the pattern: each CPU has a
 * copy of it, and an address in the pattern plus the CPU's offset is one in its copy.
 */
#ifndef XL_HOST_PERCPU_H
#define XL_HOST_PERCPU_H

#include <stdlib.h>
#include <string.h>
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/minmax.h>

#define DEFINE_PER_CPU(type, name)							\
	__attribute__((__section__("xl_percpu"))) typeof(type) name
#define DEFINE_PER_CPU_ALIGNED(type, name) DEFINE_PER_CPU(type, name) __aligned(64)
#define DEFINE_PER_CPU_SHARED_ALIGNED(type, name) DEFINE_PER_CPU_ALIGNED(type, name)

extern char __start_xl_percpu[], __stop_xl_percpu[];

#define XL_PERCPU_ALIGN 128
#define XL_PERCPU_DYNAMIC 65536		/* bytes for alloc_percpu() */

static unsigned long xl_cpu_offset[NR_CPUS];
static char *xl_cpu_memory[NR_CPUS];	/* that a copy lies in */
static __thread unsigned long xl_this_offset;
static size_t xl_percpu_dynamic;	/* bytes given out */

/* Gives each CPU its copies; false without memory. Before anything else. */
static inline bool xl_percpu_init(void)
{
	size_t bytes = __stop_xl_percpu - __start_xl_percpu, all;
	unsigned int cpu;
	char *copy;

	all = (bytes + XL_PERCPU_DYNAMIC + XL_PERCPU_ALIGN - 1) & -XL_PERCPU_ALIGN;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		/* As far from an aligned address as the pattern is, and no line shared. */
		copy = xl_cpu_memory[cpu] = aligned_alloc(XL_PERCPU_ALIGN, all + XL_PERCPU_ALIGN);
		if (!copy)
			return false;
		memset(copy, 0, all + XL_PERCPU_ALIGN);
		copy += (unsigned long)__start_xl_percpu % XL_PERCPU_ALIGN;
		memcpy(copy, __start_xl_percpu, bytes);
		xl_cpu_offset[cpu] = (unsigned long)copy - (unsigned long)__start_xl_percpu;
	}
	xl_this_offset = xl_cpu_offset[0];
	return true;
}

#define xl_percpu_at(pointer, offset) ((typeof(pointer))((unsigned long)(pointer) + (offset)))
#define per_cpu_ptr(pointer, cpu) xl_percpu_at(pointer, xl_cpu_offset[cpu])
#define per_cpu(name, cpu) (*per_cpu_ptr(&(name), cpu))
#define raw_cpu_ptr(pointer) xl_percpu_at(pointer, xl_this_offset)
#define this_cpu_ptr(pointer) raw_cpu_ptr(pointer)

/* Zeroed memory for all CPUs; NULL if there is no more. Aligned for any type up to a line. */
#define alloc_percpu(type) ((type *)xl_percpu_alloc(sizeof(type)))
#define free_percpu(pointer) ((void)(pointer))	/* goes with the program */

static inline void *xl_percpu_alloc(size_t bytes)
{
	char *end = (char *)(((unsigned long)__stop_xl_percpu + 63) & -64UL);
	size_t at = xl_percpu_dynamic;

	bytes = (bytes + 63) & -64UL;
	if (bytes > XL_PERCPU_DYNAMIC - 64 - at)
		return NULL;
	xl_percpu_dynamic = at + bytes;
	return end + at;
}

/*
 * One step of this CPU's variable. Only its own thread writes it; others may look, which
 * ThreadSanitizer must be told.
 */
#ifdef __SANITIZE_THREAD__
#define this_cpu_read(name) __atomic_load_n(raw_cpu_ptr(&(name)), __ATOMIC_RELAXED)
#define this_cpu_write(name, value) __atomic_store_n(raw_cpu_ptr(&(name)), value, __ATOMIC_RELAXED)
#else
#define this_cpu_read(name) (*raw_cpu_ptr(&(name)))
#define this_cpu_write(name, value) ((void)(*raw_cpu_ptr(&(name)) = (value)))
#endif
#define this_cpu_add(name, n) this_cpu_write(name, this_cpu_read(name) + (n))
#define this_cpu_sub(name, n) this_cpu_write(name, this_cpu_read(name) - (n))
#define this_cpu_and(name, n) this_cpu_write(name, this_cpu_read(name) & (n))
#define this_cpu_or(name, n) this_cpu_write(name, this_cpu_read(name) | (n))
#define this_cpu_inc(name) this_cpu_add(name, 1)
#define this_cpu_dec(name) this_cpu_sub(name, 1)
#define this_cpu_add_return(name, n)							\
({											\
	typeof(name) sum_ = this_cpu_read(name) + (n);					\
											\
	this_cpu_write(name, sum_);							\
	sum_;										\
})
#define raw_cpu_read this_cpu_read
#define raw_cpu_write this_cpu_write
#define raw_cpu_add this_cpu_add
#define raw_cpu_inc this_cpu_inc
#define raw_cpu_or this_cpu_or

#endif
