# shellcheck shell=bash disable=SC2016,SC2154
# Sourced by scripts/chaos.sh: builds of the extension with one mistake each, and how long they survive.
#
# mutant NAME CLASS SECONDS "what is broken" FILE 'perl substitution' [FILE 'perl substitution' …]
# SECONDS is how long it may take at the most. A substitution that finds nothing to change is an error.

# Not here, since their holders hear at once that they are none, so that chance takes long: a grant of an earlier request that is
# taken up, one that counts from its reading, and one that counts from the second sending of a request. C tests tell
# (redis_engine, "grant"), and the model of the hand-over (TAKE_ANY_GRANT, BELIEF_FROM_READING, COUNT_FROM_REPEAT).
all_mutants() {
	mutant release_without_comparison DistributedLock 240 "whoever releases deletes the lock, whose ever it is" \
		src/redis/lua/release.lua 's/return redis\.call\(.GET., lock\) == ARGV\[1\] and redis\.call\(.DEL., lock\) or 0/return redis.call("DEL", lock)/' \
		src/redis/lua/release.lua 's/if redis\.call\(.GET., lock\) ~= ARGV\[1\] then\n\treturn 0\nend\n//'
	mutant validity_from_reply DistributedLock 600 "the lease counts from the reply, without drift" \
		src/engine/single.c 's/(acquired > 0\) \{\n\t\tbase->deadline = )call->sent_at \+ base->ttl - dlock_drift\(base->ttl\)/$1dlock_now() + base->ttl/'
	mutant validity_of_quorum_from_reply RedLock 600 "the lease counts from the replies, without drift" \
		src/engine/quorum.c 's/(log_in_stragglers\(claim\);\n\t\tbase->deadline = )deadline/$1dlock_now() + base->ttl/'
	mutant deadline_not_checked DistributedLock 60 "isHeld() is true until release()" \
		src/lease/claim.c 's/if \(deadline <= now\)/if (deadline < 0)/' \
		src/engine/engine.c 's/dlock_now\(\) >= deadline/dlock_now() < 0/'
	mutant deadline_of_session_not_checked ZkLock 240 "a session is believed until its end is heard of" \
		src/zk/session.c 's/return session->lived \+ session->timeout - session->timeout \/ 100 - 2 \* DLOCK_MS;/return DLOCK_FOREVER - 1 + 0 * session->lived;/'
	mutant whole_time_by_handle DistributedLock 240 "a lease that was handed on is believed for its whole time again" \
		src/engine/single.c 's/dlock_nanos left = dlock_claim_sure_of\(claim, dlock_lease_left\(pttl\)\)/dlock_nanos left = claim->ttl/'
	mutant no_second_look DistributedLock 20 "a waiter relies on being told" \
		src/engine/redis.c 's/dlock_nanos look = now \+ LOOK_AGAIN/return now + 3600 * DLOCK_SECOND;\n\tdlock_nanos look = now + LOOK_AGAIN/'
	mutant no_second_look_at_quorum RedLock 20 "a waiter relies on being told" \
		src/engine/redis.c 's/dlock_nanos look = now \+ LOOK_AGAIN/return now + 3600 * DLOCK_SECOND;\n\tdlock_nanos look = now + LOOK_AGAIN/'
	mutant children_release DistributedLock 120 "a child takes its parent's leases for its own" \
		src/lease/claim.c 's/return claim->process == dlock_process_current\(\);/return claim != NULL;/'
	mutant fencing_token_constant DistributedLock 60 "all holders get the same fencing token" \
		src/redis/lua/fencing.lua 's/(local function fencing_token\(fence, least\)\n)/$1\tdo return 7 end\n/'
	mutant fencing_tokens_not_settled RedLock 600 "the highest of the votes is the token, whatever the others have" \
		src/engine/quorum.c 's/if \(agree >= engine->quorum\)/if (agree > 0)/'
	mutant quorum_of_half RedLock 120 "two of five are enough" \
		src/engine/quorum.c 's/count \/ 2 \+ 1/count \/ 2/'
	mutant release_misses_late_servers RedLock 20 "what was not answered is not released" \
		src/engine/quorum.c 's/votes->votes\[i\] != DLOCK_VOTE_NO && dlock_call_may_count/votes->votes[i] == DLOCK_VOTE_YES && dlock_call_may_count/'
}

# Builds one mutant in a copy of the checkout, which is the same for all: make compiles what differs.
mutant() {
	local name=$1 class=$2 limit=$3 what=$4 file edited=()
	shift 4
	[ "${#wanted[@]}" -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
	[ "$step" != run ] || { launch "$name" "$class" "$limit" "$what"; return 0; }
	while [ $# -gt 0 ]; do
		file=$1
		perl -0pi -e "\$n = $2; END { \$? = \$n ? 0 : 1 }" "$tree/$file" ||
			{ echo "chaos: $name: nothing to change in $file" >&2; impossible+=("$name"); }
		edited+=("$file")
		shift 2
	done
	if [ "$step" = edit ]; then
		for file in "${edited[@]}"; do cp "$root/$file" "$tree/$file"; done
		return 0
	fi
	(cd "$tree" && scripts/gen-lua.sh && CFLAGS=-Wno-error DLOCK_BUILD_DIR="$run/mutant-build" scripts/build.sh > "$run/$name.build" 2>&1) ||
		{ cat "$run/$name.build" >&2; return 1; }
	cp "$run/mutant-build/modules/dlock.so" "$run/$name.so"
	for file in "${edited[@]}" src/redis/scripts_lua.h; do cp "$root/$file" "$tree/$file"; done
}

launch() {
	while [ "$(jobs -rp | wc -l)" -ge "${DLOCK_CHAOS_JOBS:-2}" ]; do wait -n || true; done
	survive "$@" &
}

# The mutant's run ends when the checker objects.
survive() {
	local name=$1 class=$2 limit=$3 what=$4 code=0 property seconds
	DLOCK_CHAOS_PHP=$(options_for "$run/$name.so") faults "$class" "$seed" "$limit" until "$run/$name" > "$run/$name.report" || code=$?
	property=$(sed -n 's/^FAIL //p' "$run/$name.report" | paste -sd';')
	seconds=$(sed -n 's/^  seconds under faults *//p' "$run/$name.report")
	if [ "$code" -eq 1 ] && [ -n "${property##no process crashes *}" ]; then
		echo "PASS $class $name ($what): found out after $seconds s: $property"
	else
		echo "FAIL $class $name ($what): survived for ${seconds:-?} s"
		[ -n "$seconds" ] || cat "$run/$name.report"
	fi | tee "$run/$name.result"
}

# Can all mistakes be made in the present sources?
check_mutants() {
	local wanted=() step=edit tree=$run/tree impossible=()
	mkdir "$tree"
	cp --parents -rt "$tree" src
	all_mutants
	[ "${#impossible[@]}" -eq 0 ]
}

run_mutants() {
	local wanted=("$@") step=build tree=$run/tree impossible=()
	mkdir "$tree"
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tree"
	echo "chaos: building mutants"
	all_mutants
	[ "${#impossible[@]}" -eq 0 ] || return 1
	step=run
	all_mutants
	wait
	sed -n 's/^PASS.*/1 passed, 0 failed/p; s/^FAIL.*/0 passed, 1 failed/p' "$run"/*.result > "$run/mutants.log"
	add_up "$run/mutants.log"
}
