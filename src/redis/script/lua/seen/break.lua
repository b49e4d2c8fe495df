-- Breaks a lock so that, without `now`, it never has two holders: the key gets another value and keeps its expiry time.
-- The holder learns of it at its next renewal, or relies on the lock until its own deadline, which is no later. The key
-- expires after both. Then the lock goes to the next waiter, as after the death of any holder.
--
-- keys: lock fence queue waiters
-- args: id:text by:text now:'1'|'' grant:''|'0'?
-- id: of the holder, as inspect.lua shows it. by: the user who breaks the lock. now 1: the lock goes to the next waiter
-- at once, though the old holder may not know yet. grant: as in release.lua.
-- Replies the ms until the lock is free, 0 with `now`; -1 if that holder no longer holds it; -2 if it never expires, so
-- that only `now` breaks it. Cost: O(1); with `now` as release.lua.
--#include id.lua
--#include fencing.lua
--#include handover.lua
local lock, queue = KEYS[1], KEYS[3]
local holder = redis.call('GET', lock)
if not holder or id_of(holder) ~= ARGV[1] then
	return -1
end
if ARGV[3] == '1' then
	local grant = ARGV[4] ~= '0'
	if not grant then
		redis.call('DEL', lock)
	end
	if not serve(lock, queue, KEYS[4], grant and KEYS[2], nil, false, take_first(queue, grant)) and grant then
		redis.call('DEL', lock)
	end
	wake(queue, KEYS[4])
	return 0
end
local left = redis.call('PTTL', lock)
if left == -1 then
	return -2
elseif string.find(holder, 'broken:', 1, true) then -- it was broken before: it expires, and has no holder
	return left
end
redis.call('SET', lock, (string.match(holder, '^9999999999:') or '') .. 'broken:' .. ARGV[1] .. ':' .. ARGV[2],
	'PX', math.max(left, 1))
return left
