#!/usr/bin/env bash
# Private servers for tests and demo, on free ports, with their data below DIR.
#
#   servers.sh start DIR [PID]          seven Redis servers and one ZooKeeper; writes DIR/env, to be sourced
#   servers.sh memcached-start DIR      one more memcached; prints its host:port
#   servers.sh clients DIR              prints the processes that tests with DLOCK_TEST_DIR=DIR have started
#   servers.sh kill-clients DIR         kills them
#   servers.sh stop DIR                 kills the servers below DIR that are still alive
#   servers.sh ensemble-start DIR [PID] three ZooKeepers; writes DIR/ensemble: one "number host:port" per line
#   servers.sh ensemble-leader DIR      prints the number of the leader (waits until there is one)
#   servers.sh ensemble-kill DIR N      kills member N with SIGKILL
#   servers.sh ensemble-kill-leader DIR kills the leader, and prints its number
#   servers.sh ensemble-restart DIR N   starts member N again, on its ports and its data
#   servers.sh stop DIR                 ends the ensemble as well
#
# With a PID, the servers are stopped when that process has ended, however it ended (also by SIGKILL).
set -euo pipefail
export LC_ALL=C

readonly deadline=60 # seconds until a server must be ready; a JVM on a busy machine is slow

say() { echo "servers: $*" >&2; }
die() { say "$*"; exit 1; }

# ---- processes ----------------------------------------------------------------------------------------------------------

# When the process started, in clock ticks since boot: distinguishes it from a later one with the same pid.
start_time() {
	local stat
	{ stat=$(< "/proc/$1/stat"); } 2> /dev/null || return 1
	stat=${stat##*) } # the name before it may contain anything
	set -- $stat
	[ "$1" != Z ] && [ "$1" != X ] && echo "${20}"
}

# Is the process of "pid start-time" in the file alive?
is_alive() {
	local pid started
	[ -s "$1" ] && read -r pid started < "$1" && [ "$(start_time "$pid")" = "$started" ]
}

# Runs a server in a session of its own, so that Ctrl-C reaches only the caller, and records it.
launch() {
	local dir=$1
	shift
	# A sanitizer's library is for PHP only.
	env -u LD_PRELOAD setsid "$@" > "$dir/log" 2>&1 < /dev/null &
	local pid=$!
	echo "$pid $(start_time $pid)" > "$dir/pid"
}

kill_recorded() {
	local file=$1 pid started
	is_alive "$file" || return 0
	read -r pid started < "$file"
	kill -KILL "$pid" 2> /dev/null || true # there is nothing to save
	for _ in $(seq 500); do
		is_alive "$file" || return 0
		sleep 0.01
	done
	say "process $pid does not end"
	return 1
}

stop_all() {
	local dir=$1 file pid failed=0
	[ -d "$dir" ] || return 0
	if [ -z "${watching-}" ] && is_alive "$dir/watcher"; then
		read -r pid _ < "$dir/watcher"
		kill -KILL -- "-$pid" 2> /dev/null || true
	fi
	for file in "$dir"/*/pid; do
		[ ! -e "$file" ] || kill_recorded "$file" || failed=1
	done
	if [ -e "$dir/socket-dir" ]; then
		rm -rf -- "$(< "$dir/socket-dir")"
	fi
	return "$failed"
}

# Programs that tests have started and that still run: they have DLOCK_TEST_DIR in their environment, or are servers of
# the contract tests, which write over theirs.
clients() {
	local file
	for file in /proc/[0-9]*/environ; do
		# A process may end meanwhile.
		! grep -qzFx "DLOCK_TEST_DIR=$1" "$file" 2> /dev/null || { file=${file%/environ}; echo "${file#/proc/}"; }
	done
	find /proc/[0-9]* -maxdepth 1 -name cwd -lname "$1/contract.*" 2> /dev/null | cut -d/ -f3 || true
}

# Because the test that started them was killed, for example.
kill_clients() {
	local pids
	for _ in 1 2 3 4 5; do # one of them may start another meanwhile
		pids=$(clients "$1")
		# shellcheck disable=SC2086 # several pids
		[ -n "$pids" ] && kill -KILL $pids 2> /dev/null || return 0
	done
}

# Waits for the owner's end. Runs in a session of its own: a signal to the owner's process group must not end it.
watch() {
	local dir=$1 owner=$2
	echo "$$ $(start_time $$)" > "$dir/watcher"
	tail --pid="$owner" -f /dev/null
	watching=1
	kill_clients "$dir"
	stop_all "$dir"
}

start_watcher() {
	local dir=$1 owner=${2-}
	[ -n "$owner" ] || return 0
	kill -0 "$owner" || die "there is no process $owner to watch"
	setsid "$BASH" "$0" watch "$dir" "$owner" > "$dir/watcher.log" 2>&1 < /dev/null &
	wait_until "the watcher" is_alive "$dir/watcher"
}

wait_until() {
	local what=$1 until=$((SECONDS + deadline))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || { say "$what: not ready after $deadline s"; return 1; }
		sleep 0.1
	done
}

# A port below those that the kernel gives to outgoing connections: a restarted server finds its port still free. If it
# is not free now, the server fails to bind it, and another port is tried.
random_port() {
	local low=32768
	[ ! -r /proc/sys/net/ipv4/ip_local_port_range ] || read -r low _ < /proc/sys/net/ipv4/ip_local_port_range
	[ "$low" -gt 12000 ] || low=32768
	echo $((10240 + (RANDOM << 15 | RANDOM) % (low - 10240)))
}

# Starts with other ports until it runs: the function `try` starts a server in DIR, the function `ready` returns 0 if it
# is ready, 1 if it is not ready yet, 2 if it has died.
start_with_retry() {
	local dir=$1 try=$2 ready=$3 until code
	for _ in 1 2 3 4 5; do
		"$try" "$dir"
		until=$((SECONDS + deadline))
		while :; do
			code=0
			"$ready" "$dir" || code=$?
			[ "$code" -ne 0 ] || return 0
			[ "$code" -ne 2 ] || break
			if [ "$SECONDS" -ge "$until" ]; then
				tail -n 20 "$dir"/log "$dir"/*/log 2> /dev/null >&2 || true
				say "$dir: not ready after $deadline s"
				return 1
			fi
			sleep 0.1 # each question starts several processes
		done
		# It died: most likely the port was taken.
	done
	tail -n 20 "$dir"/log "$dir"/*/log 2> /dev/null >&2 || true
	say "$dir: does not start"
	return 1
}

# ---- Redis --------------------------------------------------------------------------------------------------------------

readonly default_password=only-the-default-user app_password=app-secret limited_password=limited-secret

redis_try() {
	local dir=$1 port
	port=$(random_port)
	echo "$port" > "$dir/port"
	cat > "$dir/redis.conf" <<-CONF
		bind 127.0.0.1
		port $port
		dir $dir
		daemonize no
		save ""
		appendonly no
	CONF
	[ ! -e "$dir/extra.conf" ] || cat "$dir/extra.conf" >> "$dir/redis.conf"
	launch "$dir" "${DLOCK_TEST_REDIS_SERVER:-redis-server}" "$dir/redis.conf"
}

# The server is ready when the process that answers on the port is the one that was started.
redis_ready() {
	local dir=$1 pid reply
	is_alive "$dir/pid" || return 2
	read -r pid _ < "$dir/pid"
	reply=$(REDISCLI_AUTH=$(cat "$dir/password" 2> /dev/null) redis-cli -h 127.0.0.1 -p "$(< "$dir/port")" info server 2> /dev/null) || return 1
	[[ $reply == *"process_id:$pid"$'\r'* ]] || return 1
}

redis_configure() {
	local dir=$1 socket_dir
	mkdir -p "$dir"/redis{1..7}
	# The server with passwords. `limited` may do only what the extension needs for locks "Lock:…".
	echo "$default_password" > "$dir/redis6/password"
	cat > "$dir/redis6/extra.conf" <<-CONF
		requirepass $default_password
		user app on >$app_password ~* &* +@all
		user limited on >$limited_password ~Lock:* ~*dlock* &*dlock* &Lock:* +@read +@write +@scripting +@pubsub +@connection +@transaction +time -@dangerous +info
	CONF
	# The path of a Unix socket may have 107 characters, and a checkout may be deep.
	socket_dir=$dir/redis7
	if [ "${#socket_dir}" -gt 80 ]; then
		socket_dir=$(mktemp -d /tmp/dlock.XXXXXX)
		echo "$socket_dir" > "$dir/socket-dir"
	fi
	echo "$socket_dir/redis.sock" > "$dir/redis7/socket"
	echo "unixsocket $socket_dir/redis.sock" > "$dir/redis7/extra.conf"
}

# ---- ZooKeeper ----------------------------------------------------------------------------------------------------------

# Sends one of ZooKeeper's four-letter words.
zk_ask() {
	timeout 2 bash -c 'exec 3<> "/dev/tcp/127.0.0.1/$1" && printf %s "$2" >&3 && cat <&3' _ "$1" "$2" 2> /dev/null | tr -d '\0'
}

zk_settings() {
	local dir=$1 port=$2
	# Session timeouts are counted in ticks: tests of expiry need short ones, others long ones.
	cat <<-CONF
		dataDir=$dir/data
		clientPortAddress=127.0.0.1
		clientPort=$port
		tickTime=200
		minSessionTimeout=400
		maxSessionTimeout=60000
		maxClientCnxns=0
		initLimit=50
		syncLimit=25
		admin.enableServer=false
		4lw.commands.whitelist=*
	CONF
}

# A vote that is lost while a leader is killed is repeated after at most a second; ZooKeeper's own limit is a minute.
zk_launch() {
	local dir=$1
	mkdir -p "$dir/data"
	launch "$dir" java -Xms32m -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData \
		-Dznode.container.checkIntervalMs=2000 -Dzookeeper.forceSync=no -Dzookeeper.preAllocSize=1024 \
		-Dzookeeper.jmx.log4j.disable=true -Djava.net.preferIPv4Stack=true \
		-Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
		-Dzookeeper.fastleader.maxNotificationInterval=1000 \
		-cp "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar" \
		org.apache.zookeeper.server.quorum.QuorumPeerMain "$dir/zoo.cfg"
}

zk_try() {
	local dir=$1 port
	port=$(random_port)
	echo "$port" > "$dir/port"
	zk_settings "$dir" "$port" > "$dir/zoo.cfg"
	zk_launch "$dir"
}

# The answer must name the data directory, because another server may use the port.
zk_ready() {
	local dir=$1
	is_alive "$dir/pid" || return 2
	[[ $(zk_ask "$(< "$dir/port")" ruok) == imok ]] && [[ $(zk_ask "$(< "$dir/port")" conf) == *"dataDir=$dir/data"* ]] &&
		[[ $(zk_ask "$(< "$dir/port")" srvr) == *Mode:* ]] || return 1
}

# ---- ZooKeeper ensemble -------------------------------------------------------------------------------------------------

ensemble_try() {
	local dir=$1 n peers="" ports=() among=127.$((1 + RANDOM % 254)).$((RANDOM % 256)).$((1 + RANDOM % 254))
	# A member binds its first port when it becomes leader. An own address keeps other programs from that port.
	for n in 1 2 3; do
		kill_recorded "$dir/zk$n/pid"
		rm -rf "$dir/zk$n"
		mkdir -p "$dir/zk$n/data"
		ports[n]=$(random_port)
		peers+="server.$n=$among:$(random_port):$(random_port)"$'\n'
	done
	for n in 1 2 3; do
		echo "$n" > "$dir/zk$n/data/myid"
		echo "${ports[n]}" > "$dir/zk$n/port"
		{ zk_settings "$dir/zk$n" "${ports[n]}"; echo "$peers"; } > "$dir/zk$n/zoo.cfg"
		zk_launch "$dir/zk$n"
	done
}

# If the bind of a quorum port fails, the JVM does not end: it only logs it.
ensemble_ready() {
	local dir=$1 n code worst=0
	for n in 1 2 3; do
		code=0
		zk_ready "$dir/zk$n" || code=$?
		[ "$code" -le "$worst" ] || worst=$code
		! grep -q BindException "$dir/zk$n/log" || worst=2
	done
	return "$worst"
}

# Prints the number of the leader, and fails if there is none at the moment.
leader_now() {
	local dir=$1 n
	for n in 1 2 3; do
		if is_alive "$dir/zk$n/pid" && [[ $(zk_ask "$(< "$dir/zk$n/port")" srvr) == *"Mode: leader"* ]]; then
			echo "$n"
			return 0
		fi
	done
	return 1
}

ensemble_leader() {
	wait_until "a leader" leader_now "$1" | tail -n 1
}

# ---- memcached ----------------------------------------------------------------------------------------------------------

memcached_try() {
	local dir=$1 port
	port=$(random_port)
	echo "$port" > "$dir/port"
	launch "$dir" memcached -l 127.0.0.1 -p "$port" -U 0 -u "$(id -un)"
}

memcached_ready() {
	local dir=$1 pid
	is_alive "$dir/pid" || return 2
	read -r pid _ < "$dir/pid"
	[[ $(timeout 2 bash -c 'exec 3<> "/dev/tcp/127.0.0.1/$1" && printf "stats\r\nquit\r\n" >&3 && cat <&3' _ "$(< "$dir/port")" 2> /dev/null) == *"STAT pid $pid"$'\r'* ]] || return 1
}

memcached_start() {
	mkdir -p "$1/memcached"
	start_with_retry "$1/memcached" memcached_try memcached_ready
	echo "127.0.0.1:$(< "$1/memcached/port")"
}

# ---- commands -----------------------------------------------------------------------------------------------------------

write_env() {
	local dir=$1 n list=""
	for n in 1 2 3 4 5 7; do list+="${list:+,}127.0.0.1:$(< "$dir/redis$n/port")"; done
	cat > "$dir/env" <<-ENV
		# Six servers without a password. Shared by all tests: none may stop them or flush them.
		export DLOCK_TEST_REDIS="$list"
		# One with a password: of the default user, of "app" who may do all, of "limited" who may use keys "Lock:…" only.
		export DLOCK_TEST_REDIS_AUTH="127.0.0.1:$(< "$dir/redis6/port")"
		export DLOCK_TEST_REDIS_PASSWORD="$default_password"
		export DLOCK_TEST_REDIS_APP_PASSWORD="$app_password"
		export DLOCK_TEST_REDIS_LIMITED_PASSWORD="$limited_password"
		# The last of the six, by its unix socket.
		export DLOCK_TEST_REDIS_SOCKET="$(< "$dir/redis7/socket")"
		export DLOCK_TEST_ZK="127.0.0.1:$(< "$dir/zk/port")"
		# For whatever a test starts for itself.
		export DLOCK_TEST_DIR="$dir"
	ENV
}

start() {
	local dir=$1 n jobs=() failed=0
	mkdir -p "$dir/zk"
	redis_configure "$dir"
	for n in 1 2 3 4 5 6 7; do
		start_with_retry "$dir/redis$n" redis_try redis_ready &
		jobs+=($!)
	done
	start_with_retry "$dir/zk" zk_try zk_ready &
	jobs+=($!)
	for n in "${jobs[@]}"; do wait "$n" || failed=1; done
	[ "$failed" -eq 0 ] || return 1
	write_env "$dir"
}

ensemble_start() {
	local dir=$1 n
	start_with_retry "$dir" ensemble_try ensemble_ready
	for n in 1 2 3; do echo "$n 127.0.0.1:$(< "$dir/zk$n/port")"; done > "$dir/ensemble"
}

# If the start fails, nothing is left of it.
start_or_stop() {
	local dir=$2
	! compgen -G "$dir/*/pid" > /dev/null || stop_all "$dir"
	mkdir -p "$dir"
	trap 'stop_all "$dir"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	start_watcher "$dir" "${3-}"
	"$1" "$dir"
	trap - EXIT
}

main() {
	[ $# -ge 2 ] || die "usage: servers.sh start|stop|ensemble-start|… DIR: see the top of the file"
	local command=$1 dir
	dir=$(realpath -m "$2")
	case $command in
		start) start_or_stop start "$dir" "${3-}" ;;
		memcached-start) memcached_start "$dir" ;;
		kill-clients) kill_clients "$dir" ;;
		stop) stop_all "$dir" ;;
		clients) clients "$dir" ;;
		watch) watch "$dir" "$3" ;;
		ensemble-start) start_or_stop ensemble_start "$dir" "${3-}" ;;
		ensemble-leader) ensemble_leader "$dir" ;;
		ensemble-kill) kill_recorded "$dir/zk$3/pid" ;;
		ensemble-kill-leader)
			set -- "$(ensemble_leader "$dir")"
			kill_recorded "$dir/zk$1/pid"
			echo "$1"
			;;
		ensemble-restart)
			kill_recorded "$dir/zk$3/pid"
			zk_launch "$dir/zk$3"
			wait_until "ZooKeeper $3" zk_ready "$dir/zk$3"
			;;
		*) die "no such command: $command" ;;
	esac
}

main "$@"
exit
