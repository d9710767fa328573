/* SPDX-License-Identifier: GPL-2.0-only */
/* The code of payload.S, which is copied to where it runs. */
#ifndef PAYLOAD_H
#define PAYLOAD_H

extern const char payload[], payload_end[];

#endif /* PAYLOAD_H */
