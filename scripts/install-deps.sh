#!/usr/bin/env bash
# Installs, on Debian 12 or later, what the build, the servers and the tests need, and the packages named as arguments.
# Does nothing if all of them are installed.
#
#   scripts/install-deps.sh [--demo] [PACKAGE …]     --demo: without packages that only the tests need
#
# It starts and enables no service that it installs: tests and demo start their own servers on their own ports.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
arguments=("$@") log=$(dirname "$0")/../build/apt.log

packages=(
	build-essential pkg-config php-dev php-cli         # the extension
	libhiredis-dev libssl-dev libzookeeper-mt-dev libpq-dev libmariadb-dev # what it links with
	redis-server memcached zookeeper default-jre-headless procps # real servers
)
tests=(
	php-fpm libfcgi-bin # and cgi-fcgi, a client for it
	php-cgi             # runs several requests that load the extension by dl()
	phpunit             # for examples/phpunit
	php-parser          # for gen_stub.php, which makes the arginfo
	python3-redis python3-kazoo php-redis php-symfony-lock # other clients, which compete with dlock in the tests
	libcurator-recipes-java libeclipse-jdt-core-java       # another client, and a compiler for its program
	php-illuminate-cache                                   # Laravel's, for packages/
	php-symfony-semaphore                                  # Symfony's, for packages/
	php-illuminate-{config,container,events,redis}         # for the service provider in packages/laravel
	composer            # installs packages/ as an application would
	php-symfony-{dependency-injection,config,yaml}         # for the services in docs/integrations.md
	php-symfony-{messenger,http-kernel} libphp-embed       # for packages/symfony, and a worker as in FrankenPHP
	locales             # a language with commas in numbers, and its order of text
	iproute2 nftables   # hosts that vanish and packets that get lost, in network namespaces
	php-sqlite3         # a database for the example in docs/operations.md
	php-memcached       # another client of memcached
	postgresql php-pgsql mariadb-server php-mysql # locks in databases, and an application's clients
	pgbouncer           # a pooler, which dlock refuses
	libluajit-5.1-dev   # runs the scripts in the simulator (tests/sim)
	systemtap-sdt-dev gdb # sys/sdt.h, for the probes of USDT; and a tracer
	spin valgrind openssl
)
if [ "${1-}" = --demo ]; then
	shift
else
	packages+=("${tests[@]}")
fi
packages+=("$@")
# The server to test instead of redis-server. Its package has the name of the program.
[ -z "${DLOCK_TEST_REDIS_SERVER-}" ] || packages+=("$DLOCK_TEST_REDIS_SERVER")

# Prints packages that are not installed. A metapackage such as php-dev counts as installed if php8.2-dev (any
# version) is.
missing_packages() {
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' | awk -v wanted="${packages[*]}" '
		$1 == "installed" {
			have[$2] = 1
			if ($2 ~ /^php[0-9.]+-/) { sub(/^php[0-9.]+-/, "php-", $2); have[$2] = 1 }
		}
		END { n = split(wanted, names, " "); for (i = 1; i <= n; i++) if (!(names[i] in have)) print names[i] }'
}

service_units() {
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' |
		awk '$1 == "installed" && $2 ~ /^(redis-server|valkey-server|memcached|nginx|postgresql|pgbouncer|mariadb|php[0-9.]+-fpm)$/ { print $2 ".service" }'
}

# invoke-rc.d asks this script before it starts a service. If it exists already, the administrator has decided.
policy=/usr/sbin/policy-rc.d
forbid_service_starts() {
	[ ! -e "$policy" ] || return 0
	trap 'rm -f "$policy"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	printf '#!/bin/sh\nexit 101\n' > "$policy"
	chmod 755 "$policy"
}

# Disables only services that were not installed before.
disable_new_services() {
	local unit
	for unit in $(comm -13 <(sort <<< "$1") <(service_units | sort)); do
		if [ -d /run/systemd/system ]; then
			systemctl --quiet disable --now "$unit"
		elif command -v systemctl > /dev/null; then
			systemctl --quiet disable "$unit"
		fi
		update-rc.d "${unit%.service}" disable > /dev/null 2>&1 || true # not every service has an init script
	done
}

apt() {
	apt-get -qq -o Dpkg::Use-Pty=0 "$@" >> "$log" 2>&1
}

# apt's lists are fetched only if they are absent (a fresh image) or old (then downloads fail).
apt_install() {
	local install=(apt install --yes --no-install-recommends "$@")
	{ compgen -G '/var/lib/apt/lists/*_Packages*' > /dev/null && "${install[@]}"; } || { apt update && "${install[@]}"; }
}

main() {
	local missing services
	missing=$(missing_packages)
	[ -n "$missing" ] || return 0
	echo "install-deps: installing" $missing "(takes a minute or two; apt's output goes to build/apt.log)"
	mkdir -p "$(dirname "$log")" # before sudo, because the build is the user's
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo > /dev/null || { echo "install-deps: needs root, to apt-get install" $missing >&2; return 1; }
		exec sudo env "DLOCK_TEST_REDIS_SERVER=${DLOCK_TEST_REDIS_SERVER-}" "$0" "${arguments[@]}"
	fi
	services=$(service_units)
	forbid_service_starts
	: > "$log"
	apt_install $missing || { cat "$log" >&2; return 1; }
	disable_new_services "$services"
	missing=$(missing_packages)
	[ -z "$missing" ] || { echo "install-deps: still missing:" $missing >&2; return 1; }
}

main
