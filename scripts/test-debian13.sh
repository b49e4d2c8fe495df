#!/usr/bin/env bash
# Tests on Debian 13, where PHP, hiredis (with TLS), Redis and ZooKeeper are later ones: runs scripts/test.sh inside of a
# chroot, which is made once, in some minutes, and needs root. What runs there is git's archive of the tracked files as they
# are in the checkout. Mounts, processes, /tmp and /run are the run's own, and gone at its end. The last line is the result:
# "N passed, N failed". Logs are in build/last-logs-debian13.
#
#   scripts/test-debian13.sh [file or directory below tests/ …]    as for scripts/test.sh
#
#   DLOCK_DEBIAN13_ROOT=DIR    use this chroot (default: build/debian13, made when it is not there); missing packages are
#                              installed in it
#   DLOCK_DEBIAN_MIRROR=URL    make the chroot from there (default: the mirror in this machine's apt sources)
#   DLOCK_TEST_JOBS, DLOCK_TEST_…, DLOCK_SANITIZE   see scripts/test.sh
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
cd "$(dirname "$0")/.."

readonly release=trixie checkout=/srv/dlock # the latter inside of the chroot
root=$(realpath -m "${DLOCK_DEBIAN13_ROOT:-build/debian13}")
logs=$PWD/build/last-logs-debian13

die() { echo "test-debian13: $*" >&2; exit 1; }

# ---- the chroot ---------------------------------------------------------------------------------------------------------

# The first of apt's sources that is Debian's own, and not that of its security updates.
debian_mirror() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | sed -n 1p
}

install_debootstrap() {
	! command -v debootstrap > /dev/null || return 0
	apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends debootstrap ||
		{ apt-get -qq update && apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends debootstrap; }
}

# Complete or not there at all: an earlier one that was interrupted is made again.
make_chroot() {
	local mirror
	install_debootstrap
	mirror=${DLOCK_DEBIAN_MIRROR:-$(debian_mirror)}
	if [ -z "$mirror" ]; then # apt knows who its sources are when it has their lists
		apt-get -qq update
		mirror=$(debian_mirror)
	fi
	[ -n "$mirror" ] || die "no Debian mirror in apt's sources: name one in DLOCK_DEBIAN_MIRROR"
	echo "test-debian13: making ${root#"$PWD"/}"
	rm -rf --one-file-system "$root.new"
	mkdir -p "$root.new"
	debootstrap --variant=minbase "$release" "$root.new" "$mirror" > "$root.log" 2>&1 ||
		{ tail -n 20 "$root.log" >&2; die "debootstrap failed, see $root.log"; }
	mv "$root.new" "$root"
}

# The chroot reaches the network as this machine does.
prepare_network() {
	local file
	for file in resolv.conf hosts; do
		[ ! -e "/etc/$file" ] || cp --remove-destination -L "/etc/$file" "$root/etc/$file"
	done
	apt-config dump | grep -E '^Acquire::https?::Proxy' > "$root/etc/apt/apt.conf.d/90proxy" || true
}

# What is tracked, with changes that are not committed yet.
copy_checkout() {
	local tree
	tree=$(git stash create)
	rm -rf --one-file-system "${root:?}$checkout"
	mkdir -p "$root$checkout"
	git archive --format=tar "${tree:-HEAD}" | tar -x -C "$root$checkout"
}

# ---- inside -------------------------------------------------------------------------------------------------------------

# Runs as the first process of namespaces of its own. When it ends, so does whatever is left in them.
run_inside() {
	local root=$1 checkout=$2
	shift 2
	mount --make-rprivate /
	mount -t proc proc "$root/proc"
	mount -t sysfs -o ro sysfs "$root/sys"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
	mount -t tmpfs -o mode=755 tmpfs "$root/run"
	# Not in place of this shell: it takes in the processes that others leave behind.
	chroot "$root" /usr/bin/env HOME=/root TMPDIR=/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		bash "$checkout/scripts/test.sh" "$@"
}

main() {
	local code=0
	[ "$(id -u)" -eq 0 ] || die "needs root"
	git rev-parse --verify --quiet HEAD > /dev/null || die "is for a git checkout"
	mkdir -p build
	exec 8> "$PWD/build/debian13.lock"
	flock 8 # one at a time
	if [ ! -e "$root/etc/debian_version" ]; then
		[ -z "${DLOCK_DEBIAN13_ROOT-}" ] || die "no chroot in $root"
		make_chroot
	fi
	grep -qx "VERSION_CODENAME=$release" "$root/etc/os-release" || die "$root is no Debian $release"
	prepare_network
	copy_checkout
	# Other PHPs and modules that the caller may have named are not there.
	unset PHPIZE PHP_CONFIG DLOCK_BUILD_DIR DLOCK_MODULE CC
	# Without this a build that does not find its parts would leave TLS out, and its tests would be skipped.
	export DLOCK_CONFIGURE="--enable-dlock-tls ${DLOCK_CONFIGURE-}"
	export -f run_inside
	# However this shell ends, the inner one ends as well, and all that it started.
	# shellcheck disable=SC2016 # for the inner shell
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child -- bash -c 'set -euo pipefail; run_inside "$@"' _ "$root" "$checkout" "$@" 8>&- || code=$?
	rm -rf "$logs"
	[ ! -d "$root$checkout/build/last-logs" ] || cp -r "$root$checkout/build/last-logs" "$logs"
	return "$code"
}

main "$@"
