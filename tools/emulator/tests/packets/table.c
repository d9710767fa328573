// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each packet against the bytes that the SDM's chapter on Intel PT shows in
 * its figure of that packet ("Packet Definitions"), written down by hand.
 */
#include <string.h>

#include "packets.h"

/* What lies behind a packet and must not be written. */
#define GUARD		0xcc
#define MAX_BYTES	(PT_PACKET_MAX + 1)

static uint8_t out[MAX_BYTES];

static uint8_t *fresh(void)
{
	memset(out, GUARD, sizeof(out));
	return out;
}

static void check(const char *name, size_t len, const uint8_t *want, size_t want_len)
{
	bool same = len == want_len && !memcmp(out, want, want_len);
	bool beyond = false;

	for (size_t i = len; i < sizeof(out); i++)
		beyond |= out[i] != GUARD;
	if (!point(same && !beyond, "table: %s", name)) {
		diag_bytes("expected", want, want_len);
		diag_bytes("got, with what is behind", out, sizeof(out));
	}
}

#define BYTES(...)	((const uint8_t[]) { __VA_ARGS__ })
/* @call encodes one packet to OUT; the rest are the bytes that it must give. */
#define CHECK(name, call, ...) \
	check(name, call, BYTES(__VA_ARGS__), sizeof(BYTES(__VA_ARGS__)))
#define OUT		fresh()

static void table_sync(void)
{
	CHECK("PSB", pt_packet_psb(OUT),
	      0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	      0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82);
	CHECK("PSBEND", pt_packet_psbend(OUT), 0x02, 0x23);
	CHECK("OVF", pt_packet_ovf(OUT), 0x02, 0xf3);
	CHECK("TraceStop", pt_packet_tracestop(OUT), 0x02, 0x83);
	CHECK("MNT", pt_packet_mnt(OUT, 0x1122334455667788),
	      0x02, 0xc3, 0x88, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
}

static void table_tnt(void)
{
	CHECK("TNT, one not taken", pt_packet_tnt(OUT, 0, 1), 0x04);
	CHECK("TNT, one taken", pt_packet_tnt(OUT, 1, 1), 0x06);
	CHECK("TNT, two, the older is the higher", pt_packet_tnt(OUT, 0x2, 2), 0x0c);
	CHECK("TNT, six", pt_packet_tnt(OUT, 0x2d, 6), 0xda);
	CHECK("TNT, seven need the long packet", pt_packet_tnt(OUT, 0x01, 7),
	      0x02, 0xa3, 0x81, 0x00, 0x00, 0x00, 0x00, 0x00);
	CHECK("TNT, 47", pt_packet_tnt(OUT, 0x123456789abc, 47),
	      0x02, 0xa3, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x92);
}

static void table_time(void)
{
	CHECK("TSC, the low 56 bits", pt_packet_tsc(OUT, 0xee11223344556677),
	      0x19, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
	CHECK("TMA", pt_packet_tma(OUT, 0x1234, 0x156),
	      0x02, 0x73, 0x34, 0x12, 0x00, 0x56, 0x01);
	CHECK("MTC", pt_packet_mtc(OUT, 0xa5), 0x59, 0xa5);
	CHECK("CBR", pt_packet_cbr(OUT, 0x19), 0x02, 0x03, 0x19, 0x00);
	CHECK("CYC, 0", pt_packet_cyc(OUT, 0), 0x03);
	CHECK("CYC, the most in one byte", pt_packet_cyc(OUT, 31), 0xfb);
	CHECK("CYC, the least in two", pt_packet_cyc(OUT, 32), 0x07, 0x02);
	CHECK("CYC, the most in two", pt_packet_cyc(OUT, 4095), 0xff, 0xfe);
	CHECK("CYC, the least in three", pt_packet_cyc(OUT, 4096), 0x07, 0x01, 0x02);
}

static void table_mode(void)
{
	CHECK("PIP, CR3 bits 51 to 5", pt_packet_pip(OUT, 0x123456789a000, false),
	      0x02, 0x43, 0x00, 0x9a, 0x78, 0x56, 0x34, 0x12);
	CHECK("PIP, not root", pt_packet_pip(OUT, 0xfffffffffffe0, true),
	      0x02, 0x43, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
	CHECK("MODE.Exec, 16 bits", pt_packet_mode_exec(OUT, 0), 0x99, 0x00);
	CHECK("MODE.Exec, 64 bits", pt_packet_mode_exec(OUT, PT_MODE_EXEC_CSL), 0x99, 0x01);
	CHECK("MODE.Exec, 32 bits", pt_packet_mode_exec(OUT, PT_MODE_EXEC_CSD), 0x99, 0x02);
	CHECK("MODE.Exec, interrupt flag",
	      pt_packet_mode_exec(OUT, PT_MODE_EXEC_CSL | PT_MODE_EXEC_IF), 0x99, 0x05);
	CHECK("MODE.TSX", pt_packet_mode_tsx(OUT), 0x99, 0x20);
}

static void table_event(void)
{
	CHECK("PTW, 4 bytes", pt_packet_ptw(OUT, 0x11223344, 4, false),
	      0x02, 0x12, 0x44, 0x33, 0x22, 0x11);
	CHECK("PTW, 4 bytes, IP", pt_packet_ptw(OUT, 0x11223344, 4, true),
	      0x02, 0x92, 0x44, 0x33, 0x22, 0x11);
	CHECK("PTW, 8 bytes", pt_packet_ptw(OUT, 0x1122334455667788, 8, false),
	      0x02, 0x32, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
	CHECK("PTW, 8 bytes, IP", pt_packet_ptw(OUT, 0x1122334455667788, 8, true),
	      0x02, 0xb2, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
	CHECK("CFE, interrupt", pt_packet_cfe(OUT, PT_CFE_INTR, 0x0e, true),
	      0x02, 0x13, 0x81, 0x0e);
	CHECK("CFE, IRET", pt_packet_cfe(OUT, PT_CFE_IRET, 0, false), 0x02, 0x13, 0x02, 0x00);
	CHECK("CFE, SMI", pt_packet_cfe(OUT, PT_CFE_SMI, 0, true), 0x02, 0x13, 0x83, 0x00);
	CHECK("CFE, RSM", pt_packet_cfe(OUT, PT_CFE_RSM, 0, false), 0x02, 0x13, 0x04, 0x00);
	CHECK("CFE, SIPI", pt_packet_cfe(OUT, PT_CFE_SIPI, 0x08, false), 0x02, 0x13, 0x05, 0x08);
	CHECK("CFE, INIT", pt_packet_cfe(OUT, PT_CFE_INIT, 0, true), 0x02, 0x13, 0x86, 0x00);
	CHECK("BBP, 8 bytes", pt_packet_bbp(OUT, PT_BLOCK_PEBS_BASIC, 8), 0x02, 0x63, 0x04);
	CHECK("BBP, 4 bytes", pt_packet_bbp(OUT, PT_BLOCK_GPR, 4), 0x02, 0x63, 0x81);
	CHECK("BIP, 8 bytes", pt_packet_bip(OUT, 2, 0x1122334455667788, 8),
	      0x14, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
	CHECK("BIP, 4 bytes", pt_packet_bip(OUT, 31, 0x11223344, 4), 0xfc, 0x44, 0x33, 0x22, 0x11);
	CHECK("BEP", pt_packet_bep(OUT, false), 0x02, 0x33);
	CHECK("BEP, IP", pt_packet_bep(OUT, true), 0x02, 0xb3);
	CHECK("EVD, CR2", pt_packet_evd(OUT, PT_EVD_CR2, 0x1122334455667788),
	      0x02, 0x53, 0x00, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
}

static void table_power(void)
{
	CHECK("MWAIT, EAX bits 7 to 0 and ECX bits 1 to 0",
	      pt_packet_mwait(OUT, 0xffffff21, 0xffffffff),
	      0x02, 0xc2, 0x21, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00);
	CHECK("PWRE", pt_packet_pwre(OUT, false, 0x2, 0x1), 0x02, 0x22, 0x00, 0x21);
	CHECK("PWRE, by hardware", pt_packet_pwre(OUT, true, 0xf, 0x0), 0x02, 0x22, 0x80, 0xf0);
	CHECK("PWRX, last above deepest", pt_packet_pwrx(OUT, 0x1, 0x4, 0x8),
	      0x02, 0xa2, 0x14, 0x08, 0x00, 0x00, 0x00);
	CHECK("EXSTOP", pt_packet_exstop(OUT, false), 0x02, 0x62);
	CHECK("EXSTOP, IP", pt_packet_exstop(OUT, true), 0x02, 0xe2);
}

static void table_ip(void)
{
	uint64_t last = 0;

	CHECK("TIP, 48 bits extended", pt_packet_ip(OUT, PT_TIP, 0xffffffff81234567, &last, false),
	      0x6d, 0x67, 0x45, 0x23, 0x81, 0xff, 0xff);
	CHECK("TIP.PGE, 16 bits", pt_packet_ip(OUT, PT_TIP_PGE, 0xffffffff8123abcd, &last, false),
	      0x31, 0xcd, 0xab);
	CHECK("FUP, 32 bits", pt_packet_ip(OUT, PT_FUP, 0xffffffff92340102, &last, false),
	      0x5d, 0x02, 0x01, 0x34, 0x92);
	CHECK("TIP.PGD, 64 bits", pt_packet_ip(OUT, PT_TIP_PGD, 0x1122334455667788, &last, false),
	      0xc1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11);
	CHECK("TIP, in full though near", pt_packet_ip(OUT, PT_TIP, 0x400000, &last, true),
	      0x6d, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00);
	point(last == 0x400000, "table: the last IP follows");
	CHECK("TIP, 48 bits not extended",
	      pt_packet_ip48(OUT, PT_TIP, 0x0000123456789abc, &last),
	      0x8d, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12);
	point(last == 0x0000123456789abc, "table: the last IP follows, 48 bits");
	CHECK("TIP, no IP", pt_packet_ip_none(OUT, PT_TIP), 0x0d);
	CHECK("TIP.PGE, no IP", pt_packet_ip_none(OUT, PT_TIP_PGE), 0x11);
	CHECK("TIP.PGD, no IP", pt_packet_ip_none(OUT, PT_TIP_PGD), 0x01);
	CHECK("FUP, no IP", pt_packet_ip_none(OUT, PT_FUP), 0x1d);
}

void test_table(void)
{
	table_sync();
	table_tnt();
	table_time();
	table_mode();
	table_event();
	table_power();
	table_ip();
}

/* What changes from the last IP, and the length of the packet that tells it. */
static const struct {
	const char *name;
	uint64_t last, ip;
	size_t len;
} compressions[] = {
	{ "the same IP", 0x401000, 0x401000, 3 },
	{ "bit 15 differs", 0x401000, 0x409000, 3 },
	{ "bit 16 differs", 0x401000, 0x411000, 5 },
	{ "bit 31 differs", 0x401000, 0x80401000, 5 },
	{ "bit 32 differs", 0x401000, 0x100401000, 7 },
	{ "bit 46 differs", 0x401000, 0x400000401000, 7 },
	{ "user to kernel", 0x401000, 0xffffffff81000000, 7 },
	{ "not canonical", 0x401000, 0x0001000000401000, 9 },
	{ "not canonical, bit 47", 0x401000, 0x0000800000401000, 9 },
	{ "not canonical, near the last", 0x0001000000401000, 0x0001000000401008, 3 },
	{ "the top of the user's half", 0, 0x00007fffffffffff, 7 },
	{ "the bottom of the kernel's half", 0, 0xffff800000000000, 7 },
};

void test_compression(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(compressions); i++) {
		uint64_t last = compressions[i].last;
		size_t len = pt_packet_ip(OUT, PT_TIP, compressions[i].ip, &last, false);

		point(len == compressions[i].len && last == compressions[i].ip,
		      "compression: %s: %zu bytes", compressions[i].name, compressions[i].len);
		if (len != compressions[i].len)
			diag_bytes("got", out, len);
	}
}
