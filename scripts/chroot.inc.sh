# shellcheck shell=bash
# Debian in a chroot, made by debootstrap, for scripts that test there. Source this file; $0 names the script in
# messages.

die() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }

# The first of apt's sources that belongs to Debian, without security updates.
debian_mirror() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | sed -n 1p
}

install_on_this_machine() {
	apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "$@" ||
		{ apt-get -qq update && apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "$@"; }
}

# make_chroot RELEASE DIR: makes it completely or not at all. After an interruption, it begins again.
make_chroot() {
	local release=$1 root=$2 mirror
	command -v debootstrap > /dev/null || install_on_this_machine debootstrap
	mirror=${DLOCK_DEBIAN_MIRROR:-$(debian_mirror)}
	if [ -z "$mirror" ]; then # apt knows its sources once it has their lists
		apt-get -qq update
		mirror=$(debian_mirror)
	fi
	[ -n "$mirror" ] || die "no Debian mirror in apt's sources: name one in DLOCK_DEBIAN_MIRROR"
	echo "$(basename "$0" .sh): making ${root#"$PWD"/}"
	mkdir -p "$(dirname "$root")"
	rm -rf --one-file-system "$root.new"
	mkdir "$root.new"
	debootstrap --variant=minbase "$release" "$root.new" "$mirror" > "$root.log" 2>&1 ||
		{ tail -n 20 "$root.log" >&2; die "debootstrap failed, see $root.log"; }
	mv "$root.new" "$root"
}

# The chroot reaches the network as this machine does.
prepare_network() {
	local root=$1 file
	for file in resolv.conf hosts; do
		[ ! -e "/etc/$file" ] || cp --remove-destination -L "/etc/$file" "$root/etc/$file"
	done
	apt-config dump | grep -E '^Acquire::https?::Proxy' > "$root/etc/apt/apt.conf.d/90proxy" || true
}

# Copies the tracked files as they are in the checkout, with uncommitted changes.
copy_checkout() {
	local to=$1 tree
	# Otherwise git stash fails on files with new times, as a copied checkout has them.
	git update-index -q --refresh || true
	tree=$(git stash create)
	rm -rf --one-file-system "$to"
	mkdir -p "$to"
	git archive --format=tar "${tree:-HEAD}" | tar -x -C "$to"
}

# Runs as the first process of its own namespaces. When it ends, all their processes end.
in_chroot_as_first() {
	local root=$1
	shift
	mount --make-rprivate /
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount -t sysfs -o ro sysfs "$root/sys"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
	mount -t tmpfs -o mode=755 tmpfs "$root/run"
	[ -z "${own_network-}" ] || ip link set lo up
	# Not chroot, because a process that enters a namespace made inside must have this root, too.
	cd "$root"
	pivot_root . .
	umount --lazy .
	cd /
	# Not exec, because this shell reaps processes that lose their parent.
	/usr/bin/env HOME=/root TMPDIR=/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# in_chroot DIR COMMAND …: runs it with its own mounts, processes, /tmp and /run. They end with it, in whatever way this
# shell ends. If own_network=1 is in the environment, its only network is its own 127.0.0.1.
in_chroot() {
	export -f in_chroot_as_first
	# shellcheck disable=SC2016 # for the inner shell
	setpriv --pdeathsig KILL unshare --mount --pid ${own_network:+--net} --fork --kill-child -- \
		bash -c 'set -euo pipefail; in_chroot_as_first "$@"' _ "$@"
}
