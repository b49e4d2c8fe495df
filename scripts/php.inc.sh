# shellcheck shell=bash
# Source this file in scripts that run PHP with "-n", so that no php.ini of the machine changes what they test or
# measure.

# module_options NAME …: options with which $php loads these modules of PHP, if it has them as shared modules.
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

# Ends what run_php runs, and removes the folder of the run. A script may define its own function instead.
clean_up() {
	trap '' INT TERM HUP
	if [ -n "${job-}" ]; then
		kill "$job" 2> /dev/null || true
		wait "$job" || true
	fi
	rm -rf "$run"
}

# begin_run NAME [PACKAGE …]: installs what is missing, and builds the extension unless DLOCK_MODULE names another
# build. $run is a folder for this run with a copy of the module, dlock.so: a later build must not change what is tested
# or measured. However the script ends, clean_up is called.
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

# run_php MODULES SCRIPT [ARGUMENT …]: runs PHP with the extension of begin_run and these modules. When this script
# ends, in whatever way, the program is told to end, and its servers end with it. Returns the program's status; with
# time_limit, 124 after that many seconds.
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
