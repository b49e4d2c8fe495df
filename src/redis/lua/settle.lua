-- Sets the time at which an era settles, after its opening was confirmed by replicas: so no master before it can have a majority of them any more. Raises the
-- fence to that time.
--
-- keys: 2
-- KEYS[1] the fence           KEYS[2] the era
-- ARGV[1] the replication id that the era was opened for              ARGV[2] the guard in ms
-- Replies the ms until it settles, 1 or more; 0 where it is another era, or has its time. Cost: O(1).
--#include era.lua
--#include fencing.lua
local opened, longest, settles = string.match(redis.call('GET', KEYS[2]) or '', '^(%x+) (%d+) (.+)$')
if opened ~= ARGV[1] or settles ~= '0' or replication_id() ~= opened then
	return 0
end
local guard, now = math.max(longest, ARGV[2]), redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000) + 1 + guard
local last = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[2], string.format('%s %.0f %.0f', opened, guard, at))
if tonumber(last or 0) < at * 1000 then
	redis.call('SET', KEYS[1], string.format('%.0f', math.min(at * 1000, MOST_PROPOSED)))
end
return math.max(1, guard)
