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

# Unless the script has its own: ends what run_php runs, and removes the folder of the run.
clean_up() {
	trap '' INT TERM HUP
	if [ -n "${job-}" ]; then
		kill "$job" 2> /dev/null || true
		wait "$job" || true
	fi
	rm -rf "$run"
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

# run_php MODULES SCRIPT [ARGUMENT …]: with the extension of begin_run, and with these modules of PHP's own. The servers that the program starts
# end with it: it is told to end when this script ends, in whatever way. The status is the program's; with time_limit, 124 after so many seconds.
run_php() {
	local status=0 modules=$1
	shift
	# shellcheck disable=SC2046,SC2086 # words
	DLOCK_TEST_DIR=$run setpriv --pdeathsig TERM ${time_limit:+timeout --kill-after=20 "$time_limit"} \
		"$php" -n $(module_options $modules) -d "extension=$run/dlock.so" "$@" &
	job=$!
	wait "$job" || status=$?
	job=""
	return "$status"
}
