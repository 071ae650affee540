/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel whose interfaces these headers have. */
#ifndef XL_HOST_VERSION_H
#define XL_HOST_VERSION_H

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 13, 0)

#endif
