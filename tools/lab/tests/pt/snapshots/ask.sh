# SPDX-License-Identifier: GPL-2.0-only
# Programs with marks, perf that records them, and ways to ask for snapshots. $PERF is perf.
#
# perf and the programs are told what to do by fifos, and answer. So at each snapshot it is known
# which marks were made.

# start_marks: $traced makes marks; $AS is what it is started by.
start_marks() {
	rm -f work done control ack
	mkfifo -m 666 work done control ack
	$AS ./marks <work >done & traced=$!
	exec 3>work 4<done
}

# start_perf OUT OPTION...: $recorder records.
start_perf() {
	out=$1; shift
	$AS $PERF record -v --no-buildid-mmap -o $out --control fifo:control,ack "$@" \
		>/dev/null 2>$out.log &
	recorder=$!
	exec 5>control 6<ack
	settle
}

# marks COUNT: make so many more marks; $total is the number of the last one.
marks() {
	echo $1 >&3
	read -r total <&4
	echo "marks $out $total"
}

# The answer ends with a zero byte, which the shell leaves out.
tell() {
	echo "$1" >&5
	read -r answer <&6
}

# perf answers between two rounds of its loop. In the first one after a signal, it may have looked
# already whether a snapshot is due.
settle() {
	tell ping
	tell ping
}

by_command() { tell snapshot; settle; }
by_signal() { kill -USR2 $recorder; settle; }
# perf names files by hundredths of a second, and one takes the place of another of its name.
by_switch() { by_signal; sleep 0.05; }
by_size() { by_command; sleep 0.05; }
by_both() { case $total in *5) by_switch;; *) by_command;; esac; }
by_nobody() { :; }

# Disabled from mark 200 to mark 500
while_disabled() {
	case $total in
	200) tell disable;;
	500) tell enable;;
	esac
	by_command
}

# Started without a trace, which is enabled at mark 300
while_delayed() {
	by_command
	case $total in 300) tell enable;; esac
}

# What was started later has the fifos of what was started before, which would not end.
end() {
	kill -INT $recorder
	wait $recorder
	exec 7>&- 8<&-
	[ -z "$other" ] || wait $other
	exec 3>&- 4<&- 5>&- 6<&-
	wait $traced
}

# start_both: $other makes marks on the second CPU, $traced on the first one.
start_both() {
	start_marks
	taskset -pc 0 $traced >/dev/null
	rm -f work1 done1
	mkfifo work1 done1
	taskset -c 1 ./marks <work1 >done1 & other=$!
	exec 7>work1 8<done1
}

# snapshots OUT HOW OPTIONS COUNT...: one snapshot after each COUNT of marks
snapshots() {
	how=$2 options=$3
	other=
	start_marks
	start_perf $1 $options -p $traced
	shift 3
	for count; do
		marks $count
		$how
	done
	end
}

# late OUT OPTIONS: a signal comes when perf is about to sleep. Then it has nothing else to do.
late() {
	other=
	start_marks
	AS="env LD_PRELOAD=./late.so" start_perf $1 $2 -p $traced
	AS=
	marks 100
	before=$(wc -c <$1)
	touch late
	tell ping
	for try in $(seq 100); do
		[ "$(wc -c <$1)" -gt $((before + 4096)) ] && break
		sleep 0.1
	done
	[ -e late ] && echo "late $1 no signal came"
	echo "late $1 $(($(wc -c <$1) - before)) bytes"
	end
}

# everywhere OUT OPTIONS COUNT...: a program on each of two CPUs; only the first one makes marks
# after the first snapshot.
everywhere() {
	start_both
	start_perf $1 $2 -a
	shift 2
	echo 200 >&7; read -r others <&8
	for count; do
		marks $count
		by_command
	done
	end
}

# running OUT OPTIONS TIMES: a program on each of two CPUs that does not stop.
running() {
	start_both
	echo 1000000000 >&3
	echo 1000000000 >&7
	start_perf $1 $2 -a
	for snapshot in $(seq $3); do
		sleep 0.3
		by_signal
	done
	kill $traced $other
	end
}
