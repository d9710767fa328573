// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-file.c - which recording it is, and whether a timeline can be made of it
 *
 * Layout: tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "timeline-file.h"
#include "timeline-records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "timeline-attr.h"

#define MAGIC		"PERFILE2"
#define MAGIC_SWAPPED	"2ELIFREP"
#define MAGIC_LEN	8
#define FEATURE_HOST	3
#define KIND_PT		1
#define KIND_BTS	2
#define FDS		"/proc/self/fd"
#define AGAIN		"copy it again, or record again"

struct section {
	u64 offset, size;
};

struct header {
	char magic[MAGIC_LEN];
	u64 size, attr_size;
	struct section attrs, data, event_types;
	u64 features[4];
};

/* Which word of the trace's description (TL_AUXTRACE_INFO) is what. */
enum {
	INFO_PMU, INFO_SHIFT, INFO_MULT, INFO_ZERO,
	INFO_BTS_SNAPSHOT = 5,
	INFO_PT_SNAPSHOT = 8, INFO_PT_PER_CPU = 9, INFO_PT_CYC = 14, INFO_PT_FILTER_LEN = 16,
	INFO_WORDS
};

struct tl_recording tl_rec = { .fd = -1 };

u64 tl_time_of_tsc(u64 tsc)
{
	u64 whole = tsc >> tl_rec.time_shift;
	u64 rest = tsc & ((1ULL << tl_rec.time_shift) - 1);

	return tl_rec.time_zero + whole * tl_rec.time_mult +
	       ((rest * tl_rec.time_mult) >> tl_rec.time_shift);
}

/* Whether a file that perf has open is a recording; then it is opened once more. */
static int open_if_recording(const char *name)
{
	char path[sizeof(FDS) + 256], magic[MAGIC_LEN];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), FDS "/%s", name);
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	    (!memcmp(magic, MAGIC, MAGIC_LEN) || !memcmp(magic, MAGIC_SWAPPED, MAGIC_LEN)))
		return fd;
	close(fd);
	return -1;
}

static int find_recording(void)
{
	struct dirent *entry;
	DIR *dir = opendir(FDS);
	int fd = -1;

	while (dir && fd < 0) {
		entry = readdir(dir);
		if (!entry)
			break;
		fd = open_if_recording(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return fd;
}

/* The name of an open file, for messages. */
static const char *name_of(int fd)
{
	static char name[256];
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), FDS "/%d", fd);
	len = readlink(path, name, sizeof(name) - 1);
	return len > 0 ? name : "the recording";
}

/* Where perf recorded with --kcore, the file is in a directory. */
static int open_path(const char *path)
{
	char file[4096];
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		snprintf(file, sizeof(file), "%s/data", path);
	else
		snprintf(file, sizeof(file), "%s", path);
	return open(file, O_RDONLY | O_CLOEXEC);
}

static void read_host(const struct header *header)
{
	u64 at = header->data.offset + header->data.size;
	struct section section;
	int feature;
	u32 len;

	if (!(header->features[0] >> FEATURE_HOST & 1))
		return;
	for (feature = 0; feature < FEATURE_HOST; feature++)
		at += (header->features[0] >> feature & 1) * sizeof(section);
	if (tl_read(at, &section, sizeof(section)) != sizeof(section) ||
	    tl_read(section.offset, &len, sizeof(len)) != sizeof(len))
		return;
	tl_read(section.offset + sizeof(len), tl_rec.host,
		tl_min(len, sizeof(tl_rec.host) - 1));
}

static int read_header(void)
{
	struct header header;
	size_t len = tl_read(0, &header, sizeof(header));
	u64 need;

	if (len >= MAGIC_LEN && !memcmp(header.magic, MAGIC_SWAPPED, MAGIC_LEN)) {
		tl_say("record on a machine with Intel PT or BTS",
		       "%s is of a machine with another byte order", tl_rec.path);
		return -1;
	}
	if (len < sizeof(header) || memcmp(header.magic, MAGIC, MAGIC_LEN)) {
		tl_say("name one by -i", "%s is no file of perf record", tl_rec.path);
		return -1;
	}
	if (!header.data.size) {
		tl_say("record again, and end perf record by Ctrl-C",
		       "%s is not complete, as perf record did not end", tl_rec.path);
		return -1;
	}
	need = header.data.offset + header.data.size;
	if (need > tl_rec.size) {
		tl_say(AGAIN, "%s is cut off, it has %llu bytes of at least %llu", tl_rec.path,
		       (unsigned long long)tl_rec.size, (unsigned long long)need);
		return -1;
	}
	tl_rec.data = header.data.offset;
	tl_rec.end = need;
	if (tl_attr_read(header.attrs.offset, header.attrs.size, header.attr_size)) {
		tl_say(AGAIN, "the list of events in %s is damaged", tl_rec.path);
		return -1;
	}
	read_host(&header);
	return 0;
}

int tl_file_open(const char *path)
{
	struct stat st;

	tl_rec.fd = path ? open_path(path) : find_recording();
	tl_rec.path = path ? path : name_of(tl_rec.fd);
	if (tl_rec.fd < 0 && path)
		tl_say("name the recording by --dlarg data=FILE", "cannot open %s (%s)", path,
		       strerror(errno));
	else if (tl_rec.fd < 0)
		tl_say("write the recording to one, and name it by -i", "perf reads no file");
	if (tl_rec.fd < 0 || fstat(tl_rec.fd, &st))
		return -1;
	tl_rec.size = st.st_size;
	return read_header();
}

void tl_file_close(void)
{
	close(tl_rec.fd);
	tl_attr_free();
}

static void read_info(const struct tl_record *rec, u32 kind)
{
	u64 words[INFO_WORDS] = { 0 };

	memcpy(words, rec->body + 2 * sizeof(u32),
	       tl_min(sizeof(words), rec->len - 2 * sizeof(u32)));
	tl_rec.bts = kind == KIND_BTS;
	tl_rec.time_shift = words[INFO_SHIFT];
	tl_rec.time_mult = words[INFO_MULT];
	tl_rec.time_zero = words[INFO_ZERO];
	tl_rec.snapshot = words[tl_rec.bts ? INFO_BTS_SNAPSHOT : INFO_PT_SNAPSHOT];
	if (!tl_rec.bts) {
		tl_rec.per_cpu = words[INFO_PT_PER_CPU];
		tl_rec.filters = words[INFO_PT_FILTER_LEN];
	}
	tl_attr_of_trace(words[INFO_PMU], tl_rec.bts ? 0 : words[INFO_PT_CYC]);
}

/* What tl_file_check() has met. */
struct met {
	u32 kind;
	u64 trace;
	bool compressed;
};

static void check_one(const struct tl_record *rec, struct met *met)
{
	struct tl_auxtrace aux;
	u64 flags;

	switch (rec->type) {
	case TL_AUXTRACE_INFO:
		if (rec->len < 2 * sizeof(u32))
			break;
		memcpy(&met->kind, rec->body, sizeof(met->kind));
		if (met->kind == KIND_PT || met->kind == KIND_BTS)
			read_info(rec, met->kind);
		break;
	case TL_AUXTRACE:
		memset(&aux, 0, sizeof(aux));
		memcpy(&aux, rec->body, tl_min(rec->len, sizeof(aux)));
		tl_rec.per_cpu |= tl_rec.bts && aux.cpu >= 0;
		met->trace += aux.size;
		break;
	case TL_COMPRESSED:
	case TL_COMPRESSED2:
		met->compressed = true;
		break;
	case PERF_RECORD_AUX:
		if (rec->len < 3 * sizeof(u64))
			break;
		memcpy(&flags, rec->body + 2 * sizeof(u64), sizeof(flags));
		tl_rec.partial |= !!(flags & (PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION));
		break;
	}
}

static int judge(const struct met *met)
{
	if (met->compressed)
		tl_say("record without -z", "%s is compressed, which hides what was lost",
		       tl_rec.path);
	else if (!met->kind)
		tl_say("record with -e intel_pt// or -e intel_bts//", "%s has no trace",
		       tl_rec.path);
	else if (met->kind != KIND_PT && met->kind != KIND_BTS)
		tl_say("record with -e intel_pt// or -e intel_bts//",
		       "%s has a trace of neither Intel PT nor BTS (but of kind %u)", tl_rec.path,
		       met->kind);
	else if (!met->trace && !tl_rec.sampling)
		tl_say("record code of the kind that is traced", "%s has no byte of trace",
		       tl_rec.path);
	else
		return 0;
	return -1;
}

int tl_file_check(void)
{
	struct met met = { 0 };
	struct tl_cursor cursor;
	struct tl_record rec;
	int ret;

	tl_cursor_init(&cursor, TL_CURSOR_WHOLE);
	while ((ret = tl_next(&cursor, &rec)) > 0)
		check_one(&rec, &met);
	tl_cursor_free(&cursor);
	if (ret < 0) {
		tl_say(AGAIN, "%s is damaged at byte %llu", tl_rec.path,
		       (unsigned long long)cursor.at);
		return -1;
	}
	return judge(&met);
}
