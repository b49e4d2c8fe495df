-- Shows the holder of the lock and its waiters, all of one moment. Changes nothing. Nothing in the reply lets a client
-- release the lock or attach it.
--
-- keys: lock queue waiters held
-- args: most:int
-- most: the waiters in detail.
-- Replies {us since 1970, id of the holder or '', ms left, what the holder has said, number of waiters, and for each of
-- the first: id, what it says}. Cost: O(log n), and O(1) for each waiter in detail.
--#include id.lua
local STALE = 3000000 -- as in handover.lua

local holder = redis.pcall('GET', KEYS[1])
if type(holder) == 'table' then
	return holder -- another program's key, of another type
end
local time = redis.pcall('TIME')
local now = time.err and '0' or time[1] .. string.format('%06d', time[2])
local id = holder and id_of(holder) or ''
local said = holder and redis.pcall('GET', KEYS[4])
said = type(said) == 'string' and string.sub(said, 1, 24) == id and string.sub(said, 26) or ''
if holder and string.find(holder, 'broken:', 1, true) then
	said = 'broken ' .. (string.match(holder, 'broken:[^:]*:(.*)') or '?')
end
local waiting, reply = redis.call('ZCARD', KEYS[2]), {now, id, holder and redis.call('PTTL', KEYS[1]) or 0, said, 0}
local names = waiting > 0 and tonumber(ARGV[1]) > 0 and redis.call('ZRANGE', KEYS[2], 0, ARGV[1] - 1) or {}
for _, name in ipairs(names) do
	local sign, about = string.match(redis.call('HGET', KEYS[3], name) or '', '^(%d+) %d+ %d+ %S* ?(.*)$')
	if sign and (now == '0' or now - sign < STALE) then
		reply[#reply + 1] = id_of(name)
		reply[#reply + 1] = about
	else
		waiting = waiting - 1
	end
end
reply[5] = waiting
return reply
