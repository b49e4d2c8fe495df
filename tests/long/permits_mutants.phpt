--TEST--
The random check of permits finds each of these mistakes in the scripts
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits_check.inc';

$mistakes = [
    'a permit that is given back twice' => ['permits_release.lua' => ['or held) == 0 then' => 'or held) == -1 then', 'used - (permits or 1)' => '(used or 0) - (permits or 1)']],
    'overtaking of waiters by those who come for one permit' => ['permits_acquire.lua' => ['not time.err and not queue and used' => 'not time.err and used']],
    'a permit more than there are' => ['permits_acquire.lua' => ['used + 1 <= tonumber(ARGV[3])' => 'used <= tonumber(ARGV[3])']],
    'a repeated request for one permit that is counted twice' => ['permits_acquire.lua' => ["redis.call('ZADD', pool, used, '\$used') --" => '--']],
    'a fencing token for one permit that follows the clock back' => ['permits_acquire.lua' => ['math.max(us, 1 - fence)' => 'us']],
    'a key that ends before the lease of one permit' => ['permits_acquire.lua' => [' and ends <= -lasts and' => ' and']],
    'overtaking of waiters by those who come' => ['permits_contend.lua' => ['if unsettled == 0 and fits and not queue and not held and not sweeps' => 'if fits and not held and not sweeps']],
    'overtaking of a large request by a small one' => ['permits_queue.lua' => ["if mine or room(state, capacity) <= 0 or listens(inbox) then" => 'if mine or room(state, capacity) <= 0 then']],
    'a waiter that is forgotten by a release' => ['permits_release.lua' => ['local granted = serve(state)' => 'local granted']],
    'a waiter that is forgotten by one that leaves' => ['permits_leave.lua' => ['serve(read(KEYS[1], clock(KEYS[1])))' => '']],
    'a waiter that is forgotten by what is taken back' => ['permits_contend.lua' => ['serve(state) -- it may have been in front' => '-- it may have been in front']],
    'a second waiter that would fit, too' => ['permits_queue.lua' => ['		count = 32 --' => '		going = false --']],
    'a queue without its mark' => ['permits_queue.lua' => ['		queue = 0' => '		queue = -1']],
    'a queue that is forgotten' => ['permits_queue.lua' => ['				empty = false' => '				empty = true']],
    'a repeated request that is counted twice' => ['permits_contend.lua' => ['if unsettled == 0 and fits and not queue and not held and not sweeps' => 'if fits and not queue and not sweeps']],
    'an exchange that leaves the old id' => ['permits_exchange.lua' => ["redis.call('ZREM', pool, 'h' .. ARGV[1], 'w' .. ARGV[1])" => '']],
    'an exchange of what is over' => ['permits_exchange.lua' => ['if left < 1 then' => 'if ends == 0 then']],
    'an exchange that forgets the permits' => ['permits_exchange.lua' => ['if permits then' => 'if false then']],
    'readers that starve a writer' => ['permits_queue.lua' => ['	if #writer > 0 then' => '	if false then']],
    'writers that starve readers' => ['permits_queue.lua' => ['	if writer then' => '	if false then']],
    'a phase of readers that is cut off' => ['permits_queue.lua' => ["elseif state.phase then" => 'elseif false then']],
    'a phase of readers that takes in those who come later' => ['permits_queue.lua' => ['queue = -math.min(state.phase, math.max(state.us, state.fence))' => 'queue = -(state.phase)']],
    'a lease that is over and is taken back too early' => ['permits_queue.lua' => ['take_back(state, state.now, CHUNK)' => 'take_back(state, state.now + 20, CHUNK)']],
    'a lease that is swept before anybody needs its room' => ['permits_contend.lua' => ['take_back(state, now - GRACE, SWEPT)' => 'take_back(state, now - 20, SWEPT)']],
    'dead holders that are never swept' => ['permits_contend.lua' => ['if sweeps and take_back' => 'if false and take_back']],
    'one that waits for a lower capacity keeps others waiting' => ['permits_queue.lua' => ['state.most > state.blocked and room' => 'false and room']],
    'one that does not wait is kept out by those that ask with a lower capacity' => ['permits_contend.lua' => [' or is_passing(state, capacity)) and' => ') and']],
    'overtaking of one that asks with the same capacity' => ['permits_queue.lua' => ['	if tonumber(capacity) <= state.blocked then' => '	if false then']],
    'leases that are over and are not all taken back' => ['permits_queue.lua' => ['state.reclaimed = count < CHUNK' => 'state.reclaimed = true']],
    'a grant to a process that is dead' => ['permits_queue.lua' => ['may = may and receivers > 0' => 'may = may']],
    'a grant after the last sign of life' => ['permits_queue.lua' => ['math.floor(-(sign or 0) / 1000) < STALE' => 'math.floor(-(sign or 0) / 1000) < 2 * STALE']],
    'a grant that nobody can tell from an old one' => ['permits_queue.lua' => ['id, -sign % 1000, fence)' => 'id, 1, fence)']],
    'a fencing token that is given twice' => ['permits_queue.lua' => ['return math.max(state.us, state.fence + 1)' => 'return math.max(state.us, state.fence)']],
    'a fencing token that follows the clock back' => ['permits_contend.lua' => ['local token = math.max(us, 1 - (fence or 0))' => 'local token = us']],
    'a key that ends before its leases' => ['permits_renew.lua' => ['if last < ends then' => 'if false then']],
    'a renewal that makes a lease shorter' => ['permits_renew.lua' => ["ARGV[3] == '1' and math.max(ends, n[1]) or ends" => 'ends']],
    'a renewal of what was taken back' => ['permits_renew.lua' => ["if not n[1] then" => 'if false then', "redis.call('ZADD', pool, 'XX', ARGV[3] == '1' and math.max(ends, n[1]) or ends, held)" => "redis.call('ZADD', pool, ends, held)"]],
    'a waiter that loses its place' => ['permits_contend.lua' => ["local place = upgrades and WAITS or ticket == '0' and token or tonumber(ticket)" => 'local place = upgrades and WAITS or token', "redis.call('ZADD', pool, 'LT', alone" => "redis.call('ZADD', pool, alone"]],
    'an abandoned waiter that stays in the queue' => ['permits_release.lua' => ["redis.call('ZREM', pool, waiter_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4]))" => '']],
    'an upgrade beside others that read' => ['permits_become_writer.lua' => ['	elseif make_room(state, ALL - 1, ALL) then' => '	elseif true then']],
    'an upgrade that does not take over the rest' => ['permits_become_writer.lua' => ["redis.call('ZREM', pool, 'h' .. rest, 'w' .. rest)" => '']],
    'an upgrade of what is over' => ['permits_become_writer.lua' => ['if not ends or tonumber(ends) < state.now then' => 'if not ends then']],
    'an upgrade without a greater fencing token' => ['permits_become_writer.lua' => ['state.fence = next_token(state)' => '']],
    'an upgrade that makes a lease shorter' => ['permits_become_writer.lua' => ['math.max(ends, state.now + ttl)' => 'state.now + ttl']],
    'a rest that is kept after a loss' => ['permits_become_writer.lua' => ['		drop(state, { rest }, { others })' => '']],
    'readers that are forgotten by a loss' => ['permits_become_writer.lua' => ['		serve(state)' => '']],
    'two that wait to be the writer' => ['permits_contend.lua' => ['and not held and is_second_upgrade() then' => 'and false then']],
    'two that wait to be the writer and disagree on phases' => ['permits_contend.lua' => ['ipairs({WAITS, ALONE})' => 'ipairs({alone and ALONE or WAITS})']],
    'one that is refused for a dead one' => ['permits_contend.lua' => ["				and listens(string.match(other, '^q%d+ %d+ %S+ (%S*)')) then" => '				then']],
    'one that waits to be the writer, in turn' => ['permits_contend.lua' => ["local place = upgrades and WAITS or ticket == '0'" => "local place = ticket == '0'"]],
    'a downgrade that wakes nobody' => ['permits_become_reader.lua' => ['return permits and serve(state) and 2 or 1' => 'return 1']],
    'a downgrade that lets a writer in first' => ['permits_become_reader.lua' => ['state.used - permits + 1, ALONE' => 'state.used - permits + 1, false']],
    'a downgrade that makes a lease shorter' => ['permits_become_reader.lua' => ['math.max(ends, state.now + ttl)' => 'state.now + ttl']],
];

$check = new PermitsCheck();
foreach ($mistakes as $mistake => $replacements) {
    $found = $check->run(range(3, 30), 1500, $replacements);
    if (getenv('DLOCK_PERMITS_TRACE') !== false) {
        echo "$mistake: $found\n";
    } elseif ($found === null) {
        echo "not found: $mistake\n";
    }
}
?>
done
--EXPECT--
done
