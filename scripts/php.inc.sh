# shellcheck shell=bash
# To be sourced by scripts that run PHP with "-n", so that no php.ini of the machine changes what they test or measure.

# module_options NAME …: options with which $php loads these of PHP's own modules, as far as it has them as shared ones.
module_options() {
	local name title option builtin dir
	builtin=$("$php" -n -m)
	dir=$("${PHP_CONFIG:-php-config}" --extension-dir)
	for name; do
		title=$name option=extension
		[ "$name" != opcache ] || { title='zend opcache'; option=zend_extension; }
		grep -qix "$title" <<< "$builtin" || [ ! -e "$dir/$name.so" ] || echo "-d $option=$name"
	done
}

# begin_run NAME [PACKAGE …]: what is to be installed is, and the extension is built, where DLOCK_MODULE names no other build.
# $run is a folder for this run with a copy of it, dlock.so: a build meanwhile must not change what is tested or measured.
# However the script ends, clean_up is called.
begin_run() {
	run=$PWD/build/$1.$$
	shift
	scripts/install-deps.sh "$@"
	[ -n "${DLOCK_MODULE-}" ] || scripts/build.sh
	php=$("${PHP_CONFIG:-php-config}" --php-binary)
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	mkdir -p "$run"
	cp "${DLOCK_MODULE:-${DLOCK_BUILD_DIR:-build/ext}/modules/dlock.so}" "$run/dlock.so"
}
