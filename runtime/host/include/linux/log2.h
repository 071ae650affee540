/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_LOG2_H
#define XL_HOST_LOG2_H

/* A constant expression if n is one. */
#define ilog2(n) (63 - __builtin_clzll(n))

#endif
