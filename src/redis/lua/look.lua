-- When may the eras of all slots settle that this master of a cluster has? In one of its slots, the same for everybody. There the era is opened where it
-- is missing, or another's; and it is noted since when the master has had the same slots, by the cluster's epoch, which no slot passes through
-- other hands without: what was granted elsewhere before is over a guard later.
--
-- keys: 2
-- KEYS[1] the era             KEYS[2] since when
-- ARGV[1] the guard in ms      ARGV[2] '-': full copies do not count (era.lua)
-- Replies {0: now, the ms until then, or -1: not confirmed; replid, settles, the guard that these wait for, full copies until now} (era.lua). Cost: O(nodes).
--#include era.lua
local left, id, settles, waited = look_at_era(KEYS[1], ARGV[1], ARGV[2] ~= '-', true)
local slots = string.match(redis.call('CLUSTER', 'NODES'), 'myself[^\n]- connected([^\n]*)')
local epoch = string.match(redis.call('CLUSTER', 'INFO'), 'cluster_current_epoch:(%d+)')
local state = redis.sha1hex(id .. ' ' .. epoch .. ' ' .. slots)
local noted, since = string.match(redis.call('GET', KEYS[2]) or '', '^(%x+) (%d+)$')
local now = time()
if noted ~= state or tonumber(since) > now then
	since = now
	redis.call('SET', KEYS[2], string.format('%s %.0f', state, now))
end
if left >= 0 then
	left = math.max(left, math.min(since + waited - now, tonumber(waited)))
end
return {left, id, settles, waited, full_copies()}
