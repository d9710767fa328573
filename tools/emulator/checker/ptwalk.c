// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ptwalk.c - walks the Intel PT traces of a perf.data file with libipt.
 *
 * Exit status 0 means: each stream was synchronized once and decoded to its end at packet,
 * instruction and block level without an error, and both flow levels retired the same number of
 * instructions. With --no-loss: nothing was lost either, as far as anything knows.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "insnfile.h"
#include "walk.h"

#define DEFAULT_PRINTED_ERRORS	10
#define INSN_FILE_BUFFER	(1 << 20)

struct options {
	struct image_options image;
	const char *input;
	const char *insns;
	struct pt_errata errata;
	uint64_t first, last;
	uint64_t min_insns;
	uint64_t max_printed;
	bool no_loss;
	bool show_cut;
};

static const char usage_text[] =
	"usage: ptwalk [OPTIONS] PERF_DATA\n"
	"Walk the Intel PT traces of PERF_DATA (a file, or a directory made by\n"
	"perf record --kcore) at packet, instruction and block level with libipt.\n"
	"  --insns FILE      write the retired instruction stream to FILE\n"
	"  --min-insns N     fail when fewer than N instructions were decoded\n"
	"  --no-loss         fail when trace data was lost (overflow, full buffer)\n"
	"  --cut-packets     print the packets whose end a full area has cut off\n"
	"  --erratum NAME    the processor has it, as bdm70; may be given repeatedly\n"
	"  --range FIRST-LAST  only these addresses are traced, which matters to erratum skl014\n"
	"  --kcore FILE      kernel text as an ELF core file (default: PERF_DATA/kcore_dir)\n"
	"  --vdso FILE       what [vdso] holds for 64-bit processes\n"
	"  --vdso32 FILE     the same for 32-bit processes\n"
	"  --replace NAME=FILE  read FILE where the trace names NAME; may be given repeatedly\n"
	"  --symfs DIR       put DIR before the names of mapped files\n"
	"  --limits          print what the libipt in use cannot read, if anything\n"
	"  --max-errors N    print at most N errors (default 10); all are counted\n";

static void parse_number(const char *option, const char *text, uint64_t *value)
{
	if (!parse_u64(text, value))
		die("--%s: '%s' is not a number", option, text);
}

static void print_limits(void)
{
	const char *limits = walk_library_limits();

	if (limits)
		printf("%s\n", limits);
}

static void add_replacement(struct image_options *image, const char *pair)
{
	if (!strchr(pair, '='))
		die("--replace: '%s' is not NAME=FILE", pair);
	*array_add(image->replace, image->nr_replace) = pair;
}

static void add_erratum(struct pt_errata *errata, const char *name)
{
	if (!walk_add_erratum(errata, name))
		die("--erratum: libipt knows nothing of '%s'", name);
}

static void parse_range(const char *text, struct options *opt)
{
	char *last = strchr(text, '-'), *first = last ? strndup(text, last - text) : NULL;

	if (!first || !parse_u64(first, &opt->first) || !parse_u64(last + 1, &opt->last))
		die("--range: '%s' is not FIRST-LAST", text);
	free(first);
}

static void parse_options(int argc, char **argv, struct options *opt)
{
	static const struct option longopts[] = {
		{ "insns", required_argument, NULL, 'i' },
		{ "min-insns", required_argument, NULL, 'm' },
		{ "no-loss", no_argument, NULL, 'l' },
		{ "cut-packets", no_argument, NULL, 'c' },
		{ "erratum", required_argument, NULL, 'E' },
		{ "range", required_argument, NULL, 'R' },
		{ "kcore", required_argument, NULL, 'k' },
		{ "vdso", required_argument, NULL, 'v' },
		{ "vdso32", required_argument, NULL, 'w' },
		{ "replace", required_argument, NULL, 'r' },
		{ "symfs", required_argument, NULL, 's' },
		{ "max-errors", required_argument, NULL, 'e' },
		{ "limits", no_argument, NULL, 'L' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	memset(opt, 0, sizeof(*opt));
	opt->max_printed = DEFAULT_PRINTED_ERRORS;
	while ((c = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		switch (c) {
		case 'i': opt->insns = optarg; break;
		case 'm': parse_number("min-insns", optarg, &opt->min_insns); break;
		case 'l': opt->no_loss = true; break;
		case 'c': opt->show_cut = true; break;
		case 'E': add_erratum(&opt->errata, optarg); break;
		case 'R': parse_range(optarg, opt); break;
		case 'k': opt->image.kcore = optarg; break;
		case 'v': opt->image.vdso64 = optarg; break;
		case 'w': opt->image.vdso32 = optarg; break;
		case 'r': add_replacement(&opt->image, optarg); break;
		case 's': opt->image.symfs = optarg; break;
		case 'e': parse_number("max-errors", optarg, &opt->max_printed); break;
		case 'L': print_limits(); exit(0);
		case 'h': fputs(usage_text, stdout); exit(0);
		default: exit(1);
		}
	}
	if (argc - optind != 1)
		die("name one perf.data file or directory; see ptwalk --help");
	opt->input = argv[optind];
}

static void print_packets(const struct walk_stats *stats)
{
	unsigned int type;

	printf("packets:");
	for (type = 0; type < WALK_PACKET_TYPES; type++)
		if (stats->packets[type])
			printf(" %s=%" PRIu64, walk_packet_name(type), stats->packets[type]);
	printf("\n");
}

static void print_summary(const struct walk *walk, const struct streams *streams)
{
	const struct walk_stats *st = walk->stats;
	struct pt_version version = pt_library_version();
	const char *limits = walk_library_limits();

	printf("libipt: %u.%u%s%s\n", version.major, version.minor, limits ? "; " : "",
	       limits ? limits : "");
	if (walk_packets_only(walk->pt))
		printf("levels: packets only; without TNT packets there is no flow to follow\n");
	printf("streams: %zu\n", streams->nr);
	printf("bytes: %" PRIu64 " (%" PRIu64 " before the first PSB)\n", st->bytes, st->skipped);
	print_packets(st);
	printf("instructions: %" PRIu64 " (%" PRIu64 " user, %" PRIu64 " kernel)\n", st->insns,
	       st->user_insns, st->kernel_insns);
	printf("branches: %" PRIu64 "\n", st->branches);
	printf("blocks: %" PRIu64 " with %" PRIu64 " instructions\n", st->blocks, st->block_insns);
	printf("events: %" PRIu64 " enabled, %" PRIu64 " disabled, %" PRIu64 " asynchronous, %"
	       PRIu64 " paging, %" PRIu64 " ptwrite\n", st->enables, st->disables,
	       st->async_branches, st->pagings, st->ptwrites);
	printf("early mappings: %" PRIu64 "\n", st->early_maps);
	printf("overflows: %" PRIu64 "\n", st->overflows);
	printf("truncated: %" PRIu64 "\n", streams->truncated);
	printf("overlap: %" PRIu64 "\n", streams->overlap);
	printf("lost records: %" PRIu64 "\n", walk->sb->lost_records);
	printf("resyncs: %" PRIu64 "\n", st->resyncs);
	printf("errors: %" PRIu64 " packet, %" PRIu64 " instruction, %" PRIu64 " block, %" PRIu64
	       " disagreements\n", st->packet_errors, st->insn_errors, st->block_errors,
	       st->disagreements);
}

static bool passed(const struct walk *walk, const struct streams *streams,
		   const struct options *opt)
{
	const struct walk_stats *st = walk->stats;
	bool ok = true;

	if (st->packet_errors || st->insn_errors || st->block_errors || st->disagreements ||
	    st->resyncs)
		ok = false;
	if (st->insns < opt->min_insns) {
		printf("error: %" PRIu64 " instructions decoded, %" PRIu64 " demanded\n",
		       st->insns, opt->min_insns);
		ok = false;
	}
	if (opt->no_loss && (st->overflows || streams->truncated || walk->sb->lost_records)) {
		printf("error: data was lost\n");
		ok = false;
	}
	return ok;
}

static FILE *open_insns(const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		die("%s: cannot be created", path);
	setvbuf(file, NULL, _IOFBF, INSN_FILE_BUFFER);
	if (fwrite(INSNFILE_MAGIC, 8, 1, file) != 1)
		die("%s: cannot be written", path);
	return file;
}

int main(int argc, char **argv)
{
	struct walk_stats stats = { 0 };
	struct walk walk = { .stats = &stats };
	struct streams streams;
	struct perf_file file;
	struct sideband sb;
	struct options opt;
	struct image img;
	bool ok;
	size_t i;

	util_set_name("ptwalk");
	parse_options(argc, argv, &opt);
	perf_file_open(&file, opt.input, AUXTRACE_TYPE_INTEL_PT);
	sideband_read(&sb, &file);
	streams_build(&streams, &sb);
	if (!opt.image.kcore)
		opt.image.kcore = file.kcore;
	image_init(&img, &opt.image);
	walk.pt = &file.pt;
	walk.sb = &sb;
	walk.img = &img;
	walk.max_printed = opt.max_printed;
	walk.show_cut = opt.show_cut;
	walk.errata = opt.errata;
	walk.first = opt.first;
	walk.last = opt.last;
	if (opt.insns)
		walk.insns = open_insns(opt.insns);
	for (i = 0; i < streams.nr; i++)
		walk_stream(&walk, &streams.list[i]);
	if (walk.insns && fclose(walk.insns))
		die("%s: cannot be written (disk full?)", opt.insns);
	print_summary(&walk, &streams);
	ok = passed(&walk, &streams, &opt);
	image_free(&img);
	free(opt.image.replace);
	streams_free(&streams);
	sideband_free(&sb);
	perf_file_close(&file);
	return ok ? 0 : 1;
}
