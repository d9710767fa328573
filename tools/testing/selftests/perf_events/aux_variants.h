/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Without an include guard: each fixture with no other variants has those of this file, the PMUs
 * on which its tests are made. The name of the fixture is AUX_FIXTURE, and its setup begins with
 * aux_use(variant->pmu).
 */
AUX_VARIANT(AUX_FIXTURE)
{
	const char *pmu;
};

AUX_VARIANT_ADD(AUX_FIXTURE, synth) { .pmu = "aux_synth" };
AUX_VARIANT_ADD(AUX_FIXTURE, pt) { .pmu = "intel_pt" };
AUX_VARIANT_ADD(AUX_FIXTURE, bts) { .pmu = "intel_bts" };
#ifdef AUX_CHUNKS
/* It matters, too, of what chunks of memory the area is. */
AUX_VARIANT_ADD(AUX_FIXTURE, large) { .pmu = "aux_synth_large" };
AUX_VARIANT_ADD(AUX_FIXTURE, no_sg) { .pmu = "aux_synth_no_sg" };
#undef AUX_CHUNKS
#endif
#undef AUX_FIXTURE
