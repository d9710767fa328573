/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the model shows on request only: manners that the SDM permits a
 * processor, and that software must bear, and errata of named processors.
 * Each is a property; the same seed makes the same choices for the same
 * sequence of packets.
 */
#ifndef TARGET_I386_TCG_PERFMON_PT_RUDE_H
#define TARGET_I386_TCG_PERFMON_PT_RUDE_H

/**
 * enum pt_rude - bit numbers in PTConfig::rude
 * @PT_RUDE_PAD: PAD between any two packets (SDM 33.4.2.20)
 * @PT_RUDE_MNT: MNT, too (33.4.2.19)
 * @PT_RUDE_PSB: more PSB+ than the period asks for (33.4.2.17)
 * @PT_RUDE_TNT: TNT with fewer bits than fit (33.4.2.1)
 * @PT_RUDE_CYC: CYC with no packet that it belongs to (33.4.2.14)
 * @PT_RUDE_MTC: MTC that is lost (33.4.2.12)
 * @PT_RUDE_IP: IPs that are compressed less than could be, or by 48 bits
 *              without sign extension (33.4.2.2)
 * @PT_RUDE_PSB_IP: the FUP of PSB+ is compressed, against zero (33.3.7)
 * @PT_RUDE_MIDDLE: MTC and CYC in PSB+ and between the packets of one event:
 *                  FUP and TIP, OVF and FUP, PTW, CFE, MODE or EXSTOP and FUP
 *                  (33.3.7, 33.4.1)
 * @PT_RUDE_CBR: the frequency changes: CBR, and cycles that are no TSC ticks
 *               (33.4.2.10)
 * @PT_RUDE_DEFER: TIPs that come behind the TNT of later branches (33.4.2.3)
 * @PT_RUDE_TOPA: the entries of ToPA are read when TraceEn is set, and those
 *                that software changes later are not seen (33.2.7.2)
 */
enum pt_rude {
    PT_RUDE_PAD,
    PT_RUDE_MNT,
    PT_RUDE_PSB,
    PT_RUDE_TNT,
    PT_RUDE_CYC,
    PT_RUDE_MTC,
    PT_RUDE_IP,
    PT_RUDE_PSB_IP,
    PT_RUDE_MIDDLE,
    PT_RUDE_CBR,
    PT_RUDE_DEFER,
    PT_RUDE_TOPA,
};

/**
 * enum pt_erratum - bit numbers in PTConfig::errata
 * @PT_BDM70: the PSB+ before TIP.PGE has MODE.Exec and FUP (Broadwell BDM70,
 *            Skylake SKL021)
 * @PT_BDM106: TraceEn without BranchEn is a #GP (Broadwell BDM106, BDD101,
 *             BDE99, BDF101)
 * @PT_SKD007: OVF comes after the first byte of a CYC, in place of the others
 *             (Skylake SKL049)
 * @PT_SKD010: no FUP after an OVF in two (Skylake SKL033)
 * @PT_SKL014: a direct jump or call that leaves the IP ranges has TIP.PGD
 *             without IP (Skylake SKL014)
 * @PT_SKL168: the CYC before a PSB is lost (Skylake SKL168)
 * @PT_APL11: an overflow that ends with TraceEn or ContextEn has OVF and
 *            TIP.PGD (Goldmont APL11)
 * @PT_APL12: OVF is followed by FUP out of the IP ranges, too (Goldmont APL12)
 * @PT_LBR_ALONE: while TraceEn is set no branch is recorded in LBRs, which
 *                read as 0 and cannot be written; they are 0 after it (SDM
 *                33.3.1.2: Broadwell, Skylake)
 */
enum pt_erratum {
    PT_BDM70,
    PT_BDM106,
    PT_SKD007,
    PT_SKD010,
    PT_SKL014,
    PT_SKL168,
    PT_APL11,
    PT_APL12,
    PT_LBR_ALONE,
};

#endif
