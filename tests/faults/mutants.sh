# shellcheck shell=bash disable=SC2016,SC2154
# Sourced by scripts/faults.sh: builds of the extension with one mistake each, and how long they survive.
#
# mutant NAME CLASS[/FLAG] SECONDS "what is broken" FILE 'perl substitution' [FILE 'perl substitution' …]
# SECONDS is the time within which the checker has to find the mistake. FLAG is one of run.php's: the run looks for that
# kind of mistake. A substitution that finds nothing to change is an error.

# Some mistakes are not here, because their holder learns at once that it holds nothing. So it takes long until chance
# finds them: a client accepts a grant of an earlier request; a grant counts from when the waiter reads it; a grant
# counts from the second sending of the request. C tests find these (redis_repeats, "grant"), and so does the handover
# model (TAKE_ANY_GRANT, BELIEF_FROM_READING, COUNT_FROM_REPEAT).
# Mistakes that violate no property are not here either. Only C tests and .phpt tests find them: a repair that comes
# late, or that is repeated after the command that undoes it; a lease time that a renewal under way sets back; a lost
# fence that tokens still continue; a script that fails in its middle; a deadlock that arises during a wait.
# Full resynchronizations that do not count are not here, because it takes half an hour until a Sentinel moves a replica
# back. redis_replicated finds that mistake ("moved_back"), and so do the walks through tests/models/failover
# (RESYNCS_NOT_CONFIRMED, MOVED_BACK).
# A stale grant or a handle that is accepted beside restored permits is not here, because it needs the promotion of a
# server that has missed who acquired them. permits_replicated finds it ("stale_grant", "handle_beside_restored").
# Permits that only the acquisition grants in an unsettled epoch are not here, because the second look after WAIT
# releases them.
all_mutants() {
	mutant release_without_comparison DistributedLock 240 "a release deletes the lock without comparing its token" \
		src/redis/script/lua/lock/release.lua 's/if redis\.call\(.GET., lock\) ~= ARGV\[1\] then/if false then/'
	mutant several_without_last DistributedLock 240 "the last of several locks is not checked" \
		src/redis/script/lua/several/several_contend.lua 's/(local taken, unknown, pttl = false, false, 0\n\tfor i = 1, n), 3 do/$1 - 3, 3 do/' \
		src/redis/script/lua/several/several_acquire.lua "s/local free_now, failed = .*/local free_now, failed = redis.pcall('EXISTS', unpack(KEYS, 1, n - 3)) == 0, nil/"
	mutant break_deletes DistributedLock 600 "a lock that is broken is free at once" \
		src/redis/script/lua/seen/break.lua "s/redis\.call\('SET', lock, .*?'PX', math\.max\(left, 1\)\)/redis.call('DEL', lock)/s"
	mutant validity_from_reply DistributedLock 600 "the lease counts from the reply, without drift" \
		src/redis/lock/acquire.c 's/claim->deadline = own->sent_at \+ claim->ttl - dlock_drift\(claim->ttl\)/claim->deadline = now + claim->ttl + 0 * own->sent_at/'
	mutant validity_of_quorum_from_reply RedLock 600 "the lease counts from the replies, without drift" \
		src/redis/redlock/quorum_acquire.c 's/base->deadline = own->deadline;/base->deadline = dlock_now() + base->ttl;/'
	mutant deadline_not_checked DistributedLock 60 "isHeld() is true until release(), even after the deadline" \
		src/lock/claim.c 's/if \(deadline <= now\)/if (deadline < 0)/' \
		src/lock/claim.c 's/dlock_now\(\) >= deadline/dlock_now() < 0/'
	mutant deadline_of_session_not_checked ZkLock 240 "a client relies on its session until it hears that the session has ended" \
		src/zookeeper/session/session.c 's/return session->lived \+ session->timeout - session->timeout \/ 100 - 2 \* DLOCK_MS;/return DLOCK_FOREVER - 1 + 0 * session->lived;/'
	mutant whole_time_by_handle DistributedLock 240 "a client that attaches by a handle relies on the whole lease time again" \
		src/redis/lock/service.c 's/dlock_nanos left = lease_left\(claim, own->answer\.pttl\)/dlock_nanos left = claim->ttl/'
	mutant whole_time_by_grant DistributedLock 240 "a waiter relies on a granted lock for its whole lease time, which no renewal has requested" \
		src/redis/lock/acquire.c 's/(claim->deadline = )deadline;\n\tclaim->short_lease = true;/$1now + claim->ttl;/'
	mutant handle_takes_anything DistributedLock 60 "a handle attaches to the lock without comparing its token" \
		src/redis/script/lua/lock/swap.lua 's/ or \(holder ~= old and holder ~= new\)//'
	mutant no_second_look DistributedLock 20 "a waiter does not look again by itself" \
		src/redis/lock/wait.c 's/dlock_nanos look = now \+ LOOK_AGAIN/return now + 3600 * DLOCK_SECOND;\n\tdlock_nanos look = now + LOOK_AGAIN/'
	mutant no_second_look_at_quorum RedLock 20 "a waiter does not look again by itself" \
		src/redis/lock/wait.c 's/dlock_nanos look = now \+ LOOK_AGAIN/return now + 3600 * DLOCK_SECOND;\n\tdlock_nanos look = now + LOOK_AGAIN/'
	mutant children_release DistributedLock 120 "a child counts its parent's leases as its own" \
		src/lock/claim.c 's/return claim->process == dlock_process_current\(\);/return claim != NULL;/'
	mutant fencing_token_constant DistributedLock 60 "all holders have the same fencing token" \
		src/redis/script/lua/shared/fencing.lua 's/(local function fencing_token\(fence, least\)\n)/$1\tdo return 7 end\n/'
	mutant fencing_tokens_not_settled RedLock 600 "the highest vote is the fencing token, even if only one server has it" \
		src/redis/redlock/quorum_votes.c 's/return agree >= backend->quorum && now - own->asked < QUICK;/return agree > 0 \&\& now > 0;/'
	mutant quorum_of_half RedLock 120 "two of five servers are enough" \
		src/redis/redlock/quorum.c 's/count \/ 2 \+ 1/count \/ 2/'
	mutant release_misses_late_servers RedLock 20 "a server that did not answer an attempt is not asked to release" \
		src/redis/redlock/quorum_acquire.c 's/return !has_nothing && dlock/return !has_nothing \&\& voter->vote == DLOCK_VOTE_YES \&\& dlock/'
	mutant new_set_although_one_refuses RedLock/young 120 "servers that were started together all vote, although one of them has refused" \
		src/redis/redlock/ballot.c 's/ballot->no == 0 && is_together/is_together/'
	mutant attach_without_exchange DistributedLock 60 "a client that attaches by a handle keeps the old token" \
		src/redis/lock/service.c 's/(static dlock_status service_attach\(.*\n\{\n)/$1\tstrcpy(claim->token, token);\n/'
	mutant attach_without_exchange_at_quorum RedLock 60 "a client that attaches by a handle keeps the old token" \
		src/redis/redlock/quorum_attach.c 's/(static void ask_for_exchange\(.*\n\{\n)/$1\tstrcpy(own->claim->base.token, own->token);\n/'
	mutant place_by_own_clock RedLock 20 "a waiter's place in the queues comes from its own clock" \
		src/redis/redlock/quorum_acquire.c 's/claim->ticket = claim->next_ticket;/claim->ticket = dlock_quorum_propose(quorum_backend_of(claim));/'
	mutant names_resolved_by_caller RedLock 20 "each thread that connects waits for the resolver, even the one that renews" \
		src/net/dial.c 's/dial->is_name = !dlock_is_address\(server->host\)/dial->is_name = false/'
	mutant release_without_cas Memcached 240 "a release deletes the key without comparing its CAS" \
		src/memcached/request.c 's/(return request_new\("md %s) C%" PRIu64 "(%s\\r\\n", key->text), cas, /(void) cas;\n\t$1$2, /'
	mutant whole_time_on_memcached Memcached 600 "a client relies on the whole lease time, although the server's clock ticks once a second" \
		src/memcached/item.h 's/(DLOCK_MEMCACHED_MARGIN )\(2 \* DLOCK_SECOND\)/$1(DLOCK_SECOND \/ 1000)/'
	mutant clock_of_memcached_not_read Memcached 600 "a server's clock counts as right, however long it stood still" \
		src/memcached/backend.c 's/return request->late == DLOCK_FOREVER \? 0 : request->sent_at \+ length - request->late;/return request->sent_at + length;/'
	mutant grants_not_confirmed Sentinel 600 "a lock counts as held before replicas have confirmed it" \
		src/redis/lock/acquire.c 's/(\n\t\taccept_lease\(own, now\);)/\n\t\town->said = DLOCK_OK;$1/'
	mutant no_guard Sentinel 600 "a server that was promoted grants locks as soon as replicas have confirmed its epoch" \
		src/redis/script/lua/replicated/settle.lua 's/tonumber\(ARGV\[4\] or guard\)/tonumber(ARGV[4] or 0)/'
	mutant epoch_of_any_master Sentinel 600 "an epoch continues under another master" \
		src/redis/script/lua/replicated/epoch.lua 's/if opened ~= id or settled\n/if not opened or settled\n/' \
		src/redis/script/lua/replicated/epoch.lua 's/settled = opened == id and/settled = opened and/' \
		src/redis/script/lua/replicated/epoch.lua 's/local unchanged = attached == until_now/local unchanged = true/' \
		src/redis/script/lua/replicated/settle.lua "s/ or field\(role, 'master_replid'\) ~= opened//"
	mutant no_guard_in_cluster Cluster 600 "a node that was promoted grants locks as soon as replicas have confirmed its epoch" \
		src/redis/script/lua/replicated/settle.lua 's/tonumber\(ARGV\[4\] or guard\)/tonumber(ARGV[4] or 0)/'
	mutant lease_of_replicated_from_reply Sentinel 900 "the lease counts from the reply, without drift" \
		src/redis/lock/acquire.c 's/claim->deadline = own->sent_at \+ claim->ttl - dlock_drift\(claim->ttl\)/claim->deadline = now + claim->ttl + 0 * own->sent_at/'
	mutant permits_given_back_twice Semaphore 120 "a release that is repeated after a lost answer releases permits twice" \
		src/redis/script/lua/permits/permits_release.lua 's/or held\) == 0 then/or held) == -1 then/'
	mutant permits_counted_twice Semaphore 120 "an acquisition that is repeated after a lost answer counts twice" \
		src/redis/script/lua/permits/permits_contend.lua 's/(if unsettled == 0 and fits and not queue) and not held and/$1 and/' \
		src/redis/script/lua/permits/permits_acquire.lua 's/(\t\t\t)(redis\.call\(.ZADD., pool, used, .\$used.\)) --/$1--/'
	mutant permits_taken_back_early Semaphore 240 "a client that needs room reclaims permits whose lease still lasts for a second" \
		src/redis/script/lua/permits/permits_queue.lua 's/take_back\(state, state\.now,/take_back(state, state.now + 1000,/'
	mutant whole_time_by_grant_of_permits Semaphore 240 "a waiter relies on granted permits for a whole lease time, which no renewal has requested" \
		src/redis/lock/acquire.c 's/(claim->deadline = )deadline;\n\tclaim->short_lease = true;/$1now + claim->ttl + 0 * deadline;/'
	mutant attach_without_removal Semaphore 60 "a client that attaches permits by a handle acquires them once more" \
		src/redis/script/lua/permits/permits_exchange.lua 's/redis\.call\(.ZREM., pool, .h. \.\. ARGV\[1\], .w. \.\. ARGV\[1\]\)//'
	mutant small_ones_overtake Semaphore 20 "a waiter whose permits fit is served, even if another waiter was there before" \
		src/redis/script/lua/permits/permits_queue.lua 's/going = looks_further\(state, skip\)/going = true/' \
		src/redis/script/lua/permits/permits_queue.lua 's/\tif tonumber\(capacity\) <= state\.blocked then/\tif false then/'
	mutant readers_first ReadWriteLock 20 "readers are served before writers that have waited longer" \
		src/redis/script/lua/permits/permits_queue.lua 's/(\tlocal writer = first\(ALONE)/\tlocal early = first(WAITS, string.format("(%.0f", ALONE), count)\n\tif #early > 0 then\n\t\treturn early, false\n\tend\n$1/'
	mutant writer_beside_readers ReadWriteLock 60 "a writer needs no more room than a reader" \
		src/redis/script/lua/permits/permits_queue.lua 's/while permits > room\(state, capacity\) do/while math.min(permits, 1) > room(state, capacity) do/'
	mutant bought_too_late Stock 120 "an expired order can be confirmed although other buyers have its units" \
		src/redis/script/lua/stock/stock_confirm.lua 's/if not room then/if false then/'
	mutant bought_and_given_back Stock 120 "an order that was confirmed can still be canceled" \
		src/redis/script/lua/stock/stock_cancel.lua 's/\(stock\.score >= SOLD and stock\.score < ENDED and 7\)/false/' \
		src/redis/script/lua/stock/stock_cancel.lua 's/if score > 0 and score < SOLD then/if score > 0 and score < ENDED then/'
	mutant limit_of_reserved Stock 120 "units that a buyer has bought do not count toward its limit" \
		src/redis/script/lua/stock/stock_confirm.lua 's/(1e13 \+ now \+ score % 1, held\)\n)/$1\t\tredis.call("ZREM", pool, "b" .. string.match(id, "^(.*)\/"))\n/'
	mutant changes_made_again Stock 60 "a change of a stock is made each time that it is requested" \
		src/redis/script/lua/stock/stock_restock.lua 's/if made then/if false then/'
	mutant reservation_counted_again Stock 120 "an order that repeats its request reserves its units once more" \
		src/redis/script/lua/stock/stock_reserve.lua 's/if not had and not queue/if not queue/'
	mutant permits_in_any_epoch SentinelSemaphore 300 "a server that was promoted grants permits at once" \
		src/redis/script/lua/permits/permits_acquire_replicated.lua 's/(local own, sweeps, unsettled, replid, settles = [^\n]*\n\tcheck_epoch\([^\n]*\)\n)/$1unsettled = 0\n/' \
		src/redis/script/lua/replicated/attached.lua 's/if unsettled == 0 then/if true then/'
	mutant readers_in_any_epoch SentinelReadWriteLock 300 "a server that was promoted grants read and write locks at once" \
		src/redis/script/lua/permits/permits_acquire_replicated.lua 's/(local own, sweeps, unsettled, replid, settles = [^\n]*\n\tcheck_epoch\([^\n]*\)\n)/$1unsettled = 0\n/' \
		src/redis/script/lua/replicated/attached.lua 's/if unsettled == 0 then/if true then/'
	mutant one_permit_more ZkSemaphore 60 "one more permit is granted than exists" \
		src/zookeeper/lock/rank.c 's/(\*held \+ line\[i\]\.permits <= line\[i\]\.capacity)/$1 + 1/'
	mutant writer_beside_readers_on_zookeeper ZkReadWriteLock 60 "a writer needs no more room than a reader" \
		src/zookeeper/lock/rank.c 's/out->permits = reads \? 1 : DLOCK_PERMITS_ALL/out->permits = 1 + 0 * reads/'
}

# Builds one mutant. All mutants share a copy of the checkout, so that make compiles only what differs.
mutant() {
	local name=$1 class=$2 limit=$3 what=$4 file edited=()
	shift 4
	[ "${#wanted[@]}" -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
	[ "$step" != run ] || { launch "$name" "$class" "$limit" "$what"; return 0; }
	while [ $# -gt 0 ]; do
		file=$1
		perl -0pi -e "\$n = $2; END { \$? = \$n ? 0 : 1 }" "$tree/$file" ||
			{ echo "faults: $name: nothing to change in $file" >&2; impossible+=("$name"); }
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
	for file in "${edited[@]}" src/redis/script/scripts_lua.h; do cp "$root/$file" "$tree/$file"; done
}

launch() {
	while [ "$(jobs -rp | wc -l)" -ge "${DLOCK_FAULTS_JOBS:-2}" ]; do wait -n || true; done
	survive "$@" &
}

# The mutant's run ends when the checker finds a violation.
survive() {
	local name=$1 class=${2%/*} flag=${2#*/} limit=$3 what=$4 code=0 property seconds
	[ "$flag" != "$class" ] || flag=
	DLOCK_FAULTS_PHP=$(options_for "$run/$name.so") faults "$class" "$seed" "$limit" "until${flag:+,$flag}" "$run/$name" > "$run/$name.report" || code=$?
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
	echo "faults: building mutants"
	all_mutants
	[ "${#impossible[@]}" -eq 0 ] || return 1
	step=run
	all_mutants
	wait
	sed -n 's/^PASS.*/1 passed, 0 failed/p; s/^FAIL.*/0 passed, 1 failed/p' "$run"/*.result > "$run/mutants.log"
	add_up "$run/mutants.log"
}
