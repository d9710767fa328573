#!/bin/sh
# AUX actions: recordings that other events pause and resume
# SPDX-License-Identifier: GPL-2.0-only

set -e

skip()
{
	echo "Skip: $1"
	exit 2
}

dir=$(mktemp -d /tmp/perf-test-aux-action.XXXXXXXXXX)
trap 'rm -rf "${dir}"' EXIT
trap 'exit 1' TERM INT

data="${dir}/perf.data"
log="${dir}/log"
# The state of a trace is that of a CPU, so what is traced stays on one.
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')
resume=syscalls:sys_enter_newuname/aux-action=resume/
pause=syscalls:sys_exit_newuname/aux-action=pause/
failed=0

# The events, and the command that is traced.
record()
{
	events=$1
	shift
	taskset -c "${cpu}" perf record -B -N --no-bpf-event -o "${data}" -e "${events}" -- "$@" \
		>"${log}" 2>&1
}

# How often the trace in the recording begins.
begins()
{
	perf script -i "${data}" -D 2>/dev/null | grep -a -c "TIP.PGE" || true
}

# What it is about, a number, and from where to where it may be.
check()
{
	if [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] ; then
		echo "ok: $1"
	else
		echo "FAILED: $1: $2, expected $3 to $4"
		failed=1
	fi
}

# Whether perf refuses the events, with an error that has the text.
refuse()
{
	if record "$1" true ; then
		echo "FAILED: $1 is recorded"
		failed=1
	elif grep -q "$2" "${log}" ; then
		echo "ok: $1 is refused"
	else
		echo "FAILED: $1: no '$2' in: $(cat "${log}")"
		failed=1
	fi
}

# Older versions of perf have no 'perf check'.
perf version --build-options | grep -q "on .*HAVE_AUXTRACE_SUPPORT" ||
	skip "this perf has no AUX area tracing"

refuse "task-clock/aux-action=pause/u" "in no group that an AUX area event leads"
refuse "task-clock/aux-action=start-paused/u" "cannot start paused"
refuse "task-clock/aux-action=stop/u" "expected start-paused, pause or resume"
[ "${failed}" = 0 ] || exit 1

perf list pmu 2>/dev/null | grep -q "intel_pt//" || skip "there is no Intel PT"
record intel_pt//k true || skip "the kernel cannot be traced by this user"
record "{syscalls:sys_enter_newuname,syscalls:sys_exit_newuname}" true ||
	skip "there are no tracepoints of system calls for this user"
if ! record intel_pt/aux-action=start-paused/k true ; then
	grep -q "kernel does not support the term aux-action" "${log}" &&
		skip "the kernel has no attr.aux_action"
	cat "${log}"
	exit 1
fi

check "nobody resumes the trace" "$(begins)" 0 0

for events in "intel_pt/aux-action=start-paused/k,${resume},${pause}" \
	      "{intel_pt/aux-action=start-paused/k,${resume},${pause}}" ; do
	record "${events}" sh -c "uname; uname; uname"
	check "three system calls are traced" "$(begins)" 3 30
	record "${events}" true
	check "no system call of the kind" "$(begins)" 0 0
done

record "intel_pt/aux-action=start-paused/k,${resume},${pause}" uname
perf evlist -v -i "${data}" >"${log}"
for field in aux_start_paused aux_resume aux_pause ; do
	check "${field} is shown once" "$(grep -c "${field}: 1" "${log}")" 1 1
done

refuse "intel_pt/aux-action=pause/k" "can only start paused"
refuse "intel_pt//k,${pause%/},aux-output/" "both aux-output and aux-action"

exit "${failed}"
