#!/usr/bin/env bash
# Tests on Debian 13, which has later versions of PHP, hiredis, Redis and ZooKeeper: runs scripts/test.sh in a chroot.
# The chroot is made once, in some minutes, which needs root. It tests the tracked files as they are in the checkout.
# The run has its own mounts, processes, /tmp and /run, which end with it. The last line is the result: "N passed, N
# failed". Logs are in build/last-logs-debian13.
#
#   scripts/test-debian13.sh [file or directory below tests/ …]    as for scripts/test.sh
#
#   DLOCK_DEBIAN13_ROOT=DIR    use this chroot (default: build/debian13, made if it does not exist); missing packages
#                              are installed in it
#   DLOCK_DEBIAN_MIRROR=URL    make the chroot from there (default: the mirror in this machine's apt sources)
#   DLOCK_TEST_JOBS, DLOCK_TEST_…, DLOCK_SANITIZE   see scripts/test.sh; with DLOCK_TEST_REDIS_SERVER=valkey-server the
#                              Redis servers are Valkey's
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
cd "$(dirname "$0")/.."

# shellcheck source-path=SCRIPTDIR
. scripts/chroot.inc.sh

readonly codename=trixie checkout=/srv/dlock # the latter inside the chroot
root=$(realpath -m "${DLOCK_DEBIAN13_ROOT:-build/debian13}")
logs=$PWD/build/last-logs-debian13

main() {
	local code=0
	[ "$(id -u)" -eq 0 ] || die "needs root"
	git rev-parse --verify --quiet HEAD > /dev/null || die "is for a git checkout"
	mkdir -p build
	exec 8> "$PWD/build/debian13.lock"
	flock 8 # one run at a time
	if [ ! -e "$root/etc/debian_version" ]; then
		[ -z "${DLOCK_DEBIAN13_ROOT-}" ] || die "no chroot in $root"
		make_chroot "$codename" "$root"
	fi
	grep -qx "VERSION_CODENAME=$codename" "$root/etc/os-release" || die "$root is not Debian $codename"
	prepare_network "$root"
	copy_checkout "$root$checkout"
	# The chroot does not have another PHP or module that the caller may have named.
	unset PHPIZE PHP_CONFIG DLOCK_BUILD_DIR DLOCK_MODULE CC
	# Otherwise a build that does not find its libraries would leave TLS out, and its tests would be skipped.
	export DLOCK_CONFIGURE="--enable-dlock-tls ${DLOCK_CONFIGURE-}"
	in_chroot "$root" bash "$checkout/scripts/test.sh" "$@" 8>&- || code=$?
	rm -rf "$logs"
	[ ! -d "$root$checkout/build/last-logs" ] || cp -r "$root$checkout/build/last-logs" "$logs"
	return "$code"
}

main "$@"
