#!/usr/bin/env bash
# Freezes processes of the tests below DIR by chance, as a busy machine does: one for a while, now and then all. So it
# shows which tests depend on time. Needs root and the freezer cgroup, which does not interfere with SIGSTOP in tests.
#
#   freezes.sh DIR LONGEST    for LONGEST s at most, until it is ended; prints what it freezes
set -euo pipefail
export LC_ALL=C

[ $# -eq 2 ] || { echo "usage: freezes.sh DIR LONGEST: see the top of the file" >&2; exit 2; }
dir=$(realpath -m "$1")
longest_ms=$(awk -v s="$2" 'BEGIN { print int(s * 1000) }')
readonly programs='(redis|valkey)-(server|check-rdb)|memcached|java|php[0-9.]*|php-(cgi|fpm)[0-9.]*|mariadbd|postgres|.*_test'
declare -A homes=() # pid => its cgroup

if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	root=/sys/fs/cgroup switch=cgroup.freeze on=1 off=0 field='0::'
else
	root=/sys/fs/cgroup/freezer switch=freezer.state on=FROZEN off=THAWED field='[0-9]+:freezer:'
fi
group=$root/dlock-freezes-$$
mkdir "$group"

# A process may end at any time.
move() { { echo "$1" > "$2/cgroup.procs"; } 2> /dev/null || true; }
set_switch() { echo "$1" > "$group/$switch"; }

thaw() {
	local pid
	set_switch "$off"
	for pid in "${!homes[@]}"; do move "$pid" "$root${homes[$pid]}"; done
	homes=()
}

clean_up() {
	thaw
	until rmdir "$group" 2> /dev/null; do sleep 0.1; done
}
trap clean_up EXIT
trap 'exit 143' INT TERM HUP

nap() { sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"; }

candidates() {
	local file pid
	# Redis and PostgreSQL write their titles over their environment, but they work in their directories.
	{
		grep -lzFx -- "DLOCK_TEST_DIR=$dir" /proc/[0-9]*/environ 2> /dev/null || true
		find /proc/[0-9]* -maxdepth 1 -name cwd -lname "$dir/*" 2> /dev/null || true
	} | sort -u -t / -k 3,3n | while read -r file; do
		pid=${file#/proc/} pid=${pid%/*}
		[[ ! $(readlink "/proc/$pid/exe") =~ /($programs)$ ]] || echo "$pid"
	done
}

while :; do
	nap $((RANDOM % (longest_ms + 1)))
	mapfile -t pids < <(candidates)
	[ ${#pids[@]} -gt 0 ] || continue
	[ $((RANDOM % 8)) -eq 0 ] || pids=("${pids[RANDOM % ${#pids[@]}]}")
	for pid in "${pids[@]}"; do
		home=$(sed -nE "s/^$field//p" "/proc/$pid/cgroup" 2> /dev/null) || continue
		homes[$pid]=$home
		move "$pid" "$group"
	done
	ms=$((300 + RANDOM % longest_ms))
	echo "$(date +%T.%3N) for $ms ms: $(ps -o comm=,pid= -p "$(IFS=,; echo "${pids[*]}")" | tr -s ' \n' ': ')"
	set_switch "$on"
	nap "$ms"
	thaw
done
