// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bts.c - holds the records of branch trace store in a perf.data file of one thread to the branches
 * that were executed. They are equal, one by one, or the first that is not is shown.
 *
 * An event that excludes the kernel has the branches that begin in user code, one that excludes
 * user code the others.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "perfdata.h"
#include "symbols.h"

#define CONTEXT		4
/* An exception whose handler is interrupted before its first instruction, and so on. */
#define MAX_NESTED	4

struct record {
	uint64_t from, to, flags;
};

struct options {
	const char *map, *recording, *dir;
	bool user, kernel;
	uint64_t min, wrong;
};

struct records {
	struct record *record;
	size_t nr, nested;
	/* interrupts whose handlers were interrupted before their first instruction */
	struct branch early[MAX_NESTED];
	size_t nr_early;
	uint64_t lost;
};

static const char usage[] =
	"usage: bts-compare [--map SYSTEM_MAP] [--user | --kernel] [--min N] [--wrong N]\n"
	"                   RECORDING ORACLE_DIR\n"
	"  --user    the event excludes the kernel\n"
	"  --kernel  the event excludes user code\n"
	"  --min N   at least so many branches must be equal\n"
	"  --wrong N record N is altered before, for which the comparison must fail\n";

static void parse_options(int argc, char **argv, struct options *opt)
{
	static const struct option options[] = {
		{ "map", required_argument, NULL, 'm' },
		{ "user", no_argument, NULL, 'u' },
		{ "kernel", no_argument, NULL, 'k' },
		{ "min", required_argument, NULL, 'n' },
		{ "wrong", required_argument, NULL, 'w' },
		{ }
	};
	int c;

	memset(opt, 0, sizeof(*opt));
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'm')
			opt->map = optarg;
		else if (c == 'u')
			opt->user = true;
		else if (c == 'k')
			opt->kernel = true;
		else if ((c != 'n' && c != 'w') ||
			 !parse_u64(optarg, c == 'n' ? &opt->min : &opt->wrong))
			die("bad option\n%s", usage);
	}
	if (argc - optind != 2)
		die("two arguments are needed\n%s", usage);
	opt->recording = argv[optind];
	opt->dir = argv[optind + 1];
}

static bool is_padding(const struct record *record)
{
	return !record->from && !record->to && !record->flags;
}

static void read_payload(struct records *records, const struct perf_rec *rec)
{
	const struct record *from = (const void *)rec->payload;
	size_t n = rec->payload_size / sizeof(*from), i;

	if (rec->payload_size % sizeof(*from))
		die("trace of %" PRIu64 " bytes, which are no whole records", rec->payload_size);
	for (i = 0; i < n; i++)
		if (!is_padding(&from[i]))
			*array_add(records->record, records->nr) = from[i];
}

static void read_rec(const struct perf_rec *rec, void *arg)
{
	struct records *records = arg;
	uint64_t aux[3];

	if (rec->header->type == PERFTOOL_AUXTRACE) {
		read_payload(records, rec);
	} else if (rec->header->type == PERF_RECORD_AUX) {
		memcpy(aux, rec->body, sizeof(aux));
		records->lost += !!(aux[2] & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL));
	}
}

static void print(const char *what, uint64_t from, uint64_t to)
{
	char text[2][128];

	symbol_format(from, text[0], sizeof(text[0]));
	symbol_format(to, text[1], sizeof(text[1]));
	printf("  %-9s %016" PRIx64 " %s -> %016" PRIx64 " %s\n", what, from, text[0], to, text[1]);
}

static void print_mismatch(const struct records *records, size_t at, const struct branch *branch)
{
	size_t i = at > CONTEXT ? at - CONTEXT : 0;

	printf("branch %zu of %zu is not equal:\n", at, records->nr);
	for (; i < at; i++)
		print("both", records->record[i].from, records->record[i].to);
	if (branch)
		print("executed", branch->from, branch->to);
	else
		printf("  executed  nothing more\n");
	for (; i < records->nr && i < at + CONTEXT; i++)
		print("recorded", records->record[i].from, records->record[i].to);
}

/*
 * Is @branch what the records from @at on tell? Returns how many records it is.
 *
 * The oracle sees a handler when its first instruction executes. Another interrupt may come
 * before that: it sees one from X to the second handler, where the processor has recorded
 *
 *	X -> first handler, first handler -> second handler
 *
 * and of these only the first, where the kernel is excluded. The second handler then returns to
 * the first, which the oracle sees as a return to X and one more interrupt there.
 */
static size_t match(const struct options *opt, struct records *records, size_t at,
		    const struct branch *branch)
{
	const struct record *r = &records->record[at];
	size_t left = records->nr - at, n;

	if (!left || r[0].from != branch->from)
		return 0;
	if (opt->user && r[0].to != branch->to && r[0].to >> 63 && branch->to >> 63) {
		records->early[records->nr_early++ % MAX_NESTED] = (struct branch){
			.from = branch->from, .to = r[0].to };
		records->nested++;
		return 1;
	}
	for (n = 1; r[n - 1].to != branch->to; n++)
		if (n >= left || n > MAX_NESTED || r[n].from != r[n - 1].to)
			return 0;
	for (size_t i = 0; i + 1 < n; i++)
		records->early[records->nr_early++ % MAX_NESTED] = (struct branch){
			.from = branch->from, .to = r[i].to };
	records->nested += n - 1;
	return n;
}

/* The interrupt that is recorded already and has not been executed yet, or NULL. */
static const struct branch *early(const struct records *records)
{
	return records->nr_early ? &records->early[(records->nr_early - 1) % MAX_NESTED] : NULL;
}

static bool compare(const struct options *opt, struct records *records, struct branches *branches)
{
	const struct branch *known;
	struct branch branch;
	size_t at = 0, n;

	while (branches_next(branches, &branch)) {
		if (branch.from >> 63 ? opt->user : opt->kernel)
			continue;
		known = early(records);
		if (known && branch.from == known->from && branch.to == known->to) {
			records->nr_early--;
			continue;
		}
		n = match(opt, records, at, &branch);
		if (!n && known && at < records->nr && branch.to == known->from &&
		    records->record[at].from == branch.from && records->record[at].to == known->to)
			n = 1;
		if (!n && !branch.maybe) {
			print_mismatch(records, at, &branch);
			return false;
		}
		at += n;
	}
	if (at < records->nr)
		print_mismatch(records, at, NULL);
	return at == records->nr;
}

static bool compare_with_oracle(const struct options *opt, struct records *records)
{
	static struct source src;
	struct blocks blocks;
	struct branches branches;
	uint64_t inconsistent = 0;
	unsigned int cpu, i;
	bool ok;

	blocks_load(&blocks, opt->dir);
	source_init(&src);
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		source_add(&src, &blocks, opt->dir, cpu);
	if (!src.nr)
		die("%s: no log of any vCPU in it", opt->dir);
	branches_init(&branches, &src);
	ok = compare(opt, records, &branches);
	for (i = 0; i < src.nr; i++)
		inconsistent += src.cpus[i].inconsistent;
	if (inconsistent)
		printf("the oracle's log has %" PRIu64 " places without explanation\n",
		       inconsistent);
	source_close(&src);
	blocks_free(&blocks);
	return ok && !inconsistent;
}

int main(int argc, char **argv)
{
	struct records records = { .nr = 0 };
	struct perf_file file;
	struct options opt;
	bool ok;

	util_set_name("bts-compare");
	parse_options(argc, argv, &opt);
	if (opt.map)
		symbols_load(opt.map);
	perf_file_open(&file, opt.recording, AUXTRACE_TYPE_INTEL_BTS);
	perf_file_for_each(&file, read_rec, &records);
	if (opt.wrong && opt.wrong < records.nr)
		records.record[opt.wrong].to++;
	if (records.lost)
		printf("%" PRIu64 " records tell of lost data\n", records.lost);
	ok = compare_with_oracle(&opt, &records) && !records.lost;
	printf("branches: %zu recorded, %zu at an interrupted entry\n", records.nr,
	       records.nested);
	if (records.nr < opt.min) {
		printf("too little: %" PRIu64 " are demanded\n", opt.min);
		ok = false;
	}
	printf("%s\n", ok ? "equal" : "NOT equal");
	free(records.record);
	perf_file_close(&file);
	return ok ? 0 : 1;
}
