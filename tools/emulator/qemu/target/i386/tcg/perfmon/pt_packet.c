/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encoding of Intel PT packets (SDM 33.4.2), see pt_packet.h.
 */
#include "qemu/osdep.h"
#include "pt_packet.h"

/* First byte of all packets with a two byte opcode. */
#define PT_EXT              0x02

#define PT_OP_TSC           0x19
#define PT_OP_MTC           0x59
#define PT_OP_MODE          0x99
#define PT_EXT_CBR          0x03
#define PT_EXT_PIP          0x43
#define PT_EXT_TMA          0x73
#define PT_EXT_PSB          0x82
#define PT_EXT_TRACESTOP    0x83
#define PT_EXT_PSBEND       0x23
#define PT_EXT_OVF          0xf3
#define PT_EXT_TNT          0xa3
#define PT_EXT_PTW          0x12
#define PT_EXT_EXSTOP       0x62
#define PT_EXT_MWAIT        0xc2
#define PT_EXT_PWRE         0x22
#define PT_EXT_PWRX         0xa2
#define PT_EXT_BBP          0x63
#define PT_EXT_BEP          0x33
#define PT_EXT_CFE          0x13
#define PT_EXT_EVD          0x53
#define PT_EXT_EXT          0xc3
#define PT_EXT_EXT_MNT      0x88

/* The bit by which EXSTOP, PTW, BEP and CFE announce a FUP. */
#define PT_IP_FOLLOWS       0x80

#define PT_MODE_LEAF_TSX    0x20

/* BBP: items of four bytes; BIP: the item's number above its opcode */
#define PT_BBP_SHORT        0x80
#define PT_OP_BIP           0x04
#define PT_BIP_ID_SHIFT     3

/* IPBytes field of the IP packets, and what it stands for */
#define PT_IPBYTES_SHIFT    5
#define PT_IPBYTES_NONE     0
#define PT_IPBYTES_16       1
#define PT_IPBYTES_32       2
#define PT_IPBYTES_SEXT48   3
#define PT_IPBYTES_48       4
#define PT_IPBYTES_FULL     6

/* CYC: 5 bits in the first byte, 7 in each further */
#define PT_OP_CYC           0x03
#define PT_CYC_EXP_FIRST    0x04
#define PT_CYC_EXP          0x01
#define PT_CYC_BITS_FIRST   5
#define PT_CYC_BITS         7

/* The number of CR3 bits that are not in a PIP. */
#define PT_PIP_CR3_SHIFT    5

/* Little endian integer of @bytes bytes. */
static size_t put_int(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        out[i] = value >> (8 * i);
    }
    return bytes;
}

static size_t put_ext(uint8_t *out, uint8_t opcode)
{
    out[0] = PT_EXT;
    out[1] = opcode;
    return 2;
}

size_t pt_packet_psb(uint8_t *out)
{
    size_t n = 0;

    while (n < PT_PACKET_MAX) {
        n += put_ext(out + n, PT_EXT_PSB);
    }
    return n;
}

size_t pt_packet_psbend(uint8_t *out)
{
    return put_ext(out, PT_EXT_PSBEND);
}

size_t pt_packet_ovf(uint8_t *out)
{
    return put_ext(out, PT_EXT_OVF);
}

size_t pt_packet_tracestop(uint8_t *out)
{
    return put_ext(out, PT_EXT_TRACESTOP);
}

size_t pt_packet_mnt(uint8_t *out, uint64_t payload)
{
    size_t n = put_ext(out, PT_EXT_EXT);

    out[n++] = PT_EXT_EXT_MNT;
    return n + put_int(out + n, payload, 8);
}

size_t pt_packet_cbr(uint8_t *out, uint8_t ratio)
{
    size_t n = put_ext(out, PT_EXT_CBR);

    return n + put_int(out + n, ratio, 2);
}

size_t pt_packet_tsc(uint8_t *out, uint64_t tsc)
{
    out[0] = PT_OP_TSC;
    return 1 + put_int(out + 1, tsc, 7);
}

size_t pt_packet_tma(uint8_t *out, uint16_t ctc, uint16_t fast)
{
    size_t n = put_ext(out, PT_EXT_TMA);

    n += put_int(out + n, ctc, 2);
    out[n++] = 0;
    return n + put_int(out + n, fast, 2);
}

size_t pt_packet_mtc(uint8_t *out, uint8_t ctc)
{
    out[0] = PT_OP_MTC;
    out[1] = ctc;
    return 2;
}

size_t pt_packet_cyc(uint8_t *out, uint64_t cycles)
{
    size_t n = 1;

    out[0] = PT_OP_CYC | (cycles & ((1 << PT_CYC_BITS_FIRST) - 1)) << 3;
    cycles >>= PT_CYC_BITS_FIRST;
    if (cycles) {
        out[0] |= PT_CYC_EXP_FIRST;
    }
    while (cycles) {
        out[n] = (cycles & ((1 << PT_CYC_BITS) - 1)) << 1;
        cycles >>= PT_CYC_BITS;
        if (cycles) {
            out[n] |= PT_CYC_EXP;
        }
        n++;
    }
    return n;
}

size_t pt_packet_pip(uint8_t *out, uint64_t cr3, bool nonroot)
{
    size_t n = put_ext(out, PT_EXT_PIP);

    return n + put_int(out + n, cr3 >> PT_PIP_CR3_SHIFT << 1 | nonroot, 6);
}

size_t pt_packet_mode_exec(uint8_t *out, uint8_t mode)
{
    out[0] = PT_OP_MODE;
    out[1] = mode;
    return 2;
}

size_t pt_packet_mode_tsx(uint8_t *out)
{
    out[0] = PT_OP_MODE;
    out[1] = PT_MODE_LEAF_TSX;
    return 2;
}

size_t pt_packet_mwait(uint8_t *out, uint32_t hints, uint32_t ext)
{
    size_t n = put_ext(out, PT_EXT_MWAIT);

    n += put_int(out + n, hints & 0xff, 4);
    return n + put_int(out + n, ext & 0x3, 4);
}

size_t pt_packet_pwre(uint8_t *out, bool hw, uint8_t state, uint8_t substate)
{
    size_t n = put_ext(out, PT_EXT_PWRE);

    out[n++] = hw ? 0x80 : 0;
    out[n++] = (state & 0xf) << 4 | (substate & 0xf);
    return n;
}

size_t pt_packet_pwrx(uint8_t *out, uint8_t last, uint8_t deepest,
                      uint8_t wake)
{
    size_t n = put_ext(out, PT_EXT_PWRX);

    out[n++] = (last & 0xf) << 4 | (deepest & 0xf);
    out[n++] = wake & 0xf;
    return n + put_int(out + n, 0, 3);
}

size_t pt_packet_exstop(uint8_t *out, bool ip)
{
    return put_ext(out, PT_EXT_EXSTOP | (ip ? PT_IP_FOLLOWS : 0));
}

size_t pt_packet_cfe(uint8_t *out, enum pt_cfe type, uint8_t vector, bool ip)
{
    size_t n = put_ext(out, PT_EXT_CFE);

    out[n++] = type | (ip ? PT_IP_FOLLOWS : 0);
    out[n++] = vector;
    return n;
}

size_t pt_packet_evd(uint8_t *out, enum pt_evd type, uint64_t payload)
{
    size_t n = put_ext(out, PT_EXT_EVD);

    out[n++] = type;
    return n + put_int(out + n, payload, 8);
}

size_t pt_packet_bbp(uint8_t *out, enum pt_block_type type, unsigned bytes)
{
    size_t n = put_ext(out, PT_EXT_BBP);

    out[n++] = type | (bytes == 4 ? PT_BBP_SHORT : 0);
    return n;
}

size_t pt_packet_bip(uint8_t *out, unsigned id, uint64_t payload,
                     unsigned bytes)
{
    out[0] = PT_OP_BIP | id << PT_BIP_ID_SHIFT;
    return 1 + put_int(out + 1, payload, bytes);
}

size_t pt_packet_bep(uint8_t *out, bool ip)
{
    return put_ext(out, PT_EXT_BEP | (ip ? PT_IP_FOLLOWS : 0));
}

size_t pt_packet_ptw(uint8_t *out, uint64_t payload, unsigned bytes, bool ip)
{
    uint8_t op = PT_EXT_PTW | (bytes == 8 ? 0x20 : 0);
    size_t n = put_ext(out, op | (ip ? PT_IP_FOLLOWS : 0));

    return n + put_int(out + n, payload, bytes);
}

size_t pt_packet_tnt(uint8_t *out, uint64_t bits, unsigned count)
{
    /* The stop bit stands above the oldest outcome. */
    uint64_t payload = bits | 1ULL << count;
    size_t n;

    if (count <= PT_TNT_SHORT_MAX) {
        out[0] = payload << 1;
        return 1;
    }
    n = put_ext(out, PT_EXT_TNT);
    return n + put_int(out + n, payload, 6);
}

static uint64_t sext48(uint64_t ip)
{
    return (uint64_t)((int64_t)(ip << 16) >> 16);
}

size_t pt_packet_ip(uint8_t *out, enum pt_ip_packet type, uint64_t ip,
                    uint64_t *last, bool full)
{
    uint8_t ipbytes = PT_IPBYTES_FULL;
    size_t bytes = 8;

    if (!full && ip >> 16 == *last >> 16) {
        ipbytes = PT_IPBYTES_16;
        bytes = 2;
    } else if (!full && ip >> 32 == *last >> 32) {
        ipbytes = PT_IPBYTES_32;
        bytes = 4;
    } else if (sext48(ip) == ip) {
        ipbytes = PT_IPBYTES_SEXT48;
        bytes = 6;
    }
    *last = ip;
    out[0] = type | ipbytes << PT_IPBYTES_SHIFT;
    return 1 + put_int(out + 1, ip, bytes);
}

size_t pt_packet_ip48(uint8_t *out, enum pt_ip_packet type, uint64_t ip,
                      uint64_t *last)
{
    *last = ip;
    out[0] = type | PT_IPBYTES_48 << PT_IPBYTES_SHIFT;
    return 1 + put_int(out + 1, ip, 6);
}

size_t pt_packet_ip_none(uint8_t *out, enum pt_ip_packet type)
{
    out[0] = type | PT_IPBYTES_NONE << PT_IPBYTES_SHIFT;
    return 1;
}
