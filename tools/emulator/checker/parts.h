/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.h - traces with holes: each part between two losses must have been executed so. */
#ifndef CHECKER_PARTS_H
#define CHECKER_PARTS_H

#include "found.h"
#include "source.h"

/*
 * Whether all parts of the decoded stream are in the executed one, in order. With "snapshots"
 * each stream is a part, and two of them may overlap; otherwise losses alone divide parts. Says
 * on standard output what is wrong. "what" names the stream there.
 */
bool parts_compare(const char *what, struct source *src, struct decoded *dec, bool snapshots,
		   struct found *found);

#endif
