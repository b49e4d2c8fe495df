#!/usr/bin/env bash
# The real servers of a contract test; each has its files in DIR/NAME.
#
#   servers.sh DIR new NAME PROGRAM OPTION …   on a port that nobody has, which is printed; "PORT" in an option is that
#   servers.sh DIR kill|stop|go NAME
#   servers.sh DIR start NAME                  again, on the same port, without its data
#   servers.sh DIR end                         all of them
set -euo pipefail
export LC_ALL=C
root=$1 action=$2 name=${3-}
dir=$root/$name

# True: it listens. A server that finds its port taken ends.
begin() {
	local server port
	port=$(< "$dir/port")
	mapfile -d '' -t command < "$dir/command"
	: > "$dir/log"
	(cd "$dir" && exec "${command[@]}" > log 2>&1) &
	server=$!
	for _ in $(seq 1200); do # sentinels have no other word for it
		if grep -qE 'Ready to accept|Sentinel ID|server listening' "$dir/log"; then
			echo "$server" > "$dir/pid"
			return 0
		fi
		kill -0 "$server" 2> /dev/null || return 1
		sleep 0.05
	done
	kill -KILL "$server"
	return 1
}

case $action in
new)
	shift 3
	mkdir -p "$dir"
	for _ in $(seq 50); do
		port=$((20000 + RANDOM % 10000))
		echo "$port" > "$dir/port"
		printf '%s\0' "${@//PORT/$port}" > "$dir/command"
		[ ! -e "$dir/template" ] || sed "s/PORT/$port/" "$dir/template" > "$dir/sentinel.conf"
		! begin || { echo "$port"; exit 0; }
	done
	echo "servers.sh: $name did not start: $(tail -n 1 "$dir/log")" >&2
	exit 1 ;;
start) begin ;;
kill) 
	kill -KILL "$(< "$dir/pid")"
	while grep -q '^State:.[^Z]' "/proc/$(< "$dir/pid")/status" 2> /dev/null; do sleep 0.01; done ;;
stop) kill -STOP "$(< "$dir/pid")" ;;
go) kill -CONT "$(< "$dir/pid")" ;;
end)
	for file in "$root"/*/pid; do
		[ ! -e "$file" ] || kill -KILL "$(< "$file")" 2> /dev/null || true
	done ;;
*) exit 2 ;;
esac
