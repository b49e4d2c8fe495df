-- Tells when the epochs of all slots of a cluster's master may settle. It runs in one of these slots, the same for all
-- clients. If the epoch there is missing, or another server's, the script opens it.
--
-- The script also notes since when the master has had the same slots, by the cluster's epoch, which changes whenever a
-- slot passes through another master. So all leases that were granted elsewhere before have expired a guard later. But
-- if a move is cancelled, moved keys stay behind, and the cluster's epoch is as before. So the script also notes which
-- epoch each slot has opened. A slot that opens another epoch has lost its keys, and all slots wait from then on. These
-- notes outlast a move of other slots and full resynchronizations. They do not outlast a failover, because every slot
-- opens another epoch then.
--
-- keys: epoch slots
-- args: dlock_epoch_rule guard { time:ms resyncs:''|'-' } slot:int dlock_epoch_state *epoch { settles:text }
-- args: notes:'1'|''?
-- slots: a hash of the server's replication ID ("server"), since when its slots are the same ("state"), and the epoch
-- that each slot has opened. slot: the slot that asks; epoch.settles: of its epoch now. notes: nothing is asked, the
-- script only notes this.
-- Replies {ms until then (0: now; -1: not confirmed), replid, settles, the guard that these wait for, how often
-- replicas have attached until now} (epoch.lua). Cost: O(nodes); O(1) if it only notes a slot, in a hash of this
-- server.
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
