/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_MM_H
#define XL_HOST_MM_H

#include <unistd.h>

#define PAGE_SIZE sysconf(_SC_PAGESIZE)

#endif
