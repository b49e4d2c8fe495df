-- When may the epochs of all slots settle that this master of a cluster has? In one of its slots, the same for all
-- clients. There the epoch is opened where it is missing, or another's; and it is noted since when the master has had
-- the same slots, by the cluster's epoch, which no slot passes through other hands without: what was granted elsewhere
-- before is over a guard later. But where a move is given up, keys that have been moved stay behind, and the epoch is
-- as before. So it is noted, too, which epoch each slot has opened: a slot that opens another one has lost its keys,
-- and all wait from then on. These notes outlast a move of other slots and full copies, but no fail-over, where every
-- slot opens another epoch.
--
-- keys: epoch slots
-- args: dlock_epoch_rule guard { time:ms resyncs:''|'-' } slot:int dlock_epoch_state *epoch { settles:text }
-- args: notes:'1'|''?
-- slots: a hash: of which "server", since when ("state"), and by slot the epochs that were opened there. slot: that
-- asks, with what `settles` of its epoch is now. notes: nothing is asked, it is only to be noted.
-- Replies {0: now, the ms until then, or -1: not confirmed; replid, settles, the guard that these wait for, and how
-- often replicas have attached until now} (epoch.lua). Cost: O(nodes); O(1) where it only notes a slot of a server that
-- has others.
if ARGV[5] == '1' then
	local server = redis.call('HGET', KEYS[2], 'server')
	local opened = redis.call('HGET', KEYS[2], ARGV[3])
	if server and (not opened or opened == ARGV[4])
		and string.find(redis.call('INFO', 'replication'), '\nmaster_replid:' .. server, 1, true) then
		redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
		return 0
	end
end
--#include epoch.lua
local counts = ARGV[2] ~= '-'
local left, id, settles, waited = check_epoch(KEYS[1], ARGV[1], counts, 'full')
local slots = string.match(redis.call('CLUSTER', 'NODES'), 'myself[^\n]- connected([^\n]*)')
local epoch = string.match(redis.call('CLUSTER', 'INFO'), 'cluster_current_epoch:(%d+)')
local attached = attached_until_now()
local state = redis.sha1hex(id .. ' ' .. (counts and full(attached) or '') .. ' ' .. epoch .. ' ' .. slots)
if redis.call('HGET', KEYS[2], 'server') ~= id then
	redis.call('DEL', KEYS[2])
end
local noted, since = string.match(redis.call('HGET', KEYS[2], 'state') or '', '^(%x+) (%d+)$')
local now = time()
local opened = redis.call('HGET', KEYS[2], ARGV[3])
if noted ~= state or tonumber(since) > now or opened and opened ~= ARGV[4] then
	since = now
end
redis.call('HSET', KEYS[2], 'server', id, 'state', string.format('%s %.0f', state, since), ARGV[3], ARGV[4])
if left >= 0 then
	left = math.max(left, math.min(since + waited - now, tonumber(waited)))
end
return {left, id, settles, waited, attached}
