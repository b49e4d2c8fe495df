#!/usr/bin/env bash
# Checks the Promela models in tests/models/ with spin: each is searched exhaustively, and each known mistake must be found out. What is too
# large for that, tests/models/failover/ walks through at random.
# The last line is the result: "N passed, N failed". Needs spin and a C compiler; see tests/models/README.md.
#
#   scripts/check-models.sh [-v] [-l] [words]    -v: the size of each search; -l: long ones too (a minute each, 3 GB)
#                                                words: only the runs whose names contain them
#   scripts/check-models.sh --if-changed         only if tests/models/ or this script differ from what tests/models/searched says, which
#                                                a whole run without failure writes
#
#   DLOCK_MODEL_JOBS=4    runs at a time (default: one per processor)
#   DLOCK_MODEL_SEED=7    of the random walks (default: another one each time; each walk tells its seed)
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
models=$PWD/tests/models
memory=1900 # MB, of all runs together; the long ones may take more
depth=2000000

searched=tests/models/searched

# Of all that decides what a run finds.
digest() { find tests/models scripts/check-models.sh -type f ! -path "$searched" ! -name '*.md' | sort | xargs sha256sum | sha256sum | cut -d' ' -f1; }

if [ "${1:-}" = --if-changed ]; then
	shift
	if [ "$(digest)" = "$(cat "$searched" 2> /dev/null)" ]; then
		echo "PASS the models are those of the last whole run"
		echo "1 passed, 0 failed"
		exit
	fi
fi

verbose=0
long=0
while :; do
	case "${1:-}" in
	-v) verbose=1 ;;
	-l) long=1 ;;
	*) break ;;
	esac
	shift
done
only=$*
jobs=${DLOCK_MODEL_JOBS:-$(nproc)}
for tool in spin "${CC:-cc}"; do
	command -v "$tool" >/dev/null || { echo "$tool is needed"; echo "0 passed, 1 failed"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a mistake must violate, as pan reports it
owners='assertion violated .*(belief|owners)'
asleep='assertion violated .*free_for'
stuck='assertion violated .*lock!='
unserved='acceptance cycle'
forgotten='assertion violated .*state\[k\]!='
falling='assertion violated .*>(last|before)'
twice='assertion violated .*given'
overtaken='assertion violated .*ticket'
attached='assertion violated .*attached'
older='assertion violated .*overtaken'
useless='assertion violated .*server.*>=2'
passed_over='assertion violated .*(ahead|queued|waited)'
untold='assertion violated .*tickets'
vain='assertion violated .*(in_vain|room<)'
miscounted='assertion violated .*(used|sold|had|stock)'
left_over='assertion violated .*left'
written='assertion violated .*written'
too_soon='assertion violated .*within_guard'
waiting='assertion violated .*state\[0\]!='
part='assertion violated .*lock\[l\]!=p'
two='assertion violated .*lock\[l\]==255'

# Searches one model. Prints why it is not as it should be, or nothing.
#   search directory model "macros" "what must be violated; '': nothing"
search() {
	[ "$long" = 0 ] || memory=$((4000 * jobs)) depth=5000000
	local dir=$1 model=$2 macros=$3 violated=$4 never optimize=-O2 compile=(-w -DNOREDUCE -DPEG "-DMEMLIM=$((memory / jobs))") run=("-m$depth" -w22)
	[ -z "$violated" ] || optimize=-O0 # a mistake is found in moments, sooner than it is compiled otherwise
	compile+=("$optimize")
	mkdir "$dir" && cd "$dir" || { echo "no folder $dir"; return; } # it goes with a run that was killed
	case " $macros " in
	*" -DSERVED "*) compile+=(-DNFAIR=4); run+=(-a -f -A) ;;
	*) compile+=(-DSAFETY) ;;
	esac
	# shellcheck disable=SC2086 # macros are words
	if ! spin $macros -o3 -a "$models/$model.pml" >spin.out 2>&1 || grep -qi 'error' spin.out; then
		echo "spin: $(grep -i -m1 error spin.out || tail -1 spin.out)"
		return
	fi
	if ! "${CC:-cc}" "${compile[@]}" -o pan pan.c >cc.out 2>&1; then
		echo "${CC:-cc}: $(grep -m1 error cc.out)"
		return
	fi
	if ! ./pan "${run[@]}" >pan.out 2>&1; then
		echo "pan: ended with an error: $(tail -1 pan.out)"
	elif grep -Eqi 'max search depth|out of memory|MEMLIM|too small' pan.out \
			|| { [ -z "$violated" ] && grep -q 'errors: 0' pan.out && grep -q 'Search not completed' pan.out; }; then
		echo "not searched to the end: $(grep -Ei -m1 'max search depth|out of memory|MEMLIM|too small|not completed' pan.out)"
	elif [ -n "$violated" ]; then
		grep -Eq "$violated" pan.out || echo "not found out: expected '$violated', $(grep -m1 -E '^pan:1|errors:' pan.out)"
	elif ! grep -q 'errors: 0' pan.out; then
		grep -m1 '^pan:1' pan.out || tail -1 pan.out
	else
		# An action that never happens would make a model that holds for want of trying.
		./pan -d | sed -nE 's/.*\(tr +([0-9]+)\).*=> D_STEP([0-9]+).*/\1 \2/p' | sort -u >steps
		awk '$2 == "trans" && $1 > 0 { print $3 }' pan.out | sort -u >taken
		[ -s steps ] && [ -s taken ] || echo "pan does not tell which actions it took"
		never=$(awk 'NR == FNR { taken[$1] = 1; next } !($1 in taken) { print $2 }' taken steps | sort -nu | tr '\n' ' ')
		[ -z "$never" ] || echo "never reached: lines $never"
	fi
}

# check "name" model "macros" ["what must be violated"]
check() {
	local name=$1 dir=$work/$((++count)) why size=
	[[ $name == *"$only"* ]] || return 0
	await_job
	{
		why=$(search "$dir" "${@:2:3}" "${4:-}")
		if [ "$verbose" = 1 ] && [ -e "$dir/pan.out" ]; then
			size=$(sed -nE 's/^ *([0-9]+) states, stored.*/ (\1 states/p; s/.*elapsed time ([0-9.e+-]+) s.*/, \1 s)/p' "$dir/pan.out" | tr -d '\n')
		fi
		rm -rf "$dir"
		tell "$name$size" "$why" "${dir##*/}"
	} &
}

await_job() {
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
		wait -n || true
	done
}

# tell "name" "why it is not as it should be" number
tell() {
	if [ -z "$2" ]; then echo "PASS $1"; else echo "FAIL $1: $2"; fi | tee "$work/result.$3"
}

# Walks until the time is over, or something is violated. What is expected: '', nothing.
#   walk "name" seconds "settings" ["what must be violated"]
walk() {
	local name="walk: $1" seconds=$2 settings=$3 violated=${4:-} number=$((++count)) seed=${DLOCK_MODEL_SEED:-$((RANDOM * 32768 + RANDOM))} said why=
	[[ $name == *"$only"* ]] || return 0
	if [ ! -e "$work/walk" ] && ! "${CC:-cc}" -std=c11 -O2 -flto -Wall -Wextra -Werror -o "$work/walk" "$models"/failover/*.c 2>"$work/walk.cc"; then
		tell "$name" "${CC:-cc}: $(grep -m1 -i error "$work/walk.cc")" "$number"
		return
	fi
	await_job
	{
		# shellcheck disable=SC2086 # settings are words
		said=$("$work/walk" "seed=$seed" "seconds=$((seconds * (long ? 10 : 1)))" $settings 2>&1) || true
		if [ -z "$violated" ]; then
			[[ $said =~ ^[0-9.]+\ million\ ticks ]] || why=${said%%$'\n'*}
		elif ! grep -Eq "^($violated):" <<<"$said"; then
			why="not found out: $said"
		fi
		said=${said%%$'\n'*}
		[ "$verbose" = 0 ] || name+=" (${said%; seed=*})"
		tell "$name (seed=$seed)" "$why" "$number"
	} &
}

count=0
holds() { check "$1: $2" "$1" "$3"; }
walks() { walk "$1" "$2" "$3"; }
stumbles() { walk "with $1 fails as it must: $2" 60 "${1//+/ }" "${3:-two owners|a fencing token fell}"; }
bites() { check "$1 with $2 fails as it must: $3" "$1" "-D$2 ${5:-}" "$4"; }

holds handover 'never two owners, no grant lost: three clients, any timing' '-DN=3 -DLATE=0'
[ "$long" = 0 ] || holds handover 'never two owners, no grant lost: three clients, any timing, renewals that come late' '-DN=3 -DLATE=1'
holds handover 'no client asleep beyond the re-check: three clients, one fault' '-DPROMPT -DN=3 -DFAULTS=1'
holds handover 'never two owners, no grant lost: two clients, two faults' '-DFAULTS=2 -DLATE=1'
holds handover 'never two owners: a release that comes late' '-DLATE_RELEASE'
holds handover 'never two owners, no grant lost: renewals that come late' ''
holds handover 'never two owners: requests sent again' '-DREPEATS -DLATE=1'
holds handover 'never two owners: requests sent again, the first one late' '-DREPEATS -DSTRAYS -DLATE=0'
holds handover 'never two owners: a longer lease' '-DLENGTHENS'
holds handover 'never two owners: a longer lease, requests sent again, the first one late' '-DLENGTHENS -DREPEATS -DSTRAYS -DLATE=0'
holds handover 'never two owners, no grant lost: leases shorter than a grant' '-DSHORT'
holds handover 'never two owners: leases shorter than a grant, requests sent again, the first one late' '-DSHORT -DREPEATS -DSTRAYS -DLATE=0'
holds handover 'never two owners: beside a foreign client' '-DFOREIGN'
holds handover 'no client asleep while the lock is free, no lease runs out: three clients' '-DPROMPT -DN=3'
holds handover 'no client asleep while the lock is free, no lease runs out: leases shorter than a grant' '-DPROMPT -DN=3 -DSHORT'
holds handover 'no client asleep beyond the re-check: two clients, three faults' '-DPROMPT -DFAULTS=3'
holds handover 'no client asleep beyond the re-check: beside a foreign client' '-DPROMPT -DFOREIGN -DFAULTS=1'
holds handover 'every waiter is served: two clients, two faults' '-DPROMPT -DSERVED -DFAULTS=2'
holds handover 'every waiter is served: three clients' '-DPROMPT -DSERVED -DN=3'

bites handover BELIEF_FROM_REPLY 'two owners' "$owners"
bites handover BELIEF_FROM_READING 'two owners' "$owners"
bites handover COUNT_FROM_REPEAT 'two owners' "$owners" '-DREPEATS'
bites handover TAKE_ANY_GRANT 'two owners' "$owners"
bites handover RENEWAL_BELIEVED 'two owners' "$owners"
bites handover RENEWAL_NOT_READ 'two owners' "$owners"
bites handover RENEWAL_FROM_ANSWER 'two owners' "$owners"
bites handover RENEWAL_WITHOUT_COMPARE 'two owners' "$owners"
bites handover RENEWAL_SHORTENS 'two owners' "$owners" '-DLENGTHENS'
bites handover REPEAT_FORGOTTEN 'two owners' "$owners" '-DLENGTHENS -DREPEATS -DSTRAYS -DLATE=0'
bites handover REFUSAL_FORGOTTEN 'two owners' "$owners" '-DLENGTHENS -DREPEATS -DSTRAYS -DLATE=0'
bites handover SHORT_GRANT_TAKEN_UP 'two owners' "$owners" '-DSHORT -DREPEATS -DSTRAYS -DLATE=0'
bites handover RELEASE_WITHOUT_COMPARE 'two owners' "$owners"
bites handover TOKEN_REUSED 'two owners' "$owners" '-DLATE_RELEASE'
bites handover LEAVE_WITHOUT_ASKING 'a grant lost' "$stuck"
bites handover LEAVE_WITHOUT_ASKING 'a grant lost, although no client is slow' "$stuck" '-DPROMPT'
bites handover SUBSCRIBE_AFTER_ENQUEUE 'asleep while the lock is free' "$asleep" '-DPROMPT'
bites handover NO_RECHECK 'asleep for good' "$asleep" '-DPROMPT -DFAULTS=1'
bites handover NO_RECHECK 'not served' "$unserved" '-DPROMPT -DSERVED -DFAULTS=1'
bites handover NO_RECHECK 'asleep for good beside a foreign client' "$asleep" '-DPROMPT -DFOREIGN'

bites handover SILENT_BREAK 'not served' "$unserved" '-DPROMPT -DSERVED -DFAULTS=1'

readers_and_writers='-DRW -DN=4 -DW3=ALL'
holds permits 'never too many, no waiter overtaken: a semaphore, any timing, renewals' '-DRENEWALS=2'
holds permits 'never too many, no waiter overtaken: readers and writers, any timing' '-DRW'
holds permits 'never too many, no waiter overtaken: a reader, two writers, any timing' '-DRW -DW0=ALL'
holds permits 'never too many: requests sent again, the first one late' '-DN=2 -DREPEATS -DSTRAYS -DRENEWALS=1'
[ "$long" = 0 ] || holds permits 'never too many, no waiter overtaken: requests sent again' '-DREPEATS'
[ "$long" = 0 ] || holds permits "never too many, no waiter overtaken: readers' phases over several scripts, any timing" '-DRW -DBATCH=1'
holds permits 'no client asleep in vain, no lease runs out: a semaphore, four clients' '-DPROMPT -DN=4'
holds permits 'no client asleep in vain: grants over several scripts' '-DPROMPT -DN=4 -DBATCH=1'
holds permits 'no client asleep in vain, no lease runs out: readers and writers' "-DPROMPT $readers_and_writers"
holds permits "no client asleep in vain: readers' phases over several scripts" "-DPROMPT $readers_and_writers -DBATCH=1"
holds permits 'a fault costs one grace and a re-check: a semaphore' '-DPROMPT -DFAULTS=1 -DRENEWALS=3'
holds permits 'a fault costs one grace and a re-check: readers and writers' '-DPROMPT -DFAULTS=1 -DRW -DW2=ALL'
[ "$long" = 0 ] || holds permits 'no client asleep in vain: three faults' '-DPROMPT -DFAULTS=3'
holds permits 'every waiter is served: a client that wants all permits, one fault' '-DPROMPT -DSERVED -DFAULTS=1 -DW0=2 -DW1=1'
holds permits 'every waiter is served: a reader, one fault' '-DPROMPT -DSERVED -DFAULTS=1 -DRW -DW2=ALL'
holds permits 'every waiter is served: a writer, one fault' '-DPROMPT -DSERVED -DFAULTS=1 -DRW -DW0=ALL -DW1=1'

bites permits GIVEN_BACK_TWICE 'the count is not that of the holders' "$miscounted"
bites permits COUNTED_TWICE 'the count is not that of the holders' "$miscounted" '-DREPEATS'
bites permits OVERTAKING 'overtaken' "$passed_over"
bites permits OVERTAKING 'not served' "$unserved" '-DPROMPT -DSERVED -DW0=2 -DW1=1'
bites permits NEWCOMER_FIRST 'overtaken' "$passed_over"
bites permits TICKET_ANEW 'overtaken' "$passed_over"
bites permits READERS_FIRST 'overtaken' "$passed_over" '-DRW'
bites permits READERS_FIRST 'not served' "$unserved" '-DPROMPT -DSERVED -DRW -DW0=ALL -DW1=1'
bites permits WRITERS_FIRST 'a reader waits for two writers' "$passed_over" '-DRW -DW2=ALL'
bites permits WRITERS_FIRST 'not served' "$unserved" '-DPROMPT -DSERVED -DRW -DW2=ALL'
bites permits PHASE_FORGOTTEN 'a reader waits for two writers' "$passed_over" "-DPROMPT $readers_and_writers -DBATCH=1"
bites permits LEAVE_WITHOUT_ASKING 'permits lost' "$left_over"
bites permits RELEASE_TELLS_ONE 'asleep in vain' "$vain" '-DPROMPT'
bites permits LEAVE_TELLS_NOBODY 'asleep in vain' "$vain" '-DPROMPT'
bites permits NO_RECHECK 'asleep in vain' "$vain" '-DPROMPT -DFAULTS=1'
bites permits BELIEF_FROM_REPLY 'too many' "$owners"
bites permits BELIEF_FROM_READING 'too many' "$owners"
bites permits TAKE_ANY_GRANT 'too many' "$owners"
bites permits RENEWAL_FROM_ANSWER 'too many' "$owners" '-DRENEWALS=1'
bites permits RENEWAL_REVIVES 'too many' "$owners" '-DRENEWALS=1'
bites permits TAKEN_BACK_EARLY 'too many' "$owners"

holds stock 'never oversold, exact counts: answers lost, deaths' ''
holds stock 'never oversold, exact counts: two articles, all or nothing' '-DTWO -DPIECES=1'
holds stock 'never oversold, exact counts: questions that come late, extensions of any length' '-DREQUESTS=2 -DPIECES=1 -DSTRAYS -DSHORTER'
holds stock 'never oversold, exact counts: pieces put in and taken out' '-DREQUESTS=2 -DPIECES=1 -DRESTOCKS'
holds stock 'no buyer has more than the limit' '-DPIECES=1 -DW2=1 -DLIMIT=1 -DPLAIN'
baskets='-DTWO -DPIECES=1 -DWAITS -DPLAIN -DTTL=1'
holds stock 'all or nothing, no waiter overtaken or forgotten: an order of both products waits' "$baskets"
holds stock 'all or nothing, no waiter overtaken or forgotten: two orders of both products wait' "$baskets -DBASKETS=2"
[ "$long" = 0 ] || holds stock 'never oversold, no waiter overtaken or forgotten: a queue' '-DPIECES=1 -DW2=1 -DWAITS -DPLAIN'
[ "$long" = 0 ] || holds stock 'never oversold, exact counts: three requests, questions that come late' '-DSTRAYS -DLIMIT=1'

bites stock GIVEN_BACK_TWICE 'counts that are not exact' "$miscounted"
bites stock COUNTED_TWICE 'counts that are not exact' "$miscounted"
bites stock SOLD_TWICE 'counts that are not exact' "$miscounted"
bites stock CANCELLED_AFTER 'bought, and not there' "$left_over|sold_once"
bites stock ENDED_HOLDS 'counts that are not exact' "$miscounted"
bites stock LATE_CONFIRM 'more sold than there is' "$miscounted"
bites stock PARTLY_RESERVED 'oversold' "$owners|$miscounted" '-DTWO -DPIECES=1'
bites stock PARTLY_BOUGHT 'a part of a purchase' "$left_over" '-DTWO -DPIECES=1'
bites stock LIMIT_OF_SOLD 'more than the limit' "$miscounted|$left_over" '-DPIECES=2 -DW2=1 -DLIMIT=1'
bites stock LIMIT_LEAKS 'counts of buyers that are not exact' "$miscounted"
bites stock RESTOCKED_TWICE 'a change is made twice' "$miscounted" '-DREQUESTS=2 -DPIECES=1 -DRESTOCKS'
bites stock TAKEN_OUT_RESERVED 'oversold' "$owners|$miscounted" '-DREQUESTS=2 -DPIECES=1 -DRESTOCKS'
bites stock EXTEND_REVIVES 'counts that are not exact' "$miscounted"
bites stock EXTEND_SHORTENS 'oversold' "$owners" '-DREQUESTS=2 -DPIECES=1 -DSHORTER'
bites stock BELIEF_FROM_REPLY 'oversold' "$owners"
bites stock OVERTAKING 'overtaken' "$passed_over" '-DPIECES=1 -DW2=1 -DWAITS -DPLAIN'
bites stock FORGOTTEN 'asleep though there are pieces' "$untold" '-DPIECES=1 -DW2=1 -DWAITS -DPLAIN'
bites stock PARTLY_GRANTED 'a part of what should be had together' "$left_over" "$baskets"
bites stock NOT_TOLD 'an order of both articles asleep in its turn' "$untold" "$baskets"
bites stock NOT_KEPT 'an order of both articles overtaken' "$passed_over" "$baskets"
bites stock FIRST_LACK_ONLY 'oversold' "$miscounted" "$baskets"
bites stock PLACE_LOST 'an order of both articles overtaken in its second queue' "$passed_over" "$baskets"
bites stock LEFT_WITHOUT_ASKING 'asleep though there are pieces' "$untold" "$baskets"
# Where the promise ends
bites stock GONE_FOR_GOOD 'bought, though it was said to be gone: both questions late' "$left_over" '-DSTRAYS'
bites stock REQUEST_REUSED 'oversold: cancelled by a question of before' "$owners" '-DREQUESTS=2 -DPIECES=1 -DSTRAYS'

holds ranks 'never too many, no client asleep in its turn: a semaphore' ''
holds ranks 'never too many, no client asleep in its turn: permits of one each' '-DONES'
holds ranks 'never too many, no client asleep in its turn: readers and writers' '-DRW'

bites ranks ONE_WATCH 'asleep in its turn' "$vain" '-DONES'
bites ranks NEIGHBOUR 'asleep in its turn: a semaphore' "$vain" '-DONES'
bites ranks NEIGHBOUR 'asleep in its turn: readers and writers' "$vain" '-DRW'
bites ranks MISSING_IGNORED 'asleep in its turn' "$vain"
bites ranks EVENT_BELIEVED 'too many' 'assertion violated .*state'
bites ranks LAST_UNCOUNTED 'too many' 'assertion violated .*state'

holds hints 'never two owners, no client asleep for good: slow clients, one crash' '-DSLOW -DCRASHES=1'
holds hints 'never two owners, no client asleep for good: one crash, one hint lost' '-DCLAIMS=2 -DCRASHES=1 -DLOST=1 -DANY_TICKET'
holds hints 'hints suffice without a fault: two clients, two claims each' '-DCLAIMS=2 -DNO_RELOOK -DANY_TICKET'
[ "$long" = 0 ] || holds hints 'hints suffice without a fault: three clients' '-DW=3 -DNO_RELOOK'

holds several 'all or none, no client asleep for good: three claims each' '-DCLAIMS=3'
holds several 'all or none, no client asleep for good: each two share a lock' '-DCLAIMS=3 -DRING'
holds several 'all or none, no client asleep for good: two deaths' '-DCLAIMS=3 -DCRASHES=2 -DRELOOK'
holds several 'all or none, no client asleep for good: two deaths, each two share a lock' '-DCLAIMS=2 -DRING -DCRASHES=2 -DRELOOK'
holds several 'served, while others ask again and again' '-DSERVED'
holds several 'served, while others ask again and again: each two share a lock' '-DSERVED -DRING'

bites several CRASHES=1 'asleep for good after a death' "$waiting"
bites several NO_WAKE 'asleep for good' "$waiting" '-DCLAIMS=2'
bites several LAST_NOT_LOOKED_AT 'two owners' "$two" '-DRING'
bites several KEEPS_A_PART 'a part' "$part"
bites several STAYS_ASLEEP 'not served' "$unserved" '-DSERVED'
bites several NOT_KEPT 'not served' "$unserved" '-DSERVED'

bites hints NO_RELOOK 'asleep for good after a crash' "$forgotten" '-DCRASHES=1'
bites hints NO_RELOOK 'asleep for good after a hint was lost' "$forgotten" '-DLOST=1'
bites hints NO_HINT_ON_RELEASE 'asleep for good' "$forgotten" '-DNO_RELOOK'
bites hints TWO_ARE_NOT_NEEDED 'two owners' "$owners"
bites hints VALIDITY_NOT_READ 'two owners' "$owners"
bites hints RELEASE_WITHOUT_COMPARE 'two owners' "$owners" '-DSLOW'

holds tickets 'no client is overtaken: three clients' ''
holds tickets 'no client is overtaken: two clients, two claims each' '-DW=2 -DFIRST_CLAIMS=2 -DCLAIMS=2 -DRAISES=2'
[ "$long" = 0 ] || holds tickets 'no client is overtaken: three clients, two claims of one' '-DFIRST_CLAIMS=2'

bites tickets ONE_ANSWER 'overtaken' "$overtaken"
bites tickets SMALLEST 'overtaken' "$overtaken"
bites tickets FENCE_ALONE 'overtaken' "$overtaken"
bites tickets CLIENT_CLOCK 'overtaken' "$overtaken"

holds fencing 'tokens rise, never two owners: two attempts of each' '-DOTHER_ATTEMPTS=2'
holds fencing 'tokens rise, never two owners: three clients' '-DW=3 -DATTEMPTS=1'
holds fencing 'tokens rise, never two owners: acquires sent twice' '-DREPEATS'
holds fencing 'tokens rise, never two owners: raises that come late' '-DLATE'
holds fencing 'tokens rise, never two owners: another client in between' '-DOTHERS=1'
holds fencing 'tokens rise, never two owners: attempts that are slow and ask again' '-DSLOW'
holds fencing 'tokens rise, never two owners: servers just count' '-DNO_PROPOSAL -DOTHER_ATTEMPTS=2'
holds fencing 'no token twice, though a key is lost' '-DVANISH=1'
holds fencing 'tokens rise, never two owners: a server restarts empty' '-DRESTARTS=1'
holds fencing 'tokens rise, never two owners: a repaired server, whatever the clocks' '-DRESTARTS=1 -DMADE_GOOD'
[ "$long" = 0 ] || holds fencing 'tokens rise, never two owners: raises late, acquires twice' '-DLATE -DREPEATS'

bites fencing NO_RAISE 'a token that falls' "$falling"
bites fencing NO_RAISE 'a token that falls, where servers just count' "$falling" '-DNO_PROPOSAL'
bites fencing PROPOSAL_ALONE 'a token that does not rise' "$falling"
bites fencing WRITTEN_BACK 'a token that falls' "$falling" '-DLATE -DOTHER_ATTEMPTS=2'
bites fencing RAISED_ANYWHERE 'a token that falls' "$falling"
bites fencing RAISED_UNCHECKED 'a token given twice' "$twice" '-DVANISH=1'
bites fencing REFUSAL_NOT_READ 'a token given twice' "$twice" '-DVANISH=1'
bites fencing YOUNG_VOTE 'a token that falls' "$falling" '-DRESTARTS=1'
bites fencing YOUTH_JUDGED_LATE 'a token that falls' "$falling" '-DRESTARTS=1'
bites fencing CLOCKS_APART 'a token that falls' "$falling" '-DRESTARTS=1'
bites fencing REPAIR_ALONE 'a token that falls' "$falling" '-DRESTARTS=1 -DMADE_GOOD'

holds counting 'tokens rise: data lost once' ''
holds counting 'tokens rise: data lost twice' '-DLOSSES=2'
holds counting 'tokens rise: data lost once, another client counts' '-DOTHERS=1'
holds counting 'tokens rise: beside a RedLock' '-DREDLOCK'
holds counting "tokens rise: whatever the server's time is" '-DEPOCH=1 -DOTHERS=1'
holds counting 'tokens rise: a loss is only seen by the answer' '-DLOSS_NOT_NOTICED'
[ "$long" = 0 ] || holds counting 'tokens rise: data lost once, three attempts' '-DATTEMPTS=3'

bites counting NOT_ANCHORED 'a token that falls' "$falling"
bites counting SEEN_KEPT 'a token that falls' "$falling"
bites counting CROSS_CONNECTION 'a token that falls' "$falling"
bites counting SEEN_NOT_COMPARED 'a token that falls' "$falling" '-DLOSS_NOT_NOTICED'
bites counting LOSS_NOT_NOTICED 'a token that falls: beside a RedLock that raises a lost fence' "$falling" '-DREDLOCK'
bites counting LOSS_NOT_NOTICED "a token that falls: more locks counted over a lost fence than the server's time says" "$falling" '-DEPOCH=2'
bites counting INBOX_ANCHORS 'a token that falls' "$falling" '-DLOSSES=2'
bites counting ANCHOR_LOWERS 'a token that falls' "$falling"
# Where the promise ends
bites counting OLD_UNDER_OPEN 'a token that falls: an old fence under open connections' "$falling"
bites counting BEHIND_ITS_TIME "a token that falls: data lost, and the server's time set back" "$falling"

holds forgetting 'never two owners: one restart within a lease, a new set' '-DFORGETFUL=1'
holds forgetting 'never two owners: one restart within a lease, attempts that are slow and ask again' '-DFORGETFUL=1 -DSLOW'
holds forgetting 'never two owners: two restarts, a set that is of age' '-DFORGETFUL=2 -DRESTARTS=2 -DWINDOW -DOF_AGE'
holds forgetting 'never two owners: a key is lost, but more than a quorum had it' '-DVANISH'
[ "$long" = 0 ] || holds forgetting 'never two owners: one restart within a lease, slow attempts, restarts are heard of' '-DFORGETFUL=1 -DSLOW -DNOT_CONFIRMED -DHEARD_OF'

bites forgetting NEW_SET_BY_QUORUM 'two owners' "$owners" '-DFORGETFUL=1'
bites forgetting YOUNG_VOTE 'two owners' "$owners" '-DFORGETFUL=1'
bites forgetting NOT_CONFIRMED 'two owners' "$owners" '-DFORGETFUL=1 -DSLOW'
bites forgetting EVICTED 'two owners' "$owners" '-DVANISH'
# Where the promise ends
[ "$long" = 0 ] || bites forgetting FORGETFUL=2 'two owners: a quorum of a new set restarts within a lease' "$owners" '-DRESTARTS=2 -DWINDOW'
[ "$long" = 0 ] || bites forgetting FORGETFUL=2 'two owners: all servers restart within a lease' "$owners" '-DRESTARTS=3 -DWINDOW -DOF_AGE'

holds attach 'attached once, never two owners, tokens rise: two attempts of one' '-DATTEMPTS=2'
holds attach 'attached once, never two owners, tokens rise: beside a client that acquires' '-DACQUIRES=1'
holds attach 'attached once, never two owners, tokens rise: clocks apart, exchanges sent twice' '-DPROPOSALS -DREPEATS'
holds attach 'never two owners, tokens rise: a late repair of the lease that was detached' '-DSTRAYS=1'
holds attach 'a handle that all have given up can be attached' '-DGIVEN_UP -DATTEMPTS=2 -DOTHER_ATTEMPTS=2'
[ "$long" = 0 ] || holds attach 'attached once, never two owners, tokens rise: clocks apart, a client that acquires' '-DPROPOSALS -DACQUIRES=1'
[ "$long" = 0 ] || holds attach 'never two owners, tokens rise: a late repair, a client that acquires' '-DSTRAYS=1 -DACQUIRES=1'

bites attach ATTACH_BY_CHECK 'attached twice' "$attached"
bites attach ROLLBACK_UNCHECKED 'attached twice' "$attached" '-DATTEMPTS=2'
bites attach ROLLBACK_TOO_SOON 'attached twice' "$attached"
bites attach TOKEN_REUSED 'attached twice' "$attached" '-DOTHER_ATTEMPTS=2'
bites attach FREE_IS_OLD 'attached twice' "$attached"
bites attach VALIDITY_NOT_READ 'two owners' "$owners" '-DACQUIRES=1'
bites attach NO_RAISE 'a token that falls' "$falling" '-DACQUIRES=1'
bites attach TOKEN_KEPT 'a token that does not rise' "$falling"
bites attach NO_ROLLBACK 'a handle of no use' "$useless" '-DGIVEN_UP'
# Where the promise ends
bites attach ONCE 'attached again behind a late repair' "$attached" '-DSTRAYS=1'

holds failover 'never two owners, tokens rise: two replicas' ''
holds failover 'never two owners, tokens rise: restarts, clocks apart, one replica' '-DNODES=2 -DTTL=3 -DRESTARTS -DCLOCKS -DIDENTITIES'
holds failover 'never two owners, tokens rise: identities, two promotions' '-DTTL=1 -DIDENTITIES -DPROMOTIONS=2'
holds failover 'never two owners, tokens rise: repairs and handovers that ask for no epoch' '-DREPAIR_ANYWHERE -DHANDOVER_ANYWHERE'
[ "$long" = 0 ] || holds failover 'never two owners, tokens rise: restarts, clocks apart, two replicas' '-DRESTARTS -DCLOCKS'
[ "$long" = 0 ] || holds failover 'never two owners, tokens rise: identities, two promotions, restarts' '-DTTL=1 -DIDENTITIES -DPROMOTIONS=2 -DRESTARTS'

bites failover NO_GUARD 'two owners' "$owners"
bites failover SETTLED_FROM_OPENING 'two owners' "$owners"
bites failover GUARD_TOO_SHORT 'two owners' "$owners"
bites failover GRANT_WITHOUT_WAIT 'two owners' "$owners"
bites failover RENEWAL_WITHOUT_WAIT 'two owners' "$owners"
bites failover LEASE_FROM_ANSWER 'two owners' "$owners"
bites failover RESURRECTED 'two owners' "$owners"
bites failover TOKEN_REUSED 'two owners, or a token that falls' "$owners|$older"
bites failover REPAIR_OVER_ANOTHER 'two owners' "$owners"
bites failover HANDOVER_UNSETTLED 'two owners' "$owners"
bites failover PUSH_BELIEVED 'two owners' "$owners"
bites failover OWN_KEY_UNSETTLED 'two owners' "$owners"
bites failover REPLID_AT_CONNECT 'two owners, or a token that falls' "$owners|$older" '-DTTL=1 -DIDENTITIES -DPROMOTIONS=1'
bites failover RUN_ID_ALONE 'two owners' "$owners" '-DTTL=1 -DIDENTITIES -DPROMOTIONS=2'
bites failover REPLID_NOTED 'two owners' "$owners" '-DTTL=1 -DIDENTITIES -DPROMOTIONS=2'
# Where the promise ends
bites failover MOVED_BACK 'two owners: a replica follows a master that was replaced' "$owners"
[ "$long" = 0 ] || bites failover NODES=4 'two owners: WAIT 1 is too few for three replicas' "$owners" '-DTTL=1'

holds database 'never two owners, writes in order, no lock within the guard: a crash empties the tables' ''
holds database 'never two owners, writes in order, no lock within the guard: two crashes' '-DLOSSES=2'
holds database 'never two owners, writes in order, no lock within the guard: a promotion, tables kept' '-DKEPT -DEND=3'
holds database 'writes in order, whatever the clock does' '-DCLOCK_SET -DWRITES_ONLY -DGRANTS=2'
holds database 'never two owners, writes in order: a lock is broken' '-DBREAKS -DGRANTS=2'
holds database 'writes in order: a lock is broken at once' '-DBREAKS_NOW -DWRITES_ONLY -DEND=3'
holds database 'never two owners, writes in order: its row is deleted' '-DCLEANS -DGRANTS=2'
holds database 'never two owners, tokens rise, writes in order: a holder detaches' '-DATTACHES -DEND=2'
holds database 'never two owners, tokens rise, writes in order: a holder detaches, a promotion, tables kept' '-DATTACHES -DKEPT -DEND=1'
[ "$long" = 0 ] || holds database 'never two owners, tokens rise, writes in order: a holder detaches, two more ticks' '-DATTACHES'
[ "$long" = 0 ] || holds database 'never two owners, writes in order: three clients' '-DN=3 -DGRANTS=2 -DEND=3'

bites database NO_ASSERTION 'an older write behind a later one' "$written"
bites database ASSERTION_NOT_LOCKING 'an older write behind a later one' "$written"
bites database HANDED_OVER_ASSERTED 'an older write behind a later one' "$written"
bites database GRANT_WITHOUT_EXPIRY 'two owners' "$owners"
bites database FENCE_STARTS_AGAIN 'a token that falls' "$falling"
bites database FENCE_STARTS_AGAIN 'an older write behind a later one' "$written" '-DWRITES_ONLY'
bites database NO_GUARD 'a lock within the guard' "$too_soon"
bites database NO_GUARD 'two owners' "$owners" '-DOWNERS_ONLY'
bites database GUARD_TOO_SHORT 'two owners' "$owners" '-DOWNERS_ONLY'
bites database LINE_NOT_COMPARED 'a lock within the guard' "$too_soon" '-DKEPT'
bites database LINE_NOT_COMPARED 'two owners' "$owners" '-DKEPT -DOWNERS_ONLY'
bites database HANDED_OVER_UNSETTLED 'a lock within the guard' "$too_soon" '-DKEPT'
bites database BELIEF_FROM_ANSWER 'two owners' "$owners"
bites database RENEWAL_BELIEVED 'two owners' "$owners"
bites database RELEASE_WITHOUT_COMPARE 'two owners' "$owners"
bites database BREAK_FREES 'two owners' "$owners" '-DBREAKS'
bites database BREAK_OVER_ASSERTED 'an older write behind a later one' "$written" '-DBREAKS_NOW -DWRITES_ONLY'
bites database EXCHANGED_UNCOMPARED 'two owners' "$owners" '-DATTACHES'
bites database EXCHANGED_ASSERTED 'an older write behind a later one' "$written" '-DATTACHES'
bites database EXCHANGED_UNSETTLED 'two owners' "$owners" '-DATTACHES -DKEPT -DEND=1 -DOWNERS_ONLY'
bites database FENCE_KEPT 'an older write behind a later one' "$written" '-DATTACHES'
bites database CLEANED_HELD 'a token that falls' "$falling" '-DCLEANS'
bites database CLEANED_HELD 'two owners' "$owners" '-DCLEANS -DOWNERS_ONLY'
bites database CLEANED_HELD 'an older write behind a later one' "$written" '-DCLEANS -DWRITES_ONLY'
# Where the promise ends
bites database BREAKS_NOW 'two owners: a lock is broken at once' "$owners" '-DOWNERS_ONLY'
bites database CLOCK_SET 'two owners: the clock is set forward' "$owners" '-DOWNERS_ONLY'
bites database OLD_PRIMARY 'two owners: the primary that was replaced goes on serving' "$owners" '-DKEPT'
bites database BEHIND_ITS_TIME "a token that falls: tables lost, and the server's time set back" "$falling"

walks 'never two owners, tokens rise: three servers' 5 ''
walks 'never two owners, tokens rise: five servers, WAIT 2' 4 'FIVE'
walks 'never two owners, tokens rise: stale Sentinels, the epoch counts full resyncs' 4 'STALE'
walks 'never two owners, tokens rise: counted on from the time at which the epoch settles' 4 'ANCHORED'
walks 'never two owners, tokens rise: epochs settle at once' 5 'AT_ONCE'
walks 'never two owners, tokens rise: epochs settle at once, five servers' 4 'AT_ONCE FIVE'
[ "$long" = 0 ] || walks 'never two owners, tokens rise: five servers, stale Sentinels' 5 'FIVE STALE'
[ "$long" = 0 ] || walks 'never two owners, tokens rise: repairs and handovers that ask for no epoch' 5 'REPAIR_ANYWHERE HANDOVER_ANYWHERE'

for mistake in NO_GUARD SETTLED_FROM_OPENING GUARD_TOO_SHORT GRANT_WITHOUT_WAIT RENEWAL_WITHOUT_WAIT LEASE_FROM_ANSWER RESURRECTED \
		TOKEN_REUSED HANDOVER_UNSETTLED PUSH_BELIEVED OWN_KEY_UNSETTLED REPLID_AT_CONNECT RUN_ID_ALONE REPLID_NOTED FIRST_AT_ONCE \
		STALE+RESYNCS_NOT_CONFIRMED BACKLOG_IGNORED ANY_HISTORY ANY_CLOCKS FEWER_NODES GRANTS_NOT_DOUBTED; do
	stumbles "$mistake" 'two owners, or a token that falls'
done
[ "$long" = 0 ] || stumbles REPAIR_OVER_ANOTHER 'two owners, or a token that falls'
[ "$long" = 0 ] || stumbles ATTACHED_IGNORED 'two owners, or a token that falls'
[ "$long" = 0 ] || stumbles LATE_CHECKS 'two owners, or a token that falls'
[ "$long" = 0 ] || stumbles SETTLED_UNCHECKED 'two owners, or a token that falls'
stumbles COUNTED_ALONE 'a token that falls' 'a fencing token fell'
stumbles ANCHORED_AT_CONNECT 'a token that falls' 'a fencing token fell'
# Where the promise ends
stumbles MOVED_BACK 'two owners: a replica follows a master that was replaced'
stumbles TOO_FEW 'two owners: WAIT 1 is too few for four replicas'
stumbles CLOCKS_APART "a token that falls: clocks differ by more than an epoch takes to settle" 'a fencing token fell'

wait
passed=$(cat "$work"/result.* 2>/dev/null | grep -c '^PASS' || true)
failed=$(cat "$work"/result.* 2>/dev/null | grep -c '^FAIL' || true)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
[ -n "$only" ] || digest > "$searched"
