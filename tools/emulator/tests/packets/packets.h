/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packets.h - the native test of the PT model's packet encoders: results, subjects. */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "points.h"
#include "pt_packet.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))

void diag_bytes(const char *what, const uint8_t *bytes, size_t len);

/* Each packet against bytes written by hand from the SDM's figures. */
void test_table(void);
/* Which IP compression is chosen. */
void test_compression(void);
/* Random sequences, read back by libipt. */
void test_random(unsigned long packets, uint64_t seed);

#endif
