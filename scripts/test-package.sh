#!/usr/bin/env bash
# Tests the package as users install it. Makes the tarball with `pecl package`. Then it uses a fresh Debian 12 and a
# fresh Debian 13, each in its own chroot. There it runs `pecl install`, the first example of the README, and some of
# the package's tests, on servers of their own. It makes the Debian package in another such chroot, and in a third one
# installs it, runs the example and purges it. Needs root. It packs the tracked files as they are in the checkout. The
# last line is the result: "N passed, N failed". Logs and Debian packages are in build/package.
#
#   scripts/test-package.sh [bookworm|trixie …]    default: both
#
#   DLOCK_DEBIAN_MIRROR=URL    make the chroots from there (default: the mirror in this machine's apt sources)
#
# build/package keeps chroots with nothing but Debian's base, and the packages fetched for them, for the next run.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
cd "$(dirname "$0")/.."

# shellcheck source-path=SCRIPTDIR
. scripts/chroot.inc.sh

work=$PWD/build/package
tests=(tests/api/distributed_lock_basic.phpt tests/api/lease_basic.phpt tests/api/red_lock_basic.phpt tests/api/fencing_tokens.phpt
	tests/api/synchronized.phpt tests/api/server_errors.phpt tests/handover/order.phpt tests/lifecycle/fork_child.phpt
	tests/zk/basic.phpt tests/zk/ensemble.phpt)
passed=0 failed=0

# check NAME COMMAND …: if the command fails, its output is shown.
check() {
	local name=$1 code=0
	shift
	"$@" > "$work/out" 2>&1 || code=$?
	{ echo "== $name"; cat "$work/out"; } >> "$work/log"
	if [ "$code" -eq 0 ]; then
		echo "PASS $name"
		passed=$((passed + 1))
	else
		echo "FAIL $name"
		tail -n 40 "$work/out"
		failed=$((failed + 1))
	fi
	return "$code"
}

# ---- here ------------------------------------------------------------------------------------------------------------

# Makes the tarball in build/package. PEAR only prints warnings and errors, and continues. A date other than today's
# does not fail here; see RELEASING.md.
make_tarball() {
	copy_checkout "$work/source"
	(cd "$work/source" && pecl package) | tee "$work/pecl"
	! grep -iE '^(warning|error)' "$work/pecl" | grep -v 'Release Date .* is not today$' || return 1
	mv "$work/source/$tarball" "$work/"
}

# The tarball has the files that package.xml names (test.sh compares these with the checkout), with their content there.
tarball_is_complete() {
	local packed=$work/unpacked/${tarball%.tgz}
	rm -rf "$work/unpacked"
	mkdir "$work/unpacked"
	tar -xzf "$work/$tarball" -C "$work/unpacked"
	diff <(sed -nE 's/^ *<file name="([^"]*)".*/\1/p' "$work/source/package.xml" | sort) <(cd "$packed" && find . -type f -printf '%P\n' | sort) ||
		return 1
	(cd "$packed" && find . -type f -exec cmp {} "$work/source/{}" \;) | tee "$work/differ"
	[ ! -s "$work/differ" ]
}

# ---- functions that run in the chroot --------------------------------------------------------------------------------

# Installs the packages that the README names; also pecl, composer, and servers for the example and the tests.
inside_prepare() {
	apt-get -qq update
	apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "$@"
	apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends php-pear composer redis-server zookeeper default-jre-headless
	mkdir /srv/before && cp -a "$(php-config --extension-dir)" /srv/before/
}

inside_install() {
	# Without input, so pecl must not ask.
	pecl install "/srv/$1" < /dev/null | tee /srv/pecl-install.out
	if grep -E '\[.*\] : ' /srv/pecl-install.out; then
		return 1
	fi
	[ -f "$(php-config --extension-dir)/dlock.so" ]
	# shellcheck disable=SC1091
	. /srv/enable.sh
	grep -q '^extension=dlock.so' /etc/php/*/cli/conf.d/20-dlock.ini
	php -r 'foreach ([DistributedLock::class, RedLock::class, ZkLock::class, Dlock\Lease::class] as $class) { class_exists($class) || exit(1); }'
	for command in dlock dlock-doctor; do
		[ "$(command -v "$command")" = "$(dirname "$(command -v pecl)")/$command" ]
		[ "$(head -n 1 "$(command -v "$command")")" = "#!$(pecl config-get php_bin)" ]
	done
}

inside_version() {
	[ "$(php -r 'echo phpversion("dlock");')" = "$1" ]
	[ "$(dlock --version)" = "dlock $1" ]
	[ "$(dlock-doctor --version)" = "dlock-doctor $1" ]
	[ "$(pecl list | awk '$1 == "dlock" { print $2 }')" = "$1" ]
}

# Runs the README's first example unchanged, with the functions that it calls and does not have.
inside_example() {
	cat > /tmp/prepend.php <<-'PHP'
		<?php
		function read_stock(int $id): int { return $GLOBALS['stock'] ??= 7; }
		function write_stock(int $id, int $stock, int $fence): void { $fence > 0 || throw new Error('no fencing token'); $GLOBALS['stock'] = $stock; }
		register_shutdown_function(fn () => printf("left: %d\n", $GLOBALS['stock']));
	PHP
	redis-server --bind 127.0.0.1 --port 6379 --save '' --dir /tmp --daemonize yes > /dev/null
	until redis-cli ping > /dev/null 2>&1; do sleep 0.05; done
	php -d display_errors=stderr -d auto_prepend_file=/tmp/prepend.php /srv/example.php | tee /tmp/example.out
	grep -qE '^held for another (29|30)\.[0-9] s$' /tmp/example.out
	grep -qx 'left: 6' /tmp/example.out
	[ -z "$(redis-cli --raw keys 'Lock:*')" ]
}

# Runs PHP's own run-tests.php with the installed extension, in the place where PEAR puts a package's tests.
inside_tests() {
	local dir code=0
	dir=$(pecl config-get test_dir)/dlock
	mkdir -p /srv/run
	bash "$dir/tests/setup/servers.sh" start /srv/run
	# shellcheck disable=SC1091
	. /srv/run/env
	cd "$dir"
	TEST_PHP_EXECUTABLE=$(php-config --php-binary) NO_INTERACTION=1 NO_COLOR=1 \
		php "$(php-config --extension-dir)/build/run-tests.php" -q --show-diff -W /srv/run/results "$@" < /dev/null || code=$?
	bash "$dir/tests/setup/servers.sh" stop /srv/run
	[ "$code" -eq 0 ] && [ "$(grep -c '^PASSED' /srv/run/results)" -eq $# ]
}

inside_uninstall() {
	phpdismod dlock && rm /etc/php/*/mods-available/dlock.ini
	pecl uninstall dlock
	[ ! -e "$(pecl config-get test_dir)/dlock" ]
	[ ! -e "$(pecl config-get data_dir)/dlock" ]
	[ ! -e "$(pecl config-get bin_dir)/dlock" ]
	[ ! -e "$(pecl config-get bin_dir)/dlock-doctor" ]
	diff -r "/srv/before/$(basename "$(php-config --extension-dir)")" "$(php-config --extension-dir)"
}

# Does all that the README says, line by line, and then removes it as docs/installation.md says.
inside_by_hand() {
	local php
	apt-get -qq update
	apt-get -qq -o Dpkg::Use-Pty=0 install php-cli php-fpm
	cd /srv/dlock
	head -n 1 /srv/by-hand.sh > /srv/by-hand-packages.sh
	# shellcheck disable=SC1091
	. /srv/by-hand-packages.sh
	inside_list > /srv/before
	# shellcheck disable=SC1091
	. /srv/by-hand.sh
	php=$(php -r 'printf("%d.%d", PHP_MAJOR_VERSION, PHP_MINOR_VERSION);')
	"php-fpm$php" -m | grep -x dlock
	[ "$(dlock --version)" = "dlock $1" ]
	[ "$(dlock-doctor --version)" = "dlock-doctor $1" ]
	# shellcheck disable=SC1091
	. /srv/removal.sh
	inside_list | diff /srv/before -
}

# The Debian image of docs/docker.md: runs its RUN and COPY lines in a system with Debian's PHP. A script replaces the
# one command of the PHP image that they use.
inside_docker() {
	apt-get -qq update
	apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends php-cli php-dev make redis-server
	cat > /usr/local/bin/docker-php-ext-enable <<-'SH'
		#!/bin/sh
		echo "extension=$1.so" > "$(php-config --ini-dir)/docker-php-ext-$1.ini"
	SH
	chmod +x /usr/local/bin/docker-php-ext-enable
	# shellcheck disable=SC1091
	. /srv/docker.sh
	php --ri dlock | tee /srv/ri
	grep -q '^ZooKeeper client => built with ' /srv/ri
	grep -q '^TLS .* => built with ' /srv/ri
	[ "$(dlock --version)" = "dlock $1" ]
	[ "$(dlock-doctor --version)" = "dlock-doctor $1" ]
	[ ! -e /usr/src/dlock ]
}

# Debian's package: made in one chroot, as docs/installation.md says, and used in another.
inside_debian_build() {
	apt-get -qq update
	cd /srv/dlock
	# shellcheck disable=SC1091
	. /srv/debian-build.sh
	ls -l /srv/php-dlock_*.deb
}

# All files, except the records of apt and dpkg, and PHP's record of disabled modules, which each extension of Debian
# leaves.
inside_list() {
	find / -xdev \( -path /srv -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \
		-o -path '/var/lib/php/modules/*/*abled_by_*' \) -prune -o -printf '%p %l\n' | sort
}

inside_debian_install() {
	local version=$1 php
	apt-get -qq update
	apt-get -qq -o Dpkg::Use-Pty=0 install php-cli php-fpm redis-server
	inside_list > /srv/before
	cd /srv/dlock
	# shellcheck disable=SC1091
	. /srv/debian-install.sh
	php --ri dlock | tee /srv/ri
	grep -qx "dlock version => $version" /srv/ri
	grep -q '^ZooKeeper client => built with ' /srv/ri
	grep -q '^TLS .* => built with ' /srv/ri
	php=$(php -r 'printf("%d.%d", PHP_MAJOR_VERSION, PHP_MINOR_VERSION);')
	"php-fpm$php" -m | tee /srv/modules
	grep -qx dlock /srv/modules
	[ "$(dlock --version)" = "dlock $version" ]
	[ "$(dlock-doctor --version)" = "dlock-doctor $version" ]
	[ "$(dpkg-query -W -f '${Provides}' php-dlock)" = "php$php-dlock" ]
	[ -s /usr/share/doc/php-dlock/docs/leases.md ]
	php -n /usr/share/php-dlock/dlock.php
}

inside_debian_purge() {
	apt-get -qq -o Dpkg::Use-Pty=0 purge --autoremove php-dlock
	inside_list | diff /srv/before -
}

# Composer knows the section of a PHP extension since 2.8.
inside_composer() {
	cp /srv/composer.json /tmp/composer.json
	COMPOSER_ALLOW_SUPERUSER=1 composer validate --strict --no-interaction /tmp/composer.json
}

# ---- the chroots -----------------------------------------------------------------------------------------------------

# A copy of Debian's base. After the run, only the packages that were fetched are kept.
fresh_chroot() {
	local release=$1 base=$work/$1.base
	[ -e "$base/etc/debian_version" ] || make_chroot "$release" "$base"
	remove_chroot
	cp -a --reflink=auto "$base" "$root"
	prepare_network "$root"
	mkdir -p "$work/$release.archives/partial"
	rm -rf "$root/var/cache/apt/archives"
	cp -a "$work/$release.archives" "$root/var/cache/apt/archives"
	echo 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";' > "$root/etc/apt/apt.conf.d/91keep"
	printf 'APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n' > "$root/etc/apt/apt.conf.d/92unattended"
	printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d" # no service is started
	chmod 755 "$root/usr/sbin/policy-rc.d"
	cp "$work/$tarball" composer.json "$root/srv/"
	awk '/^```php$/ { inside = 1; next } /^```$/ && inside { exit } inside' README.md > "$root/srv/example.php"
	sed -n '/^phpize/,/^```/{/^phpize\|^install\|^```/!p}' README.md > "$root/srv/enable.sh" # the rest, after pecl
	awk '/^```dockerfile$/ { inside = 1; next } /^```$/ && inside { exit } inside && !/^FROM/ { sub(/^RUN /, ""); sub(/^COPY \. /, "cp -r /srv/dlock "); print }' \
		docs/docker.md > "$root/srv/docker.sh"
	sed -n '/^apt-get update && apt-get install make/,/^```/{/^```/!p}' README.md > "$root/srv/by-hand.sh"
	sed -n '/^phpdismod/p' docs/installation.md > "$root/srv/removal.sh"
	sed -n '/^cp -rL packages/,/^dpkg-buildpackage/p' docs/installation.md > "$root/srv/debian-build.sh"
	sed -n '/^apt-get install .*\.deb/p' docs/installation.md > "$root/srv/debian-install.sh"
}

keep_packages() {
	cp -a "$root"/var/cache/apt/archives/*.deb "$work/${1:?}.archives/"
}

remove_chroot() {
	[ -z "${root-}" ] || rm -rf --one-file-system "$root"
}

# inside FUNCTION ARGUMENT …: calls one of the functions above in the chroot.
inside() {
	# shellcheck disable=SC2046 # names
	{ echo 'set -euo pipefail'; declare -f $(compgen -A function inside_); echo '"$@"'; } > "$root/srv/run.sh"
	in_chroot "$root" bash /srv/run.sh "$@" 8>&- & # so that a signal to this shell does not wait for it
	wait $!
}

# The same with its own 127.0.0.1, where all ports are free.
inside_alone() {
	own_network=1 inside "$@"
}

clean_up() {
	local pids
	pids=$(jobs -p)
	[ -z "$pids" ] || { kill -KILL "$pids" && wait "$pids"; } 2> /dev/null || true
	remove_chroot
}

test_release() {
	local release=$1
	root=$work/$release.root
	fresh_chroot "$release"
	check "$release: the README's packages can be installed" inside inside_prepare "${packages[@]}" || return 0
	keep_packages "$release"
	check "$release: pecl install, without questions" inside inside_install "$tarball" || return 0
	check "$release: its version is $version" inside inside_version "$version" || true
	check "$release: the README's first example" inside_alone inside_example || true
	check "$release: ${#tests[@]} of the package's tests" inside_alone inside_tests "${tests[@]}" || true
	[ "$release" = bookworm ] || check "$release: composer.json" inside_alone inside_composer || true
	check "$release: pecl uninstall leaves nothing behind" inside inside_uninstall || true
	remove_chroot
	test_by_hand "$release"
	test_docker "$release"
	test_debian "$release"
}

# True: besides files that git ignores, the checkout has only staged files.
checkout_is_clean() {
	local status
	status=$(git -C "$root/srv/dlock" status --porcelain) || return 1
	! grep -v '^A  ' <<< "$status"
}

test_by_hand() {
	local release=$1
	fresh_chroot "$release"
	copy_checkout "$root/srv/dlock"
	check "$release: installed by hand, as the README has it, and removed without a trace" inside inside_by_hand "$version" || true
	keep_packages "$release"
	remove_chroot
}

test_docker() {
	local release=$1
	fresh_chroot "$release"
	copy_checkout "$root/srv/dlock"
	check "$release: the Debian image of docs/docker.md" inside inside_docker "$version" || true
	keep_packages "$release"
	check "$release: the README's first example in it" inside_alone inside_example || true
	remove_chroot
}

test_debian() {
	local release=$1 made=$work/$1.debian
	fresh_chroot "$release"
	copy_checkout "$root/srv/dlock"
	git -C "$root/srv/dlock" init --quiet && git -C "$root/srv/dlock" add --all
	check "$release: dpkg-buildpackage, as docs/installation.md has it" inside inside_debian_build || return 0
	check "$release: it leaves the checkout clean" checkout_is_clean || true
	keep_packages "$release"
	rm -rf "$made"
	mkdir "$made"
	mv "$root"/srv/*.deb "$made/"

	fresh_chroot "$release"
	mkdir "$root/srv/dlock"
	cp "$made"/*.deb "$root/srv/"
	check "$release: php, php-fpm and dlock-doctor of the Debian package" inside inside_debian_install "$version" || return 0
	keep_packages "$release"
	check "$release: the README's first example with the Debian package" inside_alone inside_example || true
	check "$release: apt-get purge leaves nothing behind" inside inside_debian_purge || true
	remove_chroot
}

main() {
	[ "$(id -u)" -eq 0 ] || die "needs root"
	git rev-parse --verify --quiet HEAD > /dev/null || die "is for a git checkout"
	[ $# -gt 0 ] || set -- bookworm trixie
	mkdir -p "$work"
	exec 8> "$work.lock"
	flock 8 # one run at a time
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	: > "$work/log"
	command -v pecl > /dev/null || install_on_this_machine php-pear php-xml
	version=$(sed -nE 's/^#define PHP_DLOCK_VERSION "(.*)"$/\1/p' php_dlock.h)
	tarball=dlock-$version.tgz
	read -ra packages < <(sed -n 's/^apt-get update && apt-get install //p' README.md)

	check "pecl package" make_tarball && check "the tarball is complete" tarball_is_complete || set --
	for release; do test_release "$release"; done
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}

main "$@"
