#!/usr/bin/env bash
# Checks the Promela models in models/ with spin: each is searched exhaustively, and each known mistake must be found out.
# The last line is the result: "N passed, N failed". Needs spin and a C compiler; see models/README.md.
#
#   scripts/check-models.sh [-v] [words]     -v: the size of each search; words: only the runs whose names contain them
#
#   DLOCK_MODEL_JOBS=4    runs at a time (default: one per processor)
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
models=$PWD/models
memory=1900 # MB, of all runs together

verbose=0
[ "${1:-}" != -v ] || { verbose=1; shift; }
only=$*
jobs=${DLOCK_MODEL_JOBS:-$(nproc)}
for tool in spin "${CC:-cc}"; do
	command -v "$tool" >/dev/null || { echo "$tool is needed"; echo "0 passed, 1 failed"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a mistake must violate, as pan reports it
owners='assertion violated .*belief'
asleep='assertion violated .*free_for'
wasted='assertion violated .*lease==1'
stuck='assertion violated .*lock!='
unserved='acceptance cycle'

# Searches one model. Prints why it is not as it should be, or nothing.
#   search directory model "macros" "what must be violated; '': nothing"
search() {
	local dir=$1 model=$2 macros=$3 violated=$4 compile=(-O2 -w -DNOREDUCE "-DMEMLIM=$((memory / jobs))") run=(-m2000000 -w22)
	mkdir "$dir"
	cd "$dir"
	case " $macros " in
	*" -DSERVED "*) compile+=(-DNFAIR=3); run+=(-a -f -A) ;;
	*) compile+=(-DSAFETY) ;;
	esac
	# shellcheck disable=SC2086 # macros are words
	if ! spin $macros -a "$models/$model.pml" >spin.out 2>&1 || grep -qi 'error' spin.out; then
		echo "spin: $(grep -i -m1 error spin.out || tail -1 spin.out)"
		return
	fi
	if ! "${CC:-cc}" "${compile[@]}" -o pan pan.c >cc.out 2>&1; then
		echo "${CC:-cc}: $(grep -m1 error cc.out)"
		return
	fi
	if ! ./pan "${run[@]}" >pan.out 2>&1; then
		echo "pan: ended with an error: $(tail -1 pan.out)"
	elif grep -Eqi 'max search depth|out of memory|memory limit|VECTORSZ|hash conflict.*resize fail|Search not completed' pan.out \
			&& ! { [ -n "$violated" ] && grep -q 'errors: 1' pan.out && ! grep -Eqi 'max search depth|out of memory' pan.out; }; then
		echo "not searched to the end: $(grep -Ei -m1 'max search depth|out of memory|memory limit|not completed' pan.out)"
	elif [ -n "$violated" ]; then
		grep -Eq "$violated" pan.out || echo "not found out: expected '$violated', $(grep -m1 -E '^pan:1|errors:' pan.out)"
	elif ! grep -q 'errors: 0' pan.out; then
		grep -m1 '^pan:1' pan.out || tail -1 pan.out
	elif grep -E 'pml:[0-9]+, state' pan.out | grep -qv -- '-end-'; then
		# An action that never happens would make a model that holds for want of trying.
		echo "never reached: $(grep -E 'pml:[0-9]+, state' pan.out | grep -v -- '-end-' | sed -E 's/.*(pml:[0-9]+).*/\1/' | sort -u | tr '\n' ' ')"
	fi
}

# check "name" model "macros" ["what must be violated"]
check() {
	local name=$1 dir=$work/$((++count)) why size=
	[[ $name == *"$only"* ]] || return 0
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
		wait -n || true
	done
	{
		why=$(search "$dir" "${@:2:3}" "${4:-}")
		if [ "$verbose" = 1 ] && [ -e "$dir/pan.out" ]; then
			size=$(sed -nE 's/^ *([0-9]+) states, stored.*/ (\1 states/p; s/.*elapsed time ([0-9.e+-]+) s.*/, \1 s)/p' "$dir/pan.out" | tr -d '\n')
		fi
		rm -rf "$dir"
		if [ -z "$why" ]; then echo "PASS $name$size"; else echo "FAIL $name$size: $why"; fi | tee "$work/result.${dir##*/}"
	} &
}

count=0
holds() { check "handover: $1" handover "$2"; }
bites() { check "handover with $1 fails as it must: $2" handover "-D$1 ${4:-}" "$3"; }

holds 'never two owners, no grant lost: three clients, any timing' '-DN=3'
holds 'somebody served within the re-check: three clients, one fault' '-DPROMPT -DN=3 -DFAULTS=1'
holds 'never two owners, no grant lost: two clients, two faults' '-DFAULTS=2'
holds 'never two owners: a release that comes late' '-DLATE_RELEASE'
holds 'never two owners: leases extended' '-DRENEW'
holds 'never two owners: beside a foreign client' '-DFOREIGN'
holds 'nobody asleep while the lock is free, no lease runs out: three clients' '-DPROMPT -DN=3'
holds 'nobody asleep beyond the re-check: two clients, three faults' '-DPROMPT -DFAULTS=3'
holds 'nobody asleep beyond the re-check: beside a foreign client' '-DPROMPT -DFOREIGN -DFAULTS=1'
holds 'whoever waits is served: two clients, two faults' '-DPROMPT -DSERVED -DFAULTS=2'
holds 'whoever waits is served: three clients' '-DPROMPT -DSERVED -DN=3'

bites BELIEF_FROM_REPLY 'two owners' "$owners"
bites BELIEF_FROM_READING 'two owners' "$owners"
bites TAKE_ANY_GRANT 'two owners' "$owners"
bites EXTENSION_TAKEN_FOR_GRANTED 'two owners' "$owners"
bites EXTENSION_NOT_READ 'two owners' "$owners"
bites RELEASE_WITHOUT_COMPARE 'two owners' "$owners"
bites TOKEN_REUSED 'two owners' "$owners" '-DLATE_RELEASE'
bites LEAVE_WITHOUT_ASKING 'a grant lost' "$stuck"
bites LEAVE_WITHOUT_ASKING 'a grant lost, nobody being slow' "$stuck" '-DPROMPT'
bites SUBSCRIBE_AFTER_ENQUEUE 'asleep while the lock is free' "$asleep" '-DPROMPT'
bites NO_RECHECK 'asleep for good' "$asleep" '-DPROMPT -DFAULTS=1'
bites NO_RECHECK 'not served' "$unserved" '-DPROMPT -DSERVED -DFAULTS=1'
bites NO_RECHECK 'asleep for good beside a foreign client' "$asleep" '-DPROMPT -DFOREIGN'

wait
passed=$(cat "$work"/result.* 2>/dev/null | grep -c '^PASS' || true)
failed=$(cat "$work"/result.* 2>/dev/null | grep -c '^FAIL' || true)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
