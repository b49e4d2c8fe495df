#!/usr/bin/env bash
# mutants.sh [--fast] [NAME …]
#
# Builds the code with one mistake each, and runs seeds until one finds it. Prints which rule is violated, with which
# seed, and after how many seconds. The status is 0 if all mistakes are found. --fast: one for each rule.
#
# If the simulator cannot see a mistake, a C test finds it, which is named. tests/faults/mutants.sh has the mistakes for
# real servers. Three lines of the code are there for caution, and nothing is known to go wrong without them:
# - a RedLock has a new token after an attempt that was rolled back;
# - the attempt's beginning is the time by which a server is too young to vote;
# - a renewal's late answer proves nothing.
#
# A reader that upgrades in an unsettled epoch becomes a reader again after WAIT (permits_unchanged.lua). So its mutant
# leaves that out, too. Clients ask a node that has forgotten other nodes only if something else is wrong, which then
# excuses the consequences. So slots_forgotten has a C test. If a waiter for several locks of a RedLock gives up and
# what was kept for it is offered to nobody, the next waiter finds that at its next look, which the simulator allows;
# tests/handover/several.phpt does not.
#
# DLOCK_SIM_SEEDS: how many seeds to try (60). DLOCK_SIM_JOBS: how many at a time (2).
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${DLOCK_SIM_MUTANTS_DIR:-$root/build/sim-mutants} tree=$out/tree
seeds=${DLOCK_SIM_SEEDS:-60}

# mutant NAME SETUP "what is broken" FILE 'perl substitution' [FILE 'perl substitution' …]
# Further options of the simulator may follow SETUP; "c:TEST" is the C test that finds the mutant. A + before the name:
# in --fast, too.
all_mutants() {
	# Only older data show this mistake, if the present writer is a reader in them. So the master returns with older
	# data every 12 s.
	local rolled_back
	rolled_back=$(printf ' fault=roll-back,0,0,%d,0.5' {20..950..12})
	# A server executes late what each client has sent to it, while two others do not hear of later requests.
	local held='' second client
	for second in {20..950..6}; do
		for client in 0 1 2 3; do
			held+=" fault=hold-packets,$client,2,$second,3.5 fault=cut,$client,0,$((second + 1)),3 fault=cut,$client,4,$((second + 1)),3"
		done
	done
	# One of three servers restarts, and 8 s later both others. Clients 0 and 1 do not reach the first then. Clients 2 and
	# 3 are stopped meanwhile, often before they have read how long it has been up.
	local restarted=''
	for second in {30..980..25}; do
		restarted+=" fault=kill-server,2,1,$second,0.3"
		restarted+=" fault=cut,0,2,$((second + 3)),6.5 fault=cut,1,2,$((second + 3)),6.5"
		restarted+=" fault=stop-client,2,0,$second.8,6 fault=stop-client,3,0,$second.8,6"
		restarted+=" fault=kill-server,0,1,$((second + 8)).5,0.05 fault=kill-server,1,1,$((second + 8)).5,0.05"
	done
	# ---- one Redis ----
	mutant upgrade_beside_readers "single work=rwlocks" "a reader becomes the writer while other clients read" \
		src/redis/script/lua/read_write/permits_become_writer.lua 's/elseif make_room\(state, ALL - 1, ALL\) then/elseif true then/'
	mutant upgrade_keeps_rest "single work=rwlocks" "an upgrade leaves the permits of its second claim in the pool, beside the writer's" \
		src/redis/script/lua/read_write/permits_become_writer.lua "s/redis\.call\('ZREM', pool, 'h' \.\. rest, 'w' \.\. rest\)/state.fence = state.fence/"
	mutant broken_permits_kept "single work=semaphores" "a renewal that finds no permits continues" \
		src/lock/renewal_list.c 's/case DLOCK_ROUND_GONE:\n\t\tatomic_store\(&renewal->claim->deadline, DLOCK_OVER\);/case DLOCK_ROUND_GONE:\n\t\trenewal->due = dlock_now() + DLOCK_SECOND;/'
	mutant broken_permits_free "single work=semaphores" "permits that are broken are free at once" \
		src/redis/script/lua/seen/permits_break.lua "s/\t\tif ARGV\[3\] == '1' then\n\t\t\tredis/\t\tif true then\n\t\t\tredis/"
	mutant any_permits_broken "single work=semaphores" "a break ends the permits of any holder instead of the named one" \
		src/redis/script/lua/seen/permits_break.lua 's/if id_of\(name\) == ARGV\[1\] then/if true then/'
	mutant downgrade_not_believed "single work=rwlocks faults=5" "after a downgrade without an answer the client still counts as the writer" \
		src/redis/lock/service.c 's/(may_become_reader = true;\n)\t\tclaim->permits = 1;\n/$1/'
	mutant +release_without_comparison single "a release deletes the lock without comparing its token" \
		src/redis/script/lua/lock/release.lua 's/if redis\.call\(.GET., lock\) ~= ARGV\[1\] then/if false then/'
	mutant validity_from_reply single "the lease counts from the reply, without drift" \
		src/redis/lock/acquire.c 's/claim->deadline = own->sent_at \+ claim->ttl - dlock_drift\(claim->ttl\)/claim->deadline = now + claim->ttl + 0 * own->sent_at/'
	mutant +no_drift single "all clocks are assumed to run at the same speed" src/lock/backend.c 's/(dlock_nanos dlock_drift\(dlock_nanos ttl\)\n\{\n)/$1\tif (ttl) return 0;\n/'
	mutant +deadline_not_checked single "isHeld() is true until release(), even after the deadline" \
		src/lock/claim.c 's/if \(deadline <= now\)/if (deadline < 0)/' \
		src/lock/claim.c 's/dlock_now\(\) >= deadline/dlock_now() < 0/'
	mutant renewal_from_reply single "a renewal counts from its answer" \
		src/lock/renewal_list.c 's/claim, round->started \+ ttl/claim, dlock_now() + ttl/'
	mutant renew_any single "a renewal extends the lock without comparing its token" src/redis/script/lua/lock/renew.lua "s/~= ARGV\[1\] then/== '' then/"
	mutant +renewed_late single "a lease is renewed only shortly before it expires" \
		src/lock/renewal_list.c 's|(earlier\(time_left\(renewal, now\), renewal->ttl\)) / 3;|$1 * 99 / 100;|'
	mutant loss_not_noticed single "a renewal that finds no key continues" \
		src/lock/renewal_list.c 's/case DLOCK_ROUND_GONE:\n\t\tatomic_store\(&renewal->claim->deadline, DLOCK_OVER\);/case DLOCK_ROUND_GONE:\n\t\trenewal->due = dlock_now() + DLOCK_SECOND;/'
	mutant extend_any single "extend() sets its own token in the key of any holder" src/redis/script/lua/lock/extend.lua "s/== ARGV\[1\] then/~= '' then\n\tredis.call('SET', KEYS[1], ARGV[1])/"
	mutant +break_deletes single "a lock that is broken is free at once" \
		src/redis/script/lua/seen/break.lua "s/redis\.call\('SET', lock, .*?'PX', math\.max\(left, 1\)\)/redis.call('DEL', lock)/s"
	mutant break_deletes_at_quorum quorum "a lock that is broken is free at once" \
		src/redis/script/lua/seen/break.lua "s/redis\.call\('SET', lock, .*?'PX', math\.max\(left, 1\)\)/redis.call('DEL', lock)/s"
	mutant break_any single "a break does not check that the named client is still the holder" \
		src/redis/script/lua/seen/break.lua 's/ or id_of\(holder\) ~= ARGV\[1\]//'
	mutant break_shortens single "a broken lock ends before the deadline that its holder knows" \
		src/redis/script/lua/seen/break.lua "s/math\.max\(left, 1\)/math.ceil(left \/ 2)/"
	mutant waits_on_alone c:redis_connection "only the timeout of each step limits the last attempt of a wait" \
		src/redis/lock/wait.c 's/return dlock_longest_attempt\(/return DLOCK_FOREVER + 0 * dlock_longest_attempt(/'
	mutant waits_on_for_votes c:quorum_stragglers "after a wait's timeout the votes have their full time, and then the agreement on them" \
		src/redis/redlock/quorum_acquire.c 's/own->longest = longest_attempt\(own\);/own->longest = DLOCK_FOREVER + 0 * longest_attempt(own);/'
	mutant unacknowledged_ttl_forgotten c:claim "a client forgets a shorter lease time that it requested without an answer" \
		src/lock/claim.c 's/(dlock_nanos dlock_claim_guaranteed_ttl\(.*\n\{\n)/$1\tif (claim) return ttl;\n/'
	mutant whole_time_by_handle single "a client that attaches by a handle relies on the whole lease time again" \
		src/redis/lock/service.c 's/dlock_nanos left = lease_left\(claim, own->answer\.pttl\)/dlock_nanos left = claim->ttl/'
	mutant handle_takes_anything single "a handle attaches to the lock without comparing its token" \
		src/redis/script/lua/lock/swap.lua 's/ or \(holder ~= old and holder ~= new\)//'
	mutant attach_without_exchange single "a client that attaches by a handle keeps the old token" \
		src/redis/lock/service.c 's/(static dlock_status service_attach\(.*\n\{\n)/$1\tstrcpy(claim->token, token);\n/'
	mutant children_release c:memory "a child process counts its parent's leases as its own" \
		src/lock/claim.c 's/return claim->process == dlock_process_current\(\);/return claim != NULL;/'
	mutant owed_before_written c:redis_peers "a reply is due from when its request was collected, even if the process was stopped before it wrote the request" \
		src/redis/wire/conn.c 's/call->owed_since = DLOCK_FOREVER/call->owed_since = call->sent_at/'
	mutant unread_counts_as_owed c:redis_peers "a connection is replaced although the overdue reply has arrived" \
		src/redis/wire/conn.c 's/(sequence;\n)\tdrain\(conn\);\n/$1/'

	# ---- waiting ----
	mutant whole_time_by_grant single "a waiter relies on a granted lock for its whole lease time, which no renewal has requested" \
		src/redis/lock/acquire.c 's/(claim->deadline = )deadline;\n\tclaim->short_lease = true;/$1now + claim->ttl;/'
	mutant any_grant c:redis_repeats "a waiter accepts a grant of an earlier request" src/redis/lock/acquire.c 's/\|\| grant->number != waiter->number % service->kind->numbers //'
	mutant grant_from_reading single "a grant counts from when the waiter reads it" src/redis/lock/acquire.c 's/waiter->refused_at \+ DLOCK_GRANT_TTL/now + DLOCK_GRANT_TTL/'
	mutant grant_not_extended single "the full lease time of a grant is not requested" \
		src/lock/renewal_list.c 's/return is_renewing\(renewal, now\) \|\| now < renewal->full;/return now < 0 * renewal->full;/'
	mutant +no_second_look single "a waiter does not look again by itself" \
		src/redis/lock/wait.c 's/dlock_nanos look = now \+ LOOK_AGAIN/return now + 3600 * DLOCK_SECOND;\n\tdlock_nanos look = now + LOOK_AGAIN/'
	mutant +last_first single "the last waiter in the queue is served first" src/redis/script/lua/lock/handover.lua 's/ZPOPMIN/ZPOPMAX/' src/redis/script/lua/lock/release.lua 's/ZPOPMIN/ZPOPMAX/'
	mutant newcomers_first single "a client that finds the lock free acquires it although other clients wait" \
		src/redis/script/lua/lock/contend.lua 's/if not more and \(not first or first == waiter\) then/if true then/'
	mutant +waits_beyond_its_time single "a waiter checks its timeout only when it is woken" \
		src/redis/lock/wait.c 's/own->next = dlock_earlier\(own->next, own->deadline\);/;/g'
	mutant +no_abandon single "an acquisition without an answer is not released" \
		src/redis/lock/service.c 's/(\nvoid dlock_service_give_back\(.*\n\{\n)/$1\tif (claim) return;\n/'
	mutant token_used_again replicated "a token that was released is used again" \
		src/redis/lock/acquire.c 's/return dlock_claim_renew_token\(claim, error\);/(void) error; return DLOCK_OK;/'
	mutant unsent_is_sent c:channel "bytes in the socket of a replaced connection are still sent" \
		src/net/channel.c 's/(static void discard_unsent\(int fd\)\n\{\n)/$1\tif (fd) return;\n/'
	mutant stays_in_queue single "a waiter that gives up stays in the queue" src/redis/script/lua/lock/leave.lua 's/\tforget\(KEYS\[3\], KEYS\[4\], ARGV\[1\]\)\n//'
	mutant +queue_without_end single "a queue does not expire by itself" src/redis/script/lua/lock/contend.lua "s/redis\.call\('PEXPIRE', (queue|waiters), FORGET\)//g" \
		src/redis/script/lua/lock/handover.lua "s/redis\.call\('PEXPIRE', (queue|waiters), FORGET\)//g"

	# ---- several locks at once ----
	mutant +several_without_last 'single work=several' "the last of several locks is not checked" \
		src/redis/script/lua/several/several_contend.lua 's/(local taken, unknown, pttl = false, false, 0\n\tfor i = 1, n), 3 do/$1 - 3, 3 do/' \
		src/redis/script/lua/several/several_acquire.lua "s/local free_now, failed = .*/local free_now, failed = redis.pcall('EXISTS', unpack(KEYS, 1, n - 3)) == 0, nil/"
	mutant several_kept_in_part 'single work=several' "a renewal continues if the holder has only a part of several locks" \
		src/redis/script/lua/several/several_keep.lua 's/if own == #KEYS then/if own > 0 then/'
	mutant several_given_back_early 'single work=several' "the rest of several locks is released before their holder knows of the loss" \
		src/redis/script/lua/several/several_keep.lua "s/return 0\s*$/for _, lock in ipairs(KEYS) do if redis.call('GET', lock) == ARGV[1] then redis.call('DEL', lock) end end\nreturn 0\n/"
	mutant several_taken_in_part 'single work=several' "a client that waits for several locks acquires the free ones" \
		src/redis/script/lua/several/several_contend.lua "s/(\tif inbox ~= '' then\n\t\treturn queue_up)/\tfor i = 1, n, 3 do\n\t\tredis.call('SET', KEYS[i], token, 'NX', 'PX', ttl)\n\tend\n\$1/"
	mutant kept_locks_taken 'single work=several' "a lock that is kept for a waiter for several locks is granted to another client" \
		src/redis/script/lua/lock/handover.lua "s/if is_for_several\(first\) and tonumber\(ticket\) >= ASLEEP then/if is_for_several(first) then/"

	mutant upgraded_in_any_epoch 'replicated work=rwlocks' "a reader becomes the writer on a server that may lack other readers" \
		src/redis/script/lua/read_write/permits_upgrade_replicated.lua 's/if unsettled ~= 0 then/if false then/' \
		src/redis/script/lua/permits/permits_unchanged.lua "s/if old == '-' then/if old == '-' then\n\tdo return 1 end/"
	mutant writer_restored_as_reader "replicated work=rwlocks clients=4 resources=1 faults=0 pauses=0$rolled_back" "a server with older data restores the writer as a reader" \
		src/redis/script/lua/permits/permits_restore.lua 's/had = ends and tonumber\(had or 1\) or 0/had = ends and permits or 0/'
	mutant several_without_epoch 'replicated work=several' "several locks are granted in any epoch" \
		src/redis/script/lua/replicated/settled.lua 's/check_epoch\(epoch, .*$/0, "0", "-1"/m' \
		src/redis/script/lua/replicated/settled.lua 's/^if settled then\n/if true then\n/m' \
		src/redis/script/lua/replicated/attached.lua 's/if unsettled == 0 then/if true then/' \
		src/redis/script/lua/replicated/attached.lua "s/return attached == attached_until_now\(\) and 1 or .*/return 1/"
	mutant several_restored_late c:redis_replicated "a holder restores several locks in a settled epoch" \
		src/redis/script/lua/several/several_restore.lua 's/ or missing\[1\] and check_epoch\(epoch, ARGV\[4\]\) == 0//'
	mutant several_restored_over_others 'replicated work=several' "a holder restores several locks although another client holds one of them" \
		src/redis/script/lua/several/several_restore.lua 's/lost = foreign or missing\[1\]/lost = missing[1]/'
	mutant several_restored_in_part c:redis_replicated "if several locks cannot all be restored, the restored part is kept" \
		src/redis/script/lua/several/several_restore.lua 's/for _, lock in ipairs\(missing\) do/for _, lock in ipairs({}) do/'
	mutant several_fences 'single work=several' "several locks count by the fence of the first lock" \
		src/redis/script/lua/several/several_acquire.lua 's/local n, fence = #KEYS - 1, KEYS\[#KEYS\]/local n, fence = #KEYS - 1, "dlock:fence:" .. KEYS[1]/'
	mutant several_never_woken 'single work=several' "a waiter for several locks is not told that it has become the first" \
		src/redis/script/lua/lock/handover.lua 's/(local function wake\(queue, waiters, self\)\n)/$1\tdo return end\n/'
	mutant several_not_woken_by_finder 'single work=several' "a client that finds a free lock hands it to the first waiter, but wakes no waiter for several locks" \
		src/redis/script/lua/lock/contend.lua 's/if grant then\n\t\t\t\twake/if false then\n\t\t\t\twake/' \
		src/redis/script/lua/several/several_contend.lua 's/if grant then\n\t\twake/if false then\n\t\twake/'
	mutant several_asleep_for_ever 'single work=several' "a waiter for several locks is always passed" \
		src/redis/script/lua/several/several_contend.lua 's/local score = first and ticket or /local score = /'

	# ---- fencing tokens ----
	mutant +fencing_token_constant single "all holders have the same fencing token" \
		src/redis/script/lua/shared/fencing.lua 's/(local function fencing_token\(fence, least\)\n)/$1\tdo return 7 end\n/'
	mutant fence_begins_again single "the fence only counts, without the server's time" \
		src/redis/script/lua/shared/fencing.lua 's/(local function fencing_token\(fence, least\)\n)/$1\tdo return tostring(redis.call("INCR", fence)) end\n/'
	mutant fence_not_compared c:redis_single "a client accepts a fencing token that is below the connection's last one" \
		src/redis/lock/acquire.c 's/return conn->fence > 0 && fencing_token > conn->fence;/return conn != NULL || fencing_token;/' \
		src/redis/script/lua/lock/acquire.lua 's/and counted > 1 then/then/'

	# ---- Sentinels, with replicas that confirm ----
	mutant last_look_again c:redis_replicated "the last look at a grant is sent again over another connection" \
		src/redis/lock/epoch.c 's/call->once = true;//'
	mutant proof_is_enough c:redis_replicated "a grant that was doubted counts once the nodes have answered, without the last look" \
		src/redis/lock/epoch.c 's/(\t\t)(dlock_route_send\(granted, ask_whether)/$1if (own->proved == DLOCK_OK) {\n\t\t\town->state = (dlock_epoch_state) { 0 };\n\t\t\treturn own->said = DLOCK_OK;\n\t\t}\n\t\t$2/' \
		src/redis/lock/epoch.c 's/(own->state = \(dlock_epoch_state\) \{ 0 \};\n\tDLOCK_JOIN\(&own->task, own->said, dlock_route_confirm)/own->proved = DLOCK_LOST;\n\t$1/' \
		src/redis/lock/epoch.c 's/(!own->state\.open)\) \{\n(\t\t\town->said = read_unchanged)/$1 && own->proved != DLOCK_OK) {\n$2/'
	mutant clocks_of_first_slot c:replicated_cluster "if a replica has attached since the nodes were asked, the clocks for a new slot are not noted" \
		src/redis/lock/epoch.c 's/(!own->noted && now >= route->conn->survey\.at) \+ ASK_AGAIN/$1 + 3600 * DLOCK_SECOND/'
	mutant grants_not_confirmed replicated "a lock counts as held before replicas have confirmed it" \
		src/redis/lock/acquire.c 's/(\n\t\taccept_lease\(own, now\);)/\n\t\town->said = DLOCK_OK;$1/'
	mutant +wait_skipped replicated "no replica is asked to confirm" src/redis/route/route.c 's/(bool dlock_is_confirmed\(.*\n\{\n)/$1\tif (call) return true;\n/'
	mutant no_guard replicated "a server that was promoted grants locks as soon as replicas have confirmed its epoch" \
		src/redis/script/lua/replicated/settle.lua 's/tonumber\(ARGV\[4\] or guard\)/tonumber(ARGV[4] or 0)/'
	mutant epoch_of_any_master replicated "an epoch continues under another master" \
		src/redis/script/lua/replicated/epoch.lua 's/if opened ~= id or settled\n/if not opened or settled\n/' \
		src/redis/script/lua/replicated/epoch.lua 's/settled = opened == id and/settled = opened and/' \
		src/redis/script/lua/replicated/epoch.lua 's/local unchanged = attached == until_now/local unchanged = true/' \
		src/redis/script/lua/replicated/settle.lua "s/ or field\(role, 'master_replid'\) ~= opened//"
	mutant epoch_not_asked replicated "locks are granted in any epoch" \
		src/redis/script/lua/replicated/epoch.lua 's/(local function check_epoch\(epoch, guard, counts, doubts\)\n)/$1\tdo return 0, "0", "-1", "0" end\n/'
	mutant lease_of_replicated_from_reply replicated "the lease counts from the reply, without drift" \
		src/redis/lock/acquire.c 's/claim->deadline = own->sent_at \+ claim->ttl - dlock_drift\(claim->ttl\)/claim->deadline = now + claim->ttl + 0 * own->sent_at/'
	mutant +repair_in_settled_epoch replicated "a holder restores its key in a settled epoch" \
		src/redis/script/lua/lock/restore.lua 's/ or not holder and check_epoch\(KEYS\[3\], ARGV\[4\]\) == 0//'
	mutant fence_not_raised replicated "the fence is not raised when an epoch settles" \
		src/redis/script/lua/replicated/settled_fence.lua 's/if last < least then/if false then/'
	mutant full_copies_do_not_count c:redis_replicated "a grant counts although a replica may have returned from another master" \
		src/redis/script/lua/replicated/attached.lua 's/^if full and string\.find.*,$/if true or string.find(redis.call("INFO", "stats"),/m'
	mutant restored_by_nobody c:redis_replicated "a holder loses its lock if the promoted server has missed the key" \
		src/redis/script/lua/lock/restore.lua 's/lost = holder and holder ~= ARGV\[1\] or not holder and .*\n/lost = holder ~= ARGV[1]\n/'
	mutant settles_from_opening replicated "the guard of an epoch counts from its opening, before replicas know of it" \
		src/redis/script/lua/replicated/epoch.lua "s/settles, waited, attached, base, skew = '0' \.\. us, '0',/settles, waited, attached, base, skew = string.format('%.0f', now + guard), guard,/"
	mutant no_second_look_at_service replicated "a waiter does not look again by itself" \
		src/redis/lock/wait.c 's/dlock_nanos look = now \+ LOOK_AGAIN/return now + 3600 * DLOCK_SECOND;\n\tdlock_nanos look = now + LOOK_AGAIN/'

	# ---- epochs that settle at once ----
	mutant +copies_are_continuations replicated "a node that needed a full resynchronization counts as one that followed no other master" \
		src/redis/wire/survey.c 's/insert\(firsts, old\+\+, nodes\[i\]\.first\)/insert(firsts, old++, 0)/'
	mutant one_node_proves_it replicated "one node is enough to show that the master knows all leases" \
		src/net/endpoint/endpoint.c 's/(int dlock_endpoint_enough\(.*\n\{\n)/$1\tif (server) return 1;\n/'
	mutant unsettled_knows_all replicated "a master counts as knowing all leases when its epoch opens" \
		src/redis/script/lua/replicated/epoch.lua "s/seen = \(opened == id or (.*) or ''$/seen = field(role, 'master_repl_offset')/m"
	mutant clocks_are_alike 'replicated clocks=8000 work=locks faults=8' "the clocks of servers are assumed to agree" \
		src/redis/script/lua/replicated/settle_now.lua 's/ and tonumber\(skew\) <= MARGIN/ and true/'
	mutant keys_end_with_leases c:redis_replicated "a key expires with its lease, without a margin" \
		src/redis/lock/kinds.c 's/ttl \+ DLOCK_CLOCK_MARGIN/ttl + 0/'
	mutant restarted_nodes_know c:survey "a restarted node counts as knowing what it has confirmed" \
		src/redis/wire/survey.c 's/return left > 0 \? left \* 1000 : 0;/(void) left; return 0;/'
	mutant doubts_are_proof c:redis_replicated "if replicas have attached, the nodes are not asked" \
		src/redis/script/lua/replicated/settle_now.lua 's/local knows = .*\n.*\n/local knows = settled or seen ~= "" and tonumber(ARGV[4]) >= 0 and tonumber(ARGV[4]) <= seen + 1\n/'

	mutant move_given_up 'cluster' "a slot that lost its keys by a move that was given up counts as a new slot" \
		src/redis/script/lua/replicated/epoch_of.lua 's/ or opened and opened ~= ARGV\[4\] then/ then/'
	mutant opened_at_once_not_noted c:replicated_cluster "an epoch that settles at once is not noted, so the loss of its slot's keys stays unnoticed" \
		src/redis/lock/epoch.c 's/own->outcome == DLOCK_OK && look_at_first\(own, refused, false\)/false/'
	mutant epochs_forgotten 'cluster' "the noted epochs of all slots are deleted when a slot moves" \
		src/redis/script/lua/replicated/epoch_of.lua 's/(local now = time\(\)\n)/$1if noted ~= state then redis.call("DEL", KEYS[2]) end\n/'
	mutant slots_forgotten c:cluster "gaps in the slot map of a node that has forgotten other nodes are not filled" \
		src/redis/route/slot_map.c 's/(bool dlock_slot_map_fill\(.*\n\{\n)/$1\tif (map || other) return true;\n/'

	# ---- RedLock ----
	mutant validity_of_quorum_from_reply quorum "the lease counts from the replies, without drift" \
		src/redis/redlock/quorum_acquire.c 's/base->deadline = own->deadline;/base->deadline = dlock_now() + base->ttl;/'
	mutant +quorum_of_half quorum "two of five servers are enough" src/redis/redlock/quorum.c 's/count \/ 2 \+ 1/count \/ 2/'
	mutant release_any_at_quorum quorum "a release deletes the lock without comparing its token" src/redis/script/lua/lock/release.lua 's/if redis\.call\(.GET., lock\) ~= ARGV\[1\] then/if false then/'
	mutant fencing_tokens_not_settled quorum "the highest vote is the fencing token, even if only one server has it" \
		src/redis/redlock/quorum_votes.c 's/return agree >= backend->quorum && now - own->asked < QUICK;/return agree > 0 \&\& now > 0;/'
	mutant +release_misses_late_servers quorum "a server that did not answer an attempt is not asked to release" \
		src/redis/redlock/quorum_acquire.c 's/return !has_nothing && dlock/return !has_nothing \&\& voter->vote == DLOCK_VOTE_YES \&\& dlock/'
	mutant new_set_although_one_refuses c:uptime_rule "servers that were started together all vote, although one of them has refused" \
		src/redis/redlock/ballot.c 's/ballot->no == 0 && is_together/is_together/'
	mutant no_restart_guard quorum "a server that has just been started votes" \
		src/redis/redlock/uptime_rule.c 's/(void dlock_uptime_rule_begin\(.*\n\{\n)/$1\tsetting = 0; ttl = 0;\n/'
	mutant uptime_from_reading "quorum clients=4 resources=1 faults=0 pauses=0$restarted" "a server seems to have been started just before a client reads how long it has been up" \
		src/redis/wire/handshake.c 's/reply, handshake->asked, now/reply, now, now/' \
		src/redis/wire/handshake.c 's/ && !handshake->late\)/)/'
	mutant late_uptime_kept c:uptime_rule "a client that has read late how long a server has been up does not ask again" \
		src/redis/wire/handshake.c 's/ && !handshake->late\)/)/'
	mutant attach_without_exchange_at_quorum quorum "a client that attaches by a handle keeps the old token" \
		src/redis/redlock/quorum_attach.c 's/(static void ask_for_exchange\(.*\n\{\n)/$1\tstrcpy(own->claim->base.token, own->token);\n/'
	mutant no_second_look_at_quorum quorum "a waiter does not look again by itself" \
		src/redis/lock/wait.c 's/dlock_nanos look = now \+ LOOK_AGAIN/return now + 3600 * DLOCK_SECOND;\n\tdlock_nanos look = now + LOOK_AGAIN/'
	mutant place_by_own_clock quorum "a waiter's place in the queues comes from its own clock" \
		src/redis/redlock/quorum_acquire.c 's/claim->ticket = claim->next_ticket;/claim->ticket = dlock_quorum_propose(quorum_backend_of(claim));/'
	mutant repair_takes_anything c:renewal_quorum "a holder's repair overwrites the key of another holder" \
		src/redis/script/lua/lock/repair.lua "s/if not redis\.call\('SET', KEYS\[1\], ARGV\[1\], 'NX', 'PX', ARGV\[2\]\) and redis\.call\('GET', KEYS\[1\]\) ~= ARGV\[1\] then/if not redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) then/"
	mutant late_extension_forgotten "quorum clients=4 resources=4 faults=0 pauses=0$held" "a client relies on a server that may yet execute its earlier request for a shorter lease time" \
		src/redis/redlock/quorum_stragglers.c 's/claim->late_ttls\[i\] = shorter\(.*?\);/(void) follows;/'
	mutant renewal_beside_straggler c:quorum_stragglers "a renewal relies on a server that may yet execute an earlier request for a shorter lease time" \
		src/redis/redlock/quorum_renewal.c 's/dlock_quorum_left_if\(round->servers\[i\]\.late, ttl\)/ttl/'
	mutant raise_unconfirmed c:quorum_faults "a slow attempt does not ask its voters again" \
		src/redis/redlock/quorum_votes.c 's/ && now - own->asked < QUICK/ \&\& now > 0/'
	# ---- several locks at once with RedLock ----
	mutant +several_without_last_at_quorum 'quorum work=several' "the last of several locks is not checked" \
		src/redis/script/lua/several/several_contend.lua 's/(local taken, unknown, pttl = false, false, 0\n\tfor i = 1, n), 3 do/$1 - 3, 3 do/' \
		src/redis/script/lua/several/several_acquire.lua "s/local free_now, failed = .*/local free_now, failed = redis.pcall('EXISTS', unpack(KEYS, 1, n - 3)) == 0, nil/"
	mutant several_kept_in_part_at_quorum 'quorum work=several' "a server that has only a part of several locks votes for their renewal" \
		src/redis/script/lua/several/several_keep.lua 's/if own == #KEYS then/if own > 0 then/'
	mutant several_taken_in_part_at_quorum 'quorum work=several' "a client that waits for several locks acquires the free ones" \
		src/redis/script/lua/several/several_contend.lua "s/(\tif inbox ~= '' then\n\t\treturn queue_up)/\tfor i = 1, n, 3 do\n\t\tredis.call('SET', KEYS[i], token, 'NX', 'PX', ttl)\n\tend\n\$1/"
	mutant several_never_woken_at_quorum 'quorum work=several' "a waiter for several locks is not told that it has become the first" \
		src/redis/script/lua/lock/handover.lua 's/(local function wake\(queue, waiters, self\)\n)/$1\tdo return end\n/'
	mutant several_asleep_for_ever_at_quorum 'quorum work=several' "a waiter for several locks is always passed" \
		src/redis/script/lua/several/several_contend.lua 's/local score = first and ticket or /local score = /'
	mutant several_fences_at_quorum 'quorum work=several' "several locks count by the fence of the first lock" \
		src/redis/script/lua/several/several_acquire.lua 's/local n, fence = #KEYS - 1, KEYS\[#KEYS\]/local n, fence = #KEYS - 1, "dlock:fence:" .. KEYS[1]/'
	mutant several_ticket_of_first 'quorum work=several' "the ticket of several locks comes from the first queue only" \
		src/redis/script/lua/several/several_contend.lua 's/(local last = 0\n\tfor i = 2), n, 3 do/$1, 2, 3 do/'
	mutant several_ticket_asleep 'quorum work=several' "a ticket does not count while its waiter is asleep" \
		src/redis/script/lua/lock/next_ticket.lua 's/last = math\.max\(last - ASLEEP, tonumber\(other or 0\)\)/last = tonumber(other or 0)/'
	mutant several_repair_takes_anything c:renewal_quorum "a holder's repair of several locks overwrites a key of another holder" \
		src/redis/script/lua/several/several_repair.lua 's/if holder and holder ~= ARGV\[1\] then/if false then/'
	# ---- several locks in several slots of a cluster ----
	mutant slots_in_any_order 'cluster work=several' "every second client acquires the slots in reverse order" \
		src/redis/lock/slots.c 's/(\tqsort\(places.*?;\n)/$1\tfor (int i = 0; claim->token[40] % 2 && i < claim->count \/ 2; i++) {\n\t\tplaced first = places[i];\n\t\tplaces[i] = places[claim->count - 1 - i];\n\t\tplaces[claim->count - 1 - i] = first;\n\t}\n/'
	mutant +slots_count_alone 'cluster work=several' "the fences of other slots are not raised" \
		src/redis/lock/slots.c 's/part->claim->token, largest_token\(own\),/part->claim->token, part->claim->fencing_token,/'
	mutant slots_kept_in_part 'cluster work=several' "a renewal continues with the locks that are left in other slots" \
		src/redis/lock/slots_round.c 's/\t\t\treturn part;\n/\t\t\tcontinue;\n/'
	mutant slots_end_last c:replicated_cluster "the lease lasts as long as the part that was acquired last" \
		src/redis/lock/slots.c 's/(\twhole->deadline = )deadline;/$1own->parts[own->count - 1].claim->deadline + 0 * deadline;/'
	mutant slots_not_renewed c:replicated_cluster "an earlier slot is not renewed while the client waits for a later slot" \
		src/redis/lock/slots.c 's/own->at \+ 1 == own->count \? DLOCK_OK/own->at + 1 == own->count || own->count > 1 ? DLOCK_OK/'
	mutant slots_not_given_back 'cluster work=several' "the locks of one slot are kept although another slot has refused" \
		src/redis/lock/slots.c 's/(\t\tif \(gives_back)\) \{/$1 \&\& part->claim->state != DLOCK_CLAIM_HELD) {/'
	# ---- several strands in a process; tests/c/sleepers_test.c has the rest ----
	mutant +watch_not_handed_over "single work=strands" "the watcher stops, and no other strand polls for all" \
		src/net/sleepers.c 's/if \(next\) \{\n\t\t\tdlock_wakeup_send\(&next->bell\);\n\t\t\}/(void) next;/'
	mutant unable_polls_nothing "single work=strands" "a strand that cannot be suspended relies on the watcher" \
		src/net/loop.c 's/(const dlock_wait \*lent = own->lends \? wait : NULL;)/$1\n\tcount = own->cannot_suspend ? 0 : count;/'
	mutant strands_not_rung "single work=strands" "a strand that has what it waited for is not rung" \
		src/net/sleepers.c 's/sleeper->is_over = true;\n\tdlock_wakeup_send\(&sleeper->bell\);/sleeper->is_over = true;/'

	mutant +cancelled_waits "single work=semaphore-strands" "a cancelled waiter stays in the queue, and is granted permits that it never uses" \
		src/redis/lock/kinds.c 's/(static dlock_call \*release_permits\(.*\n\{\n\tdlock_permits_attempt attempt = attempt_of\(subject, )leaves\)/$1leaves \&\& !subject)/'
	mutant cancelled_buyer_waits "single work=stock-strands" "a buyer that is cancelled stays in the queue" \
		src/redis/stock/stocks_reserve.c 's/(static void leave\(reserving \*turn\)\n\{\n\tdlock_conn \*conn = )turn->queued \?/$1turn->queued \&\& !turn ?/'

	mutant watcher_not_hastened c:sleepers "a strand that has begun something does not ring the watcher" \
		src/net/sleepers.c 's/if \(earliest < sleepers->watched_until \|\| sleepers->watch\.is_spoiled\)/if (earliest < 0)/'

	# ---- memcached ----
	mutant +margin_of_none memcached "a client relies on the whole lease time, although the server's clock ticks once a second" \
		src/memcached/item.h 's/\(2 \* DLOCK_SECOND\)/((dlock_nanos) 0)/'
	mutant clock_that_stood_still memcached "the server's clock is assumed never to be behind" src/memcached/server_clock.c 's/return late > 0 \? late : 0;/return 0 * late;/'
	mutant clock_read_at_leisure c:memcached "a reading of the server's clock counts as exact, however long its answer took" \
		src/memcached/server_clock.c 's/\.end = sent \+ left/.end = now + left/'
	mutant tick_taken_for_new c:memcached "a reading after a tick counts as made just after the tick" \
		src/memcached/server_clock.c 's/clock->end = clock->sent \+ left \+ TICK/clock->end = sent + left + TICK/'
	mutant clock_not_handed_on c:memcached_renewal "the renewal thread does not know the holder's reading of the server's clock" \
		src/memcached/renewal.c 's/\t\tconn->clock = round->clock;\n//'
	mutant unsent_add_kept c:memcached_peers "a canceled wait leaves its request in the queue of a connection that is being opened" \
		src/memcached/backend.c 's/\tdlock_memcached_cancel\(conn, own->add\);/\t(void) conn;/'
	mutant clock_not_read_without_memory "memcached clients=2 resources=2 hours=0.01 faults=0 pauses=0 seed=202 fault=pause-server,0,0,21.54,2.9 fault=fail-call,1,3,23.48,0" \
		"without memory for a reading of the server's clock, the last reading counts" src/memcached/conn.c 's/if \(request->timed && !reading\)/if (false)/'
	mutant shorter_from_request c:memcached "a shorter lease without an answer counts from its request" src/memcached/backend.c \
		's/base\.deadline -= lasting\(counted\) - lasting\(ttl\)/base.deadline = dlock_now() + lasting(ttl)/'
	mutant deleted_without_cas memcached "a release deletes the lock without comparing its version" src/memcached/request.c 's/"md %s C%"/"md %s O%"/'
	mutant +changed_without_cas memcached "a renewal changes the lock without comparing its version" src/memcached/request.c 's/ MS C%"/ MS O%"/'

	# ---- stocks ----
	mutant +sold_twice 'single work=stocks' "sold units stay available" \
		src/redis/script/lua/stock/stock_confirm.lua "s/sold = \(sold or 0\) \+ \(units or 1\)/\$&; redis.call('ZINCRBY', pool, units or 1, '\\\$free')/"
	mutant stock_moved_back 'cluster work=stocks hours=8 seed=1100215' "a redirected request that finds nothing is not asked again" \
		src/redis/stock/question.c 's/own->route\.asks && dlock_stock_finds/false && dlock_stock_finds/'
	mutant bought_and_reserved 'single work=stocks' "bought units stay reserved" \
		src/redis/script/lua/stock/stock_confirm.lua 's/sold = \(sold or 0\) \+ \(units or 1\)/sold = tonumber(sold or 0)/'
	mutant bought_twice 'single work=stocks' "a repeated purchase counts twice" \
		src/redis/script/lua/stock/stock_confirm.lua 's/\tif score < SOLD or score >= ENDED then/\tif true then/'
	mutant +sales_forgotten 'replicated work=stocks' "every promoted server counts as knowing all sales" \
		src/redis/script/lua/stock/stock_lineage.lua 's/local shown = .*/local shown = true/'
	mutant any_node_knows 'replicated work=stocks' "a node that followed another master counts as knowing all sales that it confirmed" \
		src/redis/script/lua/stock/stock_lineage.lua 's/ and tonumber\(first\) <= seen \+ 1 then/ then/'
	mutant restocked_twice 'single work=stocks' "a repeated change of the stock is made again" \
		src/redis/script/lua/stock/stock_restock.lua 's/if made then/if false then/'
	mutant +paid_too_late 'single work=stocks' "a late payment buys even if no units are available" \
		src/redis/script/lua/stock/stock_confirm.lua 's/if not room then/if false then/'
	mutant ended_holds 'single work=stocks' "the units of expired reservations stay reserved" \
		src/redis/script/lua/stock/stock_pool.lua 's/stock\.free = stock\.free \+ freed/stock.free = stock.free + 0/'
	mutant cancelled_although_bought 'single work=stocks' "a bought order can be cancelled" \
		src/redis/script/lua/stock/stock_cancel.lua 's/\(stock\.score >= SOLD and stock\.score < ENDED and 7\)/false/' \
		src/redis/script/lua/stock/stock_cancel.lua 's/if score > 0 and score < SOLD then/if score > 0 and score < ENDED then/'
	mutant taken_back_early 'single work=stocks' "reservations are swept a second before they expire" \
		src/redis/script/lua/stock/stock_pool.lua "s/string\.format\('\(%\.0f', stock\.now\), 'WITHSCORES', 'LIMIT', 0, most/string.format('(%.0f', stock.now + 1000), 'WITHSCORES', 'LIMIT', 0, most/"
	mutant reserved_from_reply 'single work=stocks' "a reservation counts from the reply, without drift" \
		src/redis/stock/stocks.c 's/return call->sent_at \+ left - dlock_drift\(left\);/return dlock_now() + left + 0 * call->sent_at;/'
	mutant basket_in_part 'single work=stocks' "an order of several products reserves only the available ones" \
		src/redis/script/lua/stock/stock_basket.lua "s/if not room or not \(stock\.turn or lets_pass\(stock\)\) then/if false then/"
	mutant buyer_forgotten 'single work=stocks' "units that a buyer has cancelled still count against its limit" \
		src/redis/script/lua/stock/stock_pool.lua 's/(local function credit\(pool, ids, units\)\n)/$1\tif ids then return end\n/'
	mutant refund_leaves_it_sold 'single work=stocks' "refunded units stay sold" \
		src/redis/script/lua/stock/stock_refund.lua 's/stock\.sold = stock\.sold - stock\.back/stock.sold = stock.sold - 0/'
	mutant change_counts_nothing 'single work=stocks' "a change of an order's numbers does not change the free units" \
		src/redis/script/lua/stock/stock_change.lua 's/stock\.free = stock\.free - stock\.delta/stock.free = stock.free - 0/'

	mutant loss_noticed_late quorum "a renewal counts as failed at the first refusal, before it is known that the lease is lost" \
		src/redis/redlock/quorum_renewal.c 's/return !dlock_ballot_count\(votes\)/return !dlock_ballot_count(votes) \&\& votes->no == 0/'
}

# ---- builds ----

build() {
	make -s -C "$tree" -f tests/sim/Makefile BUILD="$out/build" > "$out/build.log" 2>&1 || { cat "$out/build.log" >&2; return 1; }
}

# Changes the sources in a copy, builds, and restores the sources.
build_mutant() {
	local name=$1 options=$2 what=$3 edited=() ok=0
	shift 3
	while [ $# -gt 0 ]; do
		perl -0pi -e "\$n = $2; END { \$? = \$n ? 0 : 1 }" "$tree/$1" || { echo "FAIL $name: nothing to change in $1"; ok=1; }
		edited+=("$1")
		shift 2
	done
	if [ "$ok" -eq 0 ]; then
		(cd "$tree" && bash scripts/gen-lua.sh) || ok=1
		case $options in
		c:*) test_mutant "$name" "${options#c:}" "$what" | tee "$out/$name.result" ;;
		*) build && cp "$out/build/sim" "$out/$name" || ok=1 ;;
		esac
	fi
	for file in "${edited[@]}" src/redis/script/scripts_lua.h; do cmp -s "$root/$file" "$tree/$file" || cp "$root/$file" "$tree/$file"; done
	return "$ok"
}

# ---- runs ----

test_mutant() {
	local name=$1 test=$2 what=$3 result
	result=$(DLOCK_TEST_DIR=$out/c SANITIZE=none "$tree/tests/c/run.sh" "$test" 2>&1)
	if [[ $result =~ [1-9][0-9]*\ failed$ ]]; then
		echo "PASS $name ($test: $what): $(grep -m 1 '^not ok' <<< "$result")"
	else
		echo "FAIL $name ($test: $what): not found"
	fi
}

find_mutant() {
	local name=$1 options=$2 what=$3 seed=0 begun result=
	begun=$(date +%s%N)
	while [ "$seed" -lt "$seeds" ] && [[ $result != *VIOLATION* ]]; do
		seed=$((seed + 1))
		result=$(timeout 60 "$out/$name" seed=$seed shrink=0 hours=0.3 work=locks setup=$options 2>&1)
	done
	local seconds=$(((($(date +%s%N) - begun) / 10000000)))
	seconds=$((seconds / 100)).$(printf %02d $((seconds % 100)))
	if [[ $result == *VIOLATION* ]]; then
		echo "PASS $name (${options%% *}: $what): seed $seed, $seconds s: $(sed -n 's/.*VIOLATION at [0-9.]* s: //p' <<< "$result")"
	else
		echo "FAIL $name (${options%% *}: $what): not found with $seeds seeds, $seconds s"
	fi
}

mutant() {
	local name=${1#+} options=$2 what=$3
	[ -z "$fast" ] || [ "$name" != "$1" ] || return 0
	[ "${#wanted[@]}" -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
	build_mutant "$name" "$options" "$what" "${@:4}" || { failed=$((failed + 1)); return 0; }
	[[ $options != c:* ]] || return 0
	while [ "$(jobs -rp | wc -l)" -ge "${DLOCK_SIM_JOBS:-2}" ]; do wait -n || true; done
	find_mutant "$name" "$options" "$what" | tee "$out/$name.result" &
}

fast= wanted=() failed=0
[ "${1-}" != --fast ] || { fast=1; shift; }
wanted=("$@")
rm -rf "$tree" "$out/build" "$out"/*.result # compiled files may be of another mutant
mkdir -p "$tree/scripts" "$tree/tests"
cp -a "$root/src" "$tree/"
cp -a "$root"/tests/{sim,c,setup} "$tree/tests/"
mkdir -p "$out/c"
cp "$root/scripts/gen-lua.sh" "$tree/scripts/"
build || exit
all_mutants
wait
passed=$(cat "$out"/*.result 2> /dev/null | grep -c ^PASS)
failed=$((failed + $(cat "$out"/*.result 2> /dev/null | grep -c ^FAIL)))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
