/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of Intel PT, compared with bytes that were put together by hand
 * from the figures of the SDM (volume 3, 33.4.2 "Packet Definitions").
 */
#include "qemu/osdep.h"
#include "target/i386/tcg/perfmon/pt_packet.h"

/* What lies behind a packet and must not be written. */
#define GUARD       0xcc

static uint8_t out[PT_PACKET_MAX + 1];

static uint8_t *fresh(void)
{
    memset(out, GUARD, sizeof(out));
    return out;
}

static void check(size_t len, const uint8_t *want, size_t want_len)
{
    g_assert_cmpmem(out, len, want, want_len);
    for (size_t i = len; i < sizeof(out); i++) {
        g_assert_cmphex(out[i], ==, GUARD);
    }
}

#define BYTES(...)  ((const uint8_t[]) { __VA_ARGS__ })
/* @call encodes one packet to fresh(); the rest are the bytes it must give. */
#define CHECK(call, ...) \
    check(call, BYTES(__VA_ARGS__), sizeof(BYTES(__VA_ARGS__)))

static void test_sync(void)
{
    CHECK(pt_packet_psb(fresh()),
          0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
          0x82, 0x02, 0x82, 0x02, 0x82);
    CHECK(pt_packet_psbend(fresh()), 0x02, 0x23);
    CHECK(pt_packet_ovf(fresh()), 0x02, 0xf3);
    CHECK(pt_packet_tracestop(fresh()), 0x02, 0x83);
    CHECK(pt_packet_mnt(fresh(), 0x1122334455667788),
          0x02, 0xc3, 0x88, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
}

static void test_tnt(void)
{
    CHECK(pt_packet_tnt(fresh(), 0, 1), 0x04);
    CHECK(pt_packet_tnt(fresh(), 1, 1), 0x06);
    CHECK(pt_packet_tnt(fresh(), 0x2, 2), 0x0c);
    CHECK(pt_packet_tnt(fresh(), 0x2d, 6), 0xda);
    CHECK(pt_packet_tnt(fresh(), 0x01, 7),
          0x02, 0xa3, 0x81, 0x00, 0x00, 0x00, 0x00, 0x00);
    CHECK(pt_packet_tnt(fresh(), 0x123456789abc, 47),
          0x02, 0xa3, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x92);
}

static void test_time(void)
{
    CHECK(pt_packet_tsc(fresh(), 0xee11223344556677),
          0x19, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
    CHECK(pt_packet_tma(fresh(), 0x1234, 0x156),
          0x02, 0x73, 0x34, 0x12, 0x00, 0x56, 0x01);
    CHECK(pt_packet_mtc(fresh(), 0xa5), 0x59, 0xa5);
    CHECK(pt_packet_cbr(fresh(), 0x19), 0x02, 0x03, 0x19, 0x00);
    CHECK(pt_packet_cyc(fresh(), 0), 0x03);
    CHECK(pt_packet_cyc(fresh(), 31), 0xfb);
    CHECK(pt_packet_cyc(fresh(), 32), 0x07, 0x02);
    CHECK(pt_packet_cyc(fresh(), 4095), 0xff, 0xfe);
    CHECK(pt_packet_cyc(fresh(), 4096), 0x07, 0x01, 0x02);
}

static void test_mode(void)
{
    CHECK(pt_packet_pip(fresh(), 0x123456789a000, false),
          0x02, 0x43, 0x00, 0x9a, 0x78, 0x56, 0x34, 0x12);
    CHECK(pt_packet_pip(fresh(), 0xfffffffffffe0, true),
          0x02, 0x43, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
    CHECK(pt_packet_mode_exec(fresh(), 0), 0x99, 0x00);
    CHECK(pt_packet_mode_exec(fresh(), PT_MODE_EXEC_CSL), 0x99, 0x01);
    CHECK(pt_packet_mode_exec(fresh(), PT_MODE_EXEC_CSD), 0x99, 0x02);
    CHECK(pt_packet_mode_exec(fresh(), PT_MODE_EXEC_CSL | PT_MODE_EXEC_IF),
          0x99, 0x05);
    CHECK(pt_packet_mode_tsx(fresh()), 0x99, 0x20);
}

static void test_event(void)
{
    CHECK(pt_packet_ptw(fresh(), 0x11223344, 4, false),
          0x02, 0x12, 0x44, 0x33, 0x22, 0x11);
    CHECK(pt_packet_ptw(fresh(), 0x11223344, 4, true),
          0x02, 0x92, 0x44, 0x33, 0x22, 0x11);
    CHECK(pt_packet_ptw(fresh(), 0x1122334455667788, 8, false),
          0x02, 0x32, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
    CHECK(pt_packet_ptw(fresh(), 0x1122334455667788, 8, true),
          0x02, 0xb2, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
    CHECK(pt_packet_cfe(fresh(), PT_CFE_INTR, 0x0e, true),
          0x02, 0x13, 0x81, 0x0e);
    CHECK(pt_packet_cfe(fresh(), PT_CFE_IRET, 0, false),
          0x02, 0x13, 0x02, 0x00);
    CHECK(pt_packet_cfe(fresh(), PT_CFE_SMI, 0, true), 0x02, 0x13, 0x83, 0x00);
    CHECK(pt_packet_cfe(fresh(), PT_CFE_RSM, 0, false), 0x02, 0x13, 0x04, 0x00);
    CHECK(pt_packet_cfe(fresh(), PT_CFE_SIPI, 0x08, false),
          0x02, 0x13, 0x05, 0x08);
    CHECK(pt_packet_cfe(fresh(), PT_CFE_INIT, 0, true), 0x02, 0x13, 0x86, 0x00);
    CHECK(pt_packet_bbp(fresh(), PT_BLOCK_PEBS_BASIC, 8), 0x02, 0x63, 0x04);
    CHECK(pt_packet_bbp(fresh(), PT_BLOCK_GPR, 4), 0x02, 0x63, 0x81);
    CHECK(pt_packet_bip(fresh(), 2, 0x1122334455667788, 8),
          0x14, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
    CHECK(pt_packet_bip(fresh(), 31, 0x11223344, 4),
          0xfc, 0x44, 0x33, 0x22, 0x11);
    CHECK(pt_packet_bep(fresh(), false), 0x02, 0x33);
    CHECK(pt_packet_bep(fresh(), true), 0x02, 0xb3);
    CHECK(pt_packet_evd(fresh(), PT_EVD_CR2, 0x1122334455667788),
          0x02, 0x53, 0x00, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
}

static void test_power(void)
{
    CHECK(pt_packet_mwait(fresh(), 0xffffff21, 0xffffffff),
          0x02, 0xc2, 0x21, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00);
    CHECK(pt_packet_pwre(fresh(), false, 0x2, 0x1), 0x02, 0x22, 0x00, 0x21);
    CHECK(pt_packet_pwre(fresh(), true, 0xf, 0x0), 0x02, 0x22, 0x80, 0xf0);
    CHECK(pt_packet_pwrx(fresh(), 0x1, 0x4, 0x8),
          0x02, 0xa2, 0x14, 0x08, 0x00, 0x00, 0x00);
    CHECK(pt_packet_exstop(fresh(), false), 0x02, 0x62);
    CHECK(pt_packet_exstop(fresh(), true), 0x02, 0xe2);
}

static void test_ip(void)
{
    uint64_t last = 0;

    CHECK(pt_packet_ip(fresh(), PT_TIP, 0xffffffff81234567, &last, false),
          0x6d, 0x67, 0x45, 0x23, 0x81, 0xff, 0xff);
    CHECK(pt_packet_ip(fresh(), PT_TIP_PGE, 0xffffffff8123abcd, &last, false),
          0x31, 0xcd, 0xab);
    CHECK(pt_packet_ip(fresh(), PT_FUP, 0xffffffff92340102, &last, false),
          0x5d, 0x02, 0x01, 0x34, 0x92);
    CHECK(pt_packet_ip(fresh(), PT_TIP_PGD, 0x1122334455667788, &last, false),
          0xc1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
    CHECK(pt_packet_ip(fresh(), PT_TIP, 0x400000, &last, true),
          0x6d, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00);
    CHECK(pt_packet_ip48(fresh(), PT_TIP, 0x0000123456789abc, &last),
          0x8d, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12);
    CHECK(pt_packet_ip_none(fresh(), PT_TIP), 0x0d);
    CHECK(pt_packet_ip_none(fresh(), PT_TIP_PGE), 0x11);
    CHECK(pt_packet_ip_none(fresh(), PT_TIP_PGD), 0x01);
    CHECK(pt_packet_ip_none(fresh(), PT_FUP), 0x1d);
}

/* Which compression is chosen, by what changes from the last IP. */
static void test_compression(void)
{
    static const struct {
        uint64_t last, ip;
        size_t len;
    } cases[] = {
        { 0x401000, 0x401000, 3 },
        { 0x401000, 0x409000, 3 },
        { 0x401000, 0x411000, 5 },
        { 0x401000, 0x80401000, 5 },
        { 0x401000, 0x100401000, 7 },
        { 0x401000, 0x400000401000, 7 },
        { 0x401000, 0xffffffff81000000, 7 },
        { 0x401000, 0x0001000000401000, 9 },
        { 0x401000, 0x0000800000401000, 9 },
        { 0x0001000000401000, 0x0001000000401008, 3 },
        { 0, 0x00007fffffffffff, 7 },
        { 0, 0xffff800000000000, 7 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t last = cases[i].last;
        size_t len = pt_packet_ip(fresh(), PT_TIP, cases[i].ip, &last, false);

        g_assert_cmpuint(len, ==, cases[i].len);
        g_assert_cmphex(last, ==, cases[i].ip);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/i386/pt-packet/sync", test_sync);
    g_test_add_func("/i386/pt-packet/tnt", test_tnt);
    g_test_add_func("/i386/pt-packet/time", test_time);
    g_test_add_func("/i386/pt-packet/mode", test_mode);
    g_test_add_func("/i386/pt-packet/event", test_event);
    g_test_add_func("/i386/pt-packet/power", test_power);
    g_test_add_func("/i386/pt-packet/ip", test_ip);
    g_test_add_func("/i386/pt-packet/compression", test_compression);
    return g_test_run();
}
