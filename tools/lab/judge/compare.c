// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare.c - oracle-compare: is the decoded instruction stream the executed one?
 *
 * What exit status 0 asserts: for each vCPU, the sequence of instruction addresses that retired
 * while RTIT_CTL.TraceEn was set and the trace MSRs selected the instruction (privilege level,
 * CR3, address ranges) is the sequence that libipt decoded from that CPU's buffer, from the
 * first enable to the last disable, without one instruction more or less; where PIP packets told
 * the address space, it is the one that was in CR3; nothing was lost; at least --min
 * instructions were compared; and the log itself has no place that could not be explained.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executed.h"
#include "insnfile.h"
#include "symbols.h"

#define MAX_CPUS	64
#define CONTEXT		12

struct options {
	/* insns is NULL with --log-only */
	const char *insns, *dir, *map;
	uint64_t min, min_kernel, min_user;
};

/* The decoded records of one CPU, in file order. */
struct decoded {
	const struct insn_rec **runs;
	size_t *run_len;
	size_t nr_runs, nr_lens;
	/* reading position */
	size_t run, at;
};

struct totals {
	uint64_t compared, user, kernel, cr3_checked, enables, inconsistent, cpus;
};

struct history {
	uint64_t ip[CONTEXT];
	uint64_t nr;
};

static const char usage_text[] =
	"usage: oracle-compare [OPTIONS] INSNS ORACLE_DIR\n"
	"       oracle-compare [OPTIONS] --log-only ORACLE_DIR\n"
	"Compare the decoded instructions (ptwalk --insns INSNS) with those that QEMU executed\n"
	"(oracle.so,out=ORACLE_DIR), one by one, for each vCPU.\n"
	"  --min N           fail when fewer than N instructions were compared\n"
	"  --min-user N      the same for user code\n"
	"  --min-kernel N    the same for kernel code\n"
	"  --log-only        only read the log, and fail where it cannot be explained\n"
	"  --map SYSTEM_MAP  print kernel addresses with symbol names\n";

static void parse_number(const char *option, const char *text, uint64_t *value)
{
	if (!parse_u64(text, value))
		die("--%s: '%s' is not a number", option, text);
}

static void parse_options(int argc, char **argv, struct options *opt)
{
	static const struct option longopts[] = {
		{ "min", required_argument, NULL, 'm' },
		{ "min-user", required_argument, NULL, 'u' },
		{ "min-kernel", required_argument, NULL, 'k' },
		{ "map", required_argument, NULL, 's' },
		{ "log-only", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool log_only = false;
	int c;

	memset(opt, 0, sizeof(*opt));
	opt->min = 1;
	while ((c = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		switch (c) {
		case 'm': parse_number("min", optarg, &opt->min); break;
		case 'u': parse_number("min-user", optarg, &opt->min_user); break;
		case 'k': parse_number("min-kernel", optarg, &opt->min_kernel); break;
		case 'l': log_only = true; break;
		case 's': opt->map = optarg; break;
		case 'h': fputs(usage_text, stdout); exit(0);
		default: exit(1);
		}
	}
	if (argc - optind != 2 - log_only)
		die("name the instruction file and the oracle's directory; see --help");
	if (!log_only)
		opt->insns = argv[optind++];
	opt->dir = argv[optind];
}

static void load_decoded(const char *path, struct mapped_file *file, struct decoded *cpus)
{
	const struct insn_rec *rec, *end;
	size_t *len = NULL;

	if (!map_file(path, file))
		die("%s: %s", path, strerror(errno));
	if (file->size < 8 || memcmp(file->data, INSNFILE_MAGIC, 8) || (file->size - 8) % 16)
		die("%s: not written by ptwalk --insns of this version", path);
	rec = (const void *)(file->data + 8);
	end = rec + (file->size - 8) / sizeof(*rec);
	for (; rec < end; rec++) {
		uint32_t cpu = (uint32_t)rec->ip;
		const struct insn_rec **run;

		if (rec->kind != INSN_STREAM) {
			if (!len)
				die("%s: damaged: instructions before any stream", path);
			(*len)++;
			continue;
		}
		if (cpu == UINT32_MAX)
			die("%s: holds per-thread traces; record per CPU for this", path);
		if (cpu >= MAX_CPUS)
			die("%s: CPU %u; at most %u are handled", path, cpu, MAX_CPUS);
		run = array_add(cpus[cpu].runs, cpus[cpu].nr_runs);
		*run = rec + 1;
		len = array_add(cpus[cpu].run_len, cpus[cpu].nr_lens);
		*len = 0;
	}
}

/* The next retired instruction; *lost is set when a loss stands before it. */
static const struct insn_rec *decoded_next(struct decoded *dec, bool *lost)
{
	while (dec->run < dec->nr_runs) {
		const struct insn_rec *rec;

		if (dec->at >= dec->run_len[dec->run]) {
			dec->run++;
			dec->at = 0;
			continue;
		}
		rec = &dec->runs[dec->run][dec->at++];
		if (rec->kind == INSN_RETIRED)
			return rec;
		if (rec->kind == INSN_LOST)
			*lost = true;
	}
	return NULL;
}

static void remember(struct history *history, uint64_t ip)
{
	history->ip[history->nr++ % CONTEXT] = ip;
}

static void print_ip(const char *what, uint64_t ip)
{
	char text[128];

	symbol_format(ip, text, sizeof(text));
	printf("  %-9s %016" PRIx64 " %s\n", what, ip, text);
}

static void print_mismatch(unsigned int cpu, uint64_t number, const struct history *history,
			   struct executed *ex, const struct executed_insn *e,
			   struct decoded *dec, const struct insn_rec *d)
{
	uint64_t i = history->nr > CONTEXT ? history->nr - CONTEXT : 0;
	struct executed_insn more;
	bool lost = false;

	printf("mismatch on cpu %u at its instruction %" PRIu64 "\n", cpu, number);
	for (; i < history->nr; i++)
		print_ip("both", history->ip[i % CONTEXT]);
	if (e)
		print_ip("executed", e->ip);
	else
		printf("  executed  nothing more\n");
	for (i = 1; e && i < CONTEXT && executed_next(ex, &more); i++)
		print_ip(more.first ? "then (on)" : "then", more.ip);
	if (d)
		print_ip("decoded", d->ip);
	else
		printf("  decoded   nothing more\n");
	for (i = 1; d && i < CONTEXT && (d = decoded_next(dec, &lost)); i++)
		print_ip("then", d->ip);
}

static bool check_cr3(unsigned int cpu, uint64_t number, const struct executed_insn *e,
		      const struct insn_rec *d, struct totals *totals)
{
	if (!e->cr3_frame || !d->cr3_frame)
		return true;
	totals->cr3_checked++;
	if (e->cr3_frame == d->cr3_frame)
		return true;
	printf("wrong address space on cpu %u at its instruction %" PRIu64 " (ip %016" PRIx64
	       "): CR3 was 0x%x000, PIP said 0x%x000\n", cpu, number, e->ip, e->cr3_frame,
	       d->cr3_frame);
	return false;
}

static bool compare_cpu(unsigned int cpu, struct executed *ex, struct decoded *dec,
			struct totals *totals)
{
	struct history history = { .nr = 0 };
	uint64_t number;

	for (number = 0;; number++) {
		struct executed_insn e = { 0 };
		bool have = executed_next(ex, &e), lost = false;
		const struct insn_rec *d = decoded_next(dec, &lost);

		if (lost) {
			printf("trace data was lost on cpu %u before its instruction %" PRIu64
			       ": nothing can be said about the rest\n", cpu, number);
			return false;
		}
		if (!have && !d)
			return true;
		if (!have || !d || e.ip != d->ip) {
			print_mismatch(cpu, number, &history, ex, have ? &e : NULL, dec, d);
			return false;
		}
		if (!check_cr3(cpu, number, &e, d, totals))
			return false;
		remember(&history, e.ip);
		totals->compared++;
		if (e.ip >> 63)
			totals->kernel++;
		else
			totals->user++;
	}
}

/* Nothing to compare with: count what the log tells. */
static void read_cpu(struct executed *ex, struct totals *totals)
{
	struct executed_insn e;

	while (executed_next(ex, &e)) {
		totals->compared++;
		if (e.ip >> 63)
			totals->kernel++;
		else
			totals->user++;
	}
}

static bool compare_all(const struct options *opt, struct decoded *cpus, struct totals *totals)
{
	struct blocks blocks;
	unsigned int cpu;
	bool ok = true;

	blocks_load(&blocks, opt->dir);
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		struct executed ex;

		if (!executed_open(&ex, &blocks, opt->dir, cpu)) {
			if (cpus[cpu].nr_runs)
				die("%s/cpu%u: %s", opt->dir, cpu, strerror(errno));
			continue;
		}
		totals->cpus++;
		if (opt->insns)
			ok = compare_cpu(cpu, &ex, &cpus[cpu], totals) && ok;
		else
			read_cpu(&ex, totals);
		totals->enables += ex.enables;
		totals->inconsistent += ex.inconsistent;
		executed_close(&ex);
	}
	if (!totals->cpus)
		die("%s: no log of any vCPU in it", opt->dir);
	blocks_free(&blocks);
	return ok;
}

static bool demand(const char *what, uint64_t have, uint64_t want)
{
	if (have >= want)
		return true;
	printf("too little: %" PRIu64 " %s instructions compared, %" PRIu64 " demanded\n", have,
	       what, want);
	return false;
}

int main(int argc, char **argv)
{
	static struct decoded cpus[MAX_CPUS];
	struct totals totals = { 0 };
	struct mapped_file file = { 0 };
	struct options opt;
	bool ok;

	util_set_name("oracle-compare");
	parse_options(argc, argv, &opt);
	if (opt.map)
		symbols_load(opt.map);
	if (opt.insns)
		load_decoded(opt.insns, &file, cpus);
	ok = compare_all(&opt, cpus, &totals);
	printf("%s: %" PRIu64 " instructions (%" PRIu64 " user, %" PRIu64 " kernel) on %"
	       PRIu64 " CPUs, %" PRIu64 " enables, %" PRIu64 " with known CR3\n",
	       opt.insns ? "compared" : "executed", totals.compared, totals.user,
	       totals.kernel, totals.cpus, totals.enables, totals.cr3_checked);
	if (totals.inconsistent) {
		printf("the oracle's log has %" PRIu64 " places without explanation\n",
		       totals.inconsistent);
		ok = false;
	}
	ok = demand("", totals.compared, opt.min) && ok;
	ok = demand("user", totals.user, opt.min_user) && ok;
	ok = demand("kernel", totals.kernel, opt.min_kernel) && ok;
	if (opt.insns)
		printf("%s\n", ok ? "equal" : "NOT equal");
	unmap_file(&file);
	return ok ? 0 : 1;
}
