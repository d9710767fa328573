#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the tests of AUX areas, and say of each failure which defect of this kernel it
# is, by commit: aux_report.sh [PROGRAM...]. As long as they run, perf_event_paranoid is at
# most 1, where that can be set, so that those run in which users without rights trace. If the
# kernel warns while a program runs, the program has one more result that fails, "the kernel's
# log"; if the kernel oopses, "oops".
#
# Status: 0 if nothing fails, 1 if each failure is of a defect that is known, 2 if one
# is not, or a program does not come to its end, 4 if the machine has none of the PMUs that are
# tested, or no test ran.
here=$(dirname "$0")
[ $# -gt 0 ] || set -- $(cd "$here" && ls aux_* | grep -v '[.]' | grep -v -x -e aux_stress \
			 -e aux_fuzz -e aux_defects)
pmus=$(cd /sys/bus/event_source/devices 2>/dev/null && ls -d intel_pt intel_bts aux_synth 2>/dev/null)

for program; do
	if [ "$program" != "${program##*/}" ] || [ ! -x "$here/$program" ]; then
		echo "aux_report.sh: no program $program in $here: 'make' builds it" >&2
		exit 2
	fi
done

if [ -z "$pmus" ]; then
	remedy="'modprobe perf_aux_synth' for one without hardware"
	[ ! -d "$here/perf_aux_synth" ] || remedy="$remedy; if this kernel does not have it, \
'cp -r $here/perf_aux_synth . && make -C perf_aux_synth && insmod perf_aux_synth/perf_aux_synth.ko'"
	echo "aux_report.sh: this machine has none of the PMUs that are tested: $remedy" >&2
	exit 4
fi

warning="the kernel's log"

paranoid=/proc/sys/kernel/perf_event_paranoid
before=$(cat $paranoid 2>/dev/null)
if [ "${before:-0}" -gt 1 ] && (echo 1 >$paranoid) 2>/dev/null; then
	trap 'echo "$before" >$paranoid' EXIT
	trap 'exit 2' HUP INT TERM
fi

# How often the kernel has warned, and has oopsed. A kernel that does not count has bits of
# its taint, which only the first of each sets.
complaints() {
	if [ -r /sys/kernel/warn_count ] && [ -r /sys/kernel/oops_count ]; then
		echo $(cat /sys/kernel/warn_count /sys/kernel/oops_count)
	else
		taint=$(cat /proc/sys/kernel/tainted 2>/dev/null)
		echo $((${taint:-0} & 512)) $((${taint:-0} & 128))
	fi
}

# Lines as if of a program with one test, which fails
one_failure() {
	printf '%s\n' 1..1 "not ok 1 $1" "status 1"
}

# Each line of a program with its name, and its status at the end. If the kernel has complained
# meanwhile, a failure follows. All of it takes minutes, so who looks on a terminal is told what
# runs.
run_test() {
	[ ! -t 2 ] || echo "... $1" >&2
	seen=$(complaints)
	{
		"$here/$1" 2>&1
		printf '\nstatus %s\n' $?
	} | sed "s/^/$1	/"
	# The pipe has ended, and so have the children that put back what a program has changed.
	now=$(complaints)
	{
		[ "${now% *}" = "${seen% *}" ] || one_failure "$warning"
		[ "${now#* }" = "${seen#* }" ] || one_failure oops
	} | sed "s/^/$1	/"
}

# aux_cgroup_test comes last: a kernel with the fault that it is about has CPU 1 count nothing any more.
run_tests() {
	last=
	for program; do
		if [ "$program" = aux_cgroup_test ]; then
			last=$program
		else
			run_test "$program"
		fi
	done
	[ -z "$last" ] || run_test $last
}

echo "# Linux $(uname -r), $(uname -m)," $pmus
run_tests "$@" | awk -v table="$here/aux_defects" -v warning="$warning" '
	# A pattern of the shell as a regular expression
	function expression(glob) {
		gsub(/[.]/, "[.]", glob)
		gsub(/[*]/, ".*", glob)
		return "^" glob "$"
	}
	# What the kernel complains of is known only if a row names it so, whatever "*" is for.
	function is_of(i, test) {
		return is_complaint(test) ? test == results[i] : test ~ pattern[i]
	}
	function is_complaint(test) {
		return test == warning || test == "oops"
	}
	function defect_of(program, test,  i) {
		for (i = 1; i <= known; i++)
			if (program == of[i] && is_of(i, test))
				return first[i]
		return 0
	}
	BEGIN {
		while ((getline line < table) > 0) {
			if (line ~ /^#/ || split(line, field, " [|] ") != 5)
				continue
			of[++known] = field[1]
			results[known] = field[2]
			pattern[known] = expression(field[2])
			since[known] = field[3]
			fix[known] = field[4]
			what[known] = field[5]
			# Several lines may tell of one defect.
			if (!(field[4] field[5] in place))
				place[field[4] field[5]] = known
			first[known] = place[field[4] field[5]]
		}
	}
	{
		split($0, field, "\t")
		program = field[1]
		sub(/^[^\t]*\t/, "")
	}
	/^1[.][.][0-9]+/ {
		planned = substr($1, 4) + 0
		plan = 1
		if ($0 ~ /# SKIP/)
			skip[program ": all (" substr($0, index($0, "# SKIP") + 7) ")"]++
	}
	/^(not )?ok / {
		seen++
		test = $0
		sub(/^(not )?ok [0-9]+ (- )?/, "", test)
	}
	/^ok / && / # SKIP/ {
		reason = test
		sub(/ *# SKIP.*/, "", test)
		sub(/.*# SKIP */, "", reason)
		skip[reason == "" ? "no reason" : reason]++
		said = ""
		next
	}
	/^ok / { passed++ }
	/^not ok / {
		i = defect_of(program, test)
		if (i)
			failures[i] = failures[i] "\n    " program ": " test said
		else
			unknown = unknown "\n    " program ": " test \
				  (is_complaint(test) ? ", see dmesg" : said)
		failed++
	}
	/^(not )?ok / { said = "" }
	# A place in the source, and what was expected there
	/^# [^ ]+:[0-9]+:/ {
		sub(/^# ([^ ]*\/)?/, "\n        ")
		said = said $0
	}
	/^status [0-9]+$/ {
		if (!plan || planned != seen)
			unknown = unknown "\n    " program ": ends after " seen + 0 " of " \
				  planned + 0 " results"
		# 4 is the status of kselftests that are skipped.
		else if ($2 > 1 && $2 != 4)
			unknown = unknown "\n    " program ": ends with status " $2
		plan = planned = seen = 0
	}
	END {
		for (i = 1; i <= known; i++) {
			if (!(i in failures))
				continue
			defects++
			print "\nDefect: " what[i] "."
			print "  since " since[i] "; fixed by " fix[i]
			print "  seen as" failures[i]
		}
		if (unknown)
			print "\nNot a defect that is known:" unknown
		for (reason in skip)
			printf "\nSkipped, %d: %s", skip[reason], reason
		printf "\n\n%d passed, %d failed, of %d known defects\n", passed, failed, defects
		exit unknown ? 2 : failed ? 1 : passed ? 0 : 4
	}
'
