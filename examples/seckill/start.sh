#!/usr/bin/env bash
# A flash sale to watch in a browser: nginx, php-fpm and the locks' servers, on free ports of 127.0.0.1. Installs
# missing packages, builds the extension, prints the address of the page, and stops all processes on Ctrl-C.
#
#   examples/seckill/start.sh [--port N]
#
#   DLOCK_MODULE=/path/dlock.so   uses that build instead of making one
set -euo pipefail
export DLOCK_SANITIZE=0 PATH=$PATH:/usr/sbin
cd "$(dirname "$0")/../.."
. scripts/php.inc.sh
here=$PWD/examples/seckill

# Without a lock, several workers must be able to be inside at once. With a lock, several must be able to wait.
export SHOP_WORKERS=24

port=0
case "${1-} $#" in
	' 0') ;;
	'--port 2') port=$2 ;;
	*) echo "usage: examples/seckill/start.sh [--port N]" >&2; exit 2 ;;
esac
[[ $port =~ ^[0-9]{1,5}$ && $((10#$port)) -lt 65536 ]] || { echo "seckill: --port must be from 1 to 65535" >&2; exit 2; }

say() { echo "seckill: $*"; }

children=()
clean_up() {
	local pid
	trap '' INT TERM HUP
	for pid in "${children[@]}"; do kill "$pid" 2> /dev/null || true; done
	for pid in "${children[@]}"; do wait "$pid" 2> /dev/null || true; done
	[ ! -e "$run/watcher" ] || tests/setup/servers.sh stop "$run" || true
	rm -rf "$run"
}

# launch LOG COMMAND…: starts a child that ends with this script, even if the script is killed.
launch() {
	local log=$1
	shift
	setpriv --pdeathsig TERM "$@" > "$run/$log" 2>&1 < /dev/null &
	children+=($!)
}

# Waits until the child that was launched last has made the file. Returns 1 if the child ends first, or takes too long.
wait_for_file() {
	local until=$((SECONDS + 30))
	until [ -e "$1" ]; do
		kill -0 "${children[-1]}" 2> /dev/null && [ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.02
	done
}

fpm_binary() {
	local candidate
	for candidate in "${DLOCK_TEST_FPM-}" "$("$php" -n -r 'echo dirname(PHP_BINDIR);')/sbin/php-fpm" \
		"/usr/sbin/php-fpm$("$php" -n -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')"; do
		[ ! -x "$candidate" ] || { echo "$candidate"; return; }
	done
	say "no php-fpm for $php" >&2
	return 1
}

free_port() {
	"$php" -n -r 'echo explode(":", stream_socket_get_name(stream_socket_server("tcp://127.0.0.1:0"), false))[1];'
}

# Two pools, because buyers that wait must not delay the requests of the page.
start_fpm() {
	local user="" root=()
	if [ "$(id -u)" -eq 0 ]; then
		user=$'user = root\ngroup = root' root=(-R)
	fi
	cat > "$run/php-fpm.conf" <<-CONF
		[global]
		error_log = $run/php-fpm.error
		pid = $run/php-fpm.pid
		daemonize = no
		process_control_timeout = 2s

		[shop]
		listen = $sockets/shop.sock
		listen.backlog = 1024
		$user
		pm = static
		pm.max_children = $SHOP_WORKERS
		clear_env = no
		catch_workers_output = yes

		[page]
		listen = $sockets/page.sock
		$user
		pm = static
		pm.max_children = 2
		clear_env = no
		catch_workers_output = yes
	CONF
	launch php-fpm.log "$fpm" "${options[@]}" "${root[@]}" -F -y "$run/php-fpm.conf"
	wait_for_file "$run/php-fpm.pid" || { cat "$run"/php-fpm.{log,error} >&2; say "php-fpm does not start" >&2; return 1; }
}

write_nginx_conf() {
	local user=""
	[ "$(id -u)" -ne 0 ] || user="user root root;"
	cat > "$run/nginx.conf" <<-CONF
		daemon off;
		$user
		worker_processes 1;
		error_log $run/nginx.error;
		pid $run/nginx.pid;
		events {
			worker_connections 1024;
		}
		http {
			access_log off;
			client_body_temp_path $run/body;
			fastcgi_temp_path $run/fastcgi;
			proxy_temp_path $run/proxy;
			scgi_temp_path $run/scgi;
			uwsgi_temp_path $run/uwsgi;
			server {
				listen 127.0.0.1:$1 backlog=1024;
				root $here/web;
				location ~ ^/(|four)\$ {
					default_type text/html;
					charset utf-8;
					add_header Content-Security-Policy "default-src 'self' 'unsafe-inline'; img-src data:";
					add_header Cache-Control no-cache;
					try_files \$uri.html /index.html =404;
				}
				location = /buy {
					include /etc/nginx/fastcgi_params;
					fastcgi_param SCRIPT_FILENAME \$document_root/buy.php;
					fastcgi_read_timeout 120s;
					fastcgi_pass unix:$sockets/shop.sock;
				}
				location ~ ^/(sale|state|shop|orders)\$ {
					include /etc/nginx/fastcgi_params;
					fastcgi_param SCRIPT_FILENAME \$document_root/\$1.php;
					fastcgi_pass unix:$sockets/page.sock;
				}
				location / {
					return 404;
				}
			}
		}
	CONF
}

# nginx writes its pid file after it has bound its port. If another process has bound it first, nginx ends. Then the
# script tries another port, unless --port was given.
start_nginx() {
	local wanted=$port
	for _ in 1 2 3 4 5; do
		[ "$wanted" -ne 0 ] || port=$(free_port)
		write_nginx_conf "$port"
		launch nginx.log nginx -e "$run/nginx.error" -p "$run" -c "$run/nginx.conf"
		! wait_for_file "$run/nginx.pid" || return 0
		unset 'children[-1]'
		[ "$wanted" -eq 0 ] || break
	done
	cat "$run/nginx.error" >&2
	say "nginx does not start" >&2
	return 1
}

begin_run seckill --demo nginx php-fpm php-redis php-curl
fpm=$(fpm_binary)
# shellcheck disable=SC2207 # words
options=(-n $(module_options igbinary redis curl opcache) -d "extension=$run/dlock.so")

say "starting Redis and ZooKeeper"
tests/setup/servers.sh start "$run" $$
# shellcheck disable=SC1091
. "$run/env"
LOCK_REDIS=$(cut -d, -f1-5 <<< "$DLOCK_TEST_REDIS")
export LOCK_REDIS LOCK_ZOOKEEPER=$DLOCK_TEST_ZK SHOP_REDIS=$DLOCK_TEST_REDIS_SOCKET
sockets=$(dirname "$SHOP_REDIS") # its path is short enough for a socket

say "starting php-fpm and nginx"
start_fpm
start_nginx
launch crowd.log "$php" "${options[@]}" "$here/crowd.php" "http://127.0.0.1:$port"
say "http://127.0.0.1:$port/ (Ctrl-C stops it)"

wait -n "${children[@]}" || true
tail -n 20 "$run"/*.log "$run"/*.error >&2
say "a process has ended that should not" >&2
exit 1
