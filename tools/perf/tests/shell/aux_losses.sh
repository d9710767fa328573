#!/bin/sh
# AUX losses: what perf record says
# SPDX-License-Identifier: GPL-2.0-only

set -e

skip()
{
	echo "Skip: $1"
	exit 2
}

dir=$(mktemp -d /tmp/perf-test-aux-losses.XXXXXXXXXX)
trap 'rm -rf "${dir}"' EXIT
trap 'exit 1' TERM INT

data="${dir}/perf.data"
log="${dir}/log"
failed=0

# Options; what is traced is a shell with work for some milliseconds.
record()
{
	perf record -o "${data}" -N --no-bpf-event -e intel_pt//u "$@" -- \
		sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done' >/dev/null 2>"${log}"
}

# AUX records of the file, each once: perf record writes some twice.
records()
{
	perf script -i "${data}" -D --no-itrace 2>/dev/null |
		sed -n 's/^\([0-9-]* [0-9]*\) .*\(PERF_RECORD_AUX offset.*\)/\1 \2/p' | sort -u
}

check()
{
	if [ "$2" = "$3" ] ; then
		echo "ok: $1: '$2'"
	else
		echo "FAILED: $1: '$2', expected '$3'"
		cat "${log}"
		failed=1
	fi
}

perf list pmu 2>/dev/null | grep -q "intel_pt//" || skip "there is no Intel PT"
record || skip "user code cannot be traced by this user"
perf script -i "${data}" -D --no-itrace 2>/dev/null | grep -q PERF_RECORD_AUXTRACE_INFO ||
	skip "this perf has no AUX area tracing"

record -m,8K
cut=$(records | grep -c '\[T\]' || true)
[ "${cut}" -gt 0 ] || skip "this machine reads as fast as it writes"
line='s/.*Trace is missing: \([0-9]* of [0-9]*\) .* (8K) was full: use a larger one (-m,.*/\1/p'
check "areas of two pages" "$(sed -n "${line}" "${log}")" "${cut} of $(records | wc -l)"

record -q -m,8K
check "quiet" "$(cat "${log}")" ""

record -m,8K -S
check "snapshots" "$(grep "Trace is missing" "${log}" || true)" ""

exit "${failed}"
