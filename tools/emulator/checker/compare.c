// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * compare.c - oracle-compare: is the decoded instruction stream the executed one?
 *
 * What exit status 0 asserts: for each vCPU, the sequence of instruction addresses that retired
 * while RTIT_CTL.TraceEn was set and the trace MSRs selected the instruction (privilege level,
 * CR3, address ranges) is the sequence that libipt decoded from that CPU's buffer, from the
 * first enable to the last disable, without one instruction more or less, and as many branches
 * are among them; where PIP packets told the address space, it is the one that was in CR3;
 * nothing was lost; at least --min instructions were compared; and the log itself has no place
 * that could not be explained. With --thread the same for the one thread that was traced, on
 * whatever vCPU it ran.
 *
 * With --losses what was lost, and was told to be, may be missing; see parts.c. With --snapshots
 * each stream is one of the newest data.
 *
 * What this cannot tell: whether TraceEn was set when it should have been. --visits does, where
 * the program says how often it came by an address; and --between, where it was to be set between
 * two addresses and the oracle has written down all that the program did.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "symbols.h"

#define CONTEXT		12

struct options {
	/* insns is NULL with --log-only */
	const char *insns, *dir, *map;
	uint64_t min, min_kernel, min_user;
	bool thread, losses, snapshots;
	/* an address, and how often it must have been reached */
	bool has_visits;
	uint64_t visit, visits;
	/* only what was executed between two addresses was to be traced */
	bool between;
	uint64_t begin, end;
};

struct totals {
	struct found found;
	uint64_t enables, inconsistent, cpus;
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
	"  --thread          the trace is that of a thread, alone, on whatever CPU it ran\n"
	"  --losses          what was lost, and told to be, may be missing\n"
	"  --snapshots       so may be what no snapshot holds\n"
	"  --between B-E     what ran from the instruction at B to before that at E, each time, must\n"
	"                    be the trace (oracle.so,user=, which does not ask what is traced)\n"
	"  --visits IP=N     the instruction at IP must be there N times; with losses, at most\n"
	"  --log-only        only read the log, and fail where it cannot be explained\n"
	"  --map SYSTEM_MAP  print kernel addresses with symbol names\n";

static void parse_number(const char *option, const char *text, uint64_t *value)
{
	if (!parse_u64(text, value))
		die("--%s: '%s' is not a number", option, text);
}

/* Two numbers with a sign between them. */
static bool parse_pair(const char *text, char sign, uint64_t *first, uint64_t *second)
{
	const char *at = strchr(text, sign);
	char *head = xasprintf("%.*s", at ? (int)(at - text) : 0, text);
	bool good = at && parse_u64(head, first) && parse_u64(at + 1, second);

	free(head);
	return good;
}

static void parse_visits(const char *text, struct options *opt)
{
	if (!parse_pair(text, '=', &opt->visit, &opt->visits))
		die("--visits: '%s' is not ADDRESS=NUMBER", text);
	opt->has_visits = true;
}

static void parse_between(const char *text, struct options *opt)
{
	if (!parse_pair(text, '-', &opt->begin, &opt->end) || opt->begin == opt->end)
		die("--between: '%s' is not ADDRESS-ADDRESS", text);
	opt->between = true;
}

static void parse_options(int argc, char **argv, struct options *opt)
{
	static const struct option longopts[] = {
		{ "min", required_argument, NULL, 'm' },
		{ "min-user", required_argument, NULL, 'u' },
		{ "min-kernel", required_argument, NULL, 'k' },
		{ "map", required_argument, NULL, 's' },
		{ "thread", no_argument, NULL, 't' },
		{ "losses", no_argument, NULL, 'x' },
		{ "snapshots", no_argument, NULL, 'n' },
		{ "between", required_argument, NULL, 'b' },
		{ "visits", required_argument, NULL, 'v' },
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
		case 't': opt->thread = true; break;
		case 'x': opt->losses = true; break;
		case 'n': opt->snapshots = true; break;
		case 'b': parse_between(optarg, opt); break;
		case 'v': parse_visits(optarg, opt); break;
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

static void print_mismatch(const char *what, uint64_t number, const struct history *history,
			   struct source *src, const struct executed_insn *e,
			   struct decoded *dec, const struct insn_rec *d)
{
	uint64_t i = history->nr > CONTEXT ? history->nr - CONTEXT : 0;
	struct executed_insn more;
	bool lost = false;

	printf("mismatch on %s at its instruction %" PRIu64 "\n", what, number);
	for (; i < history->nr; i++)
		print_ip("both", history->ip[i % CONTEXT]);
	if (e)
		print_ip("executed", e->ip);
	else
		printf("  executed  nothing more\n");
	for (i = 1; e && i < CONTEXT && source_next(src, &more); i++)
		print_ip(more.first ? "then (on)" : "then", more.ip);
	if (d)
		print_ip("decoded", d->ip);
	else
		printf("  decoded   nothing more\n");
	for (i = 1; d && i < CONTEXT && (d = decoded_next(dec, &lost)); i++)
		print_ip("then", d->ip);
}

static bool compare_whole(const char *what, struct source *src, struct decoded *dec,
			  struct found *found)
{
	struct history history = { .nr = 0 };
	uint64_t number;

	for (number = 0;; number++) {
		struct executed_insn e = { 0 };
		bool have = source_next(src, &e), lost = false;
		const struct insn_rec *d = decoded_next(dec, &lost);

		if (lost) {
			printf("trace data was lost on %s before its instruction %" PRIu64
			       ": nothing can be said about the rest\n", what, number);
			return false;
		}
		if (!have && !d)
			return true;
		if (!have || !d || e.ip != d->ip) {
			print_mismatch(what, number, &history, src, have ? &e : NULL, dec, d);
			return false;
		}
		if (!found_same_cr3(found, what, e.ip, e.cr3_frame, d->cr3_frame))
			return false;
		remember(&history, e.ip);
		found_executed(found, e.branch);
		found_decoded(found, d->ip, d->branch);
	}
}

/* Nothing to compare with: count what the log tells. */
static void read_log(struct source *src, struct found *found)
{
	struct executed_insn e;

	while (source_next(src, &e)) {
		found_executed(found, e.branch);
		found_decoded(found, e.ip, e.branch);
	}
}

static bool compare_source(const struct options *opt, const char *what, struct source *src,
			   struct decoded *dec, struct totals *totals)
{
	struct found *found = &totals->found;
	bool ok = true;
	unsigned int i;

	src->between = opt->between;
	src->begin = opt->begin;
	src->end = opt->end;
	if (!opt->insns)
		read_log(src, found);
	else if (opt->losses || opt->snapshots)
		ok = parts_compare(what, src, dec, opt->snapshots, found);
	else
		ok = compare_whole(what, src, dec, found);
	for (i = 0; i < src->nr; i++) {
		totals->enables += src->cpus[i].enables;
		totals->inconsistent += src->cpus[i].inconsistent;
	}
	totals->cpus += src->nr;
	source_close(src);
	return ok;
}

static bool compare_cpus(const struct options *opt, const struct blocks *blocks,
			 struct decoded *cpus, struct totals *totals)
{
	static struct source src;
	unsigned int cpu;
	char what[16];
	bool ok = true;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		source_init(&src);
		snprintf(what, sizeof(what), "cpu %u", cpu);
		if (source_add(&src, blocks, opt->dir, cpu))
			ok = compare_source(opt, what, &src, &cpus[cpu], totals) && ok;
		else if (cpus[cpu].nr_runs)
			die("%s/cpu%u: %s", opt->dir, cpu, strerror(errno));
	}
	return ok;
}

static bool compare_thread(const struct options *opt, const struct blocks *blocks,
			   struct decoded *thread, struct totals *totals)
{
	static struct source src;
	unsigned int cpu;

	source_init(&src);
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		source_add(&src, blocks, opt->dir, cpu);
	return compare_source(opt, "the thread", &src, thread, totals);
}

static bool compare_all(const struct options *opt, struct decoded *cpus, struct totals *totals)
{
	struct blocks blocks;
	bool ok;

	blocks_load(&blocks, opt->dir);
	ok = opt->thread ? compare_thread(opt, &blocks, cpus, totals) :
			   compare_cpus(opt, &blocks, cpus, totals);
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

static void print_totals(const struct options *opt, const struct totals *totals)
{
	const struct found *found = &totals->found;

	printf("%s: %" PRIu64 " instructions (%" PRIu64 " user, %" PRIu64 " kernel) on %"
	       PRIu64 " CPUs, %" PRIu64 " enables, %" PRIu64 " with known CR3\n",
	       opt->insns ? "compared" : "executed", found->decoded, found->user,
	       found->kernel, totals->cpus, totals->enables, found->cr3_checked);
	if (opt->insns)
		printf("branches: %" PRIu64 " decoded, %" PRIu64 " executed\n",
		       found->decoded_branches, found->executed_branches);
	if (opt->losses || opt->snapshots)
		printf("parts: %" PRIu64 " with %" PRIu64 " losses, %" PRIu64
		       " instructions missing\n", found->parts, found->losses,
		       found->executed - found->decoded);
}

static bool check_counts(const struct options *opt, const struct found *found)
{
	bool partial = opt->losses || opt->snapshots, ok = true;

	ok = demand("", found->decoded, opt->min) && ok;
	ok = demand("user", found->user, opt->min_user) && ok;
	ok = demand("kernel", found->kernel, opt->min_kernel) && ok;
	if (opt->insns && !partial && found->decoded_branches != found->executed_branches) {
		printf("not all of the same instructions are branches on both sides\n");
		ok = false;
	}
	if (opt->has_visits &&
	    (partial ? found->visits > opt->visits : found->visits != opt->visits)) {
		printf("%016" PRIx64 " is there %" PRIu64 " times, not %" PRIu64 "\n", opt->visit,
		       found->visits, opt->visits);
		ok = false;
	}
	return ok;
}

int main(int argc, char **argv)
{
	static struct decoded cpus[MAX_CPUS];
	struct totals totals = { .cpus = 0 };
	struct mapped_file file = { 0 };
	struct options opt;
	bool ok;

	util_set_name("oracle-compare");
	parse_options(argc, argv, &opt);
	if (opt.map)
		symbols_load(opt.map);
	totals.found.visit = opt.visit;
	if (opt.insns)
		decoded_load(opt.insns, &file, cpus, opt.thread);
	ok = compare_all(&opt, cpus, &totals);
	print_totals(&opt, &totals);
	if (totals.inconsistent) {
		printf("the oracle's log has %" PRIu64 " places without explanation\n",
		       totals.inconsistent);
		ok = false;
	}
	ok = check_counts(&opt, &totals.found) && ok;
	if (opt.insns)
		printf("%s\n", ok ? "equal" : "NOT equal");
	unmap_file(&file);
	return ok ? 0 : 1;
}
