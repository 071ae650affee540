/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread is one CPU for good, and nothing interrupts it to run a handler. */
#ifndef XL_HOST_PREEMPT_H
#define XL_HOST_PREEMPT_H

#include <linux/compiler.h>

#define preempt_disable() barrier()
#define preempt_enable() barrier()
#define preempt_disable_notrace() barrier()
#define preempt_enable_notrace() barrier()
#define raw_local_irq_save(flags) ((flags) = 0)
#define raw_local_irq_restore(flags) ((void)(flags))
#define local_irq_save(flags) raw_local_irq_save(flags)
#define local_irq_restore(flags) raw_local_irq_restore(flags)

#endif
