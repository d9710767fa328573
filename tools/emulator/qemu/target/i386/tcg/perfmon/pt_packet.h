/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encoding of Intel PT packets (SDM 33.4.2).  It depends on nothing of the CPU,
 * so that the encoders can be tested on their own.
 *
 * Each function writes one packet to @out, which has room for
 * PT_PACKET_MAX bytes, and returns its length.
 */
#ifndef TARGET_I386_TCG_PERFMON_PT_PACKET_H
#define TARGET_I386_TCG_PERFMON_PT_PACKET_H

/* The longest packet is PSB. */
#define PT_PACKET_MAX       16

/* TNT bits that fit the short and the long packet */
#define PT_TNT_SHORT_MAX    6
#define PT_TNT_LONG_MAX     47

/* The IP packets; the values are the opcodes. */
enum pt_ip_packet {
    PT_TIP_PGD = 0x01,
    PT_TIP = 0x0d,
    PT_TIP_PGE = 0x11,
    PT_FUP = 0x1d,
};

/* CFE types (SDM 33.4.2.29) */
enum pt_cfe {
    PT_CFE_INTR = 1,
    PT_CFE_IRET = 2,
    PT_CFE_SMI = 3,
    PT_CFE_RSM = 4,
    PT_CFE_SIPI = 5,
    PT_CFE_INIT = 6,
};

/* EVD types */
enum pt_evd {
    PT_EVD_CR2 = 0,
};

/* What a block of items is about (SDM 33.4.2.26) */
enum pt_block_type {
    PT_BLOCK_GPR = 0x01,
    PT_BLOCK_PEBS_BASIC = 0x04,
    PT_BLOCK_PEBS_MEMORY = 0x05,
    PT_BLOCK_LBR = 0x08,
    PT_BLOCK_XMM = 0x10,
};

/* MODE.Exec payload */
#define PT_MODE_EXEC_CSL    0x01
#define PT_MODE_EXEC_CSD    0x02
#define PT_MODE_EXEC_IF     0x04

size_t pt_packet_psb(uint8_t *out);
size_t pt_packet_psbend(uint8_t *out);
size_t pt_packet_ovf(uint8_t *out);
size_t pt_packet_tracestop(uint8_t *out);
size_t pt_packet_mnt(uint8_t *out, uint64_t payload);
size_t pt_packet_cbr(uint8_t *out, uint8_t ratio);
size_t pt_packet_tsc(uint8_t *out, uint64_t tsc);
size_t pt_packet_tma(uint8_t *out, uint16_t ctc, uint16_t fast);
size_t pt_packet_mtc(uint8_t *out, uint8_t ctc);
size_t pt_packet_cyc(uint8_t *out, uint64_t cycles);
size_t pt_packet_pip(uint8_t *out, uint64_t cr3, bool nonroot);
size_t pt_packet_mode_exec(uint8_t *out, uint8_t mode);
size_t pt_packet_mode_tsx(uint8_t *out);
size_t pt_packet_mwait(uint8_t *out, uint32_t hints, uint32_t ext);
size_t pt_packet_pwre(uint8_t *out, bool hw, uint8_t state, uint8_t substate);
size_t pt_packet_pwrx(uint8_t *out, uint8_t last, uint8_t deepest,
                      uint8_t wake);
size_t pt_packet_exstop(uint8_t *out, bool ip);
size_t pt_packet_cfe(uint8_t *out, enum pt_cfe type, uint8_t vector, bool ip);
size_t pt_packet_evd(uint8_t *out, enum pt_evd type, uint64_t payload);

/*
 * A block: what it is about, its items, which have 4 or 8 bytes each, and its
 * end; @ip: a FUP follows.
 */
size_t pt_packet_bbp(uint8_t *out, enum pt_block_type type, unsigned bytes);
size_t pt_packet_bip(uint8_t *out, unsigned id, uint64_t payload,
                     unsigned bytes);
size_t pt_packet_bep(uint8_t *out, bool ip);

/* @bytes: 4 or 8 bytes of payload; @ip: a FUP follows */
size_t pt_packet_ptw(uint8_t *out, uint64_t payload, unsigned bytes, bool ip);

/*
 * @bits: outcomes, the oldest in bit @count - 1; @count: 1 to
 * PT_TNT_LONG_MAX.  The short packet is taken where the bits fit it.
 */
size_t pt_packet_tnt(uint8_t *out, uint64_t bits, unsigned count);

/*
 * An IP packet, compressed against *@last, which is updated.  @full: the
 * reader may not know *@last.
 */
size_t pt_packet_ip(uint8_t *out, enum pt_ip_packet type, uint64_t ip,
                    uint64_t *last, bool full);

/*
 * The same by 48 bits without sign extension: the upper bits are those of
 * *@last, with which @ip must agree.
 */
size_t pt_packet_ip48(uint8_t *out, enum pt_ip_packet type, uint64_t ip,
                      uint64_t *last);

/* An IP packet whose IP is suppressed; LastIP stays. */
size_t pt_packet_ip_none(uint8_t *out, enum pt_ip_packet type);

#endif
