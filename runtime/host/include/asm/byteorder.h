/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef XL_HOST_BYTEORDER_H
#define XL_HOST_BYTEORDER_H

#include_next <asm/byteorder.h>
#include <endian.h>

#define be16_to_cpu(word) be16toh(word)
#define be32_to_cpu(word) be32toh(word)
#define be64_to_cpu(word) be64toh(word)
#define cpu_to_be16(word) htobe16(word)
#define cpu_to_be32(word) htobe32(word)
#define cpu_to_be64(word) htobe64(word)

#endif
