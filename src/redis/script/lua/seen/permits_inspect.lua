-- inspect.lua for a pool of permits.
--
-- keys: pool held
-- args: most:int
-- most: the holders, and the waiters, in detail.
-- Replies {us since 1970, number of holders, number of waiters, and for each of the first: 'h', id, ms left, permits,
-- what it has said; or 'q', id, 0, permits, what it says}. Cost: O(log n), and O(1) for each of those.
--#include id.lua
--#include permits_pool.lua
local pool, most = KEYS[1], ARGV[1]
local time = redis.pcall('TIME')
local us = time.err and 0 or time[1] * 1000000 + time[2]
local now, reply = math.floor(us / 1000), {string.format('%.0f', us), 0, 0}

local function add(kind, name, left, permits, said)
	for _, word in ipairs({kind, id_of(name), left, permits, said}) do
		reply[#reply + 1] = word
	end
end

local range = string.format('(%.0f', WAITS)
local holders = redis.call('ZRANGEBYSCORE', pool, string.format('%.0f', math.max(now, HELD)), range, 'WITHSCORES',
	'LIMIT', 0, most)
reply[2] = redis.call('ZCOUNT', pool, string.format('%.0f', math.max(now, HELD)), range)
for i = 1, #holders, 2 do
	local name = string.sub(holders[i], 2)
	local broken = string.match(name, '^broken:[^:]*:(.*)$')
	local said = not broken and redis.pcall('HGET', KEYS[2], id_of(name))
	said = broken and 'broken ' .. broken or type(said) == 'string' and string.match(said, '^%d+ (.*)$') or ''
	add('h', name, us > 0 and math.floor(holders[i + 1] - now) or -1, tonumber(redis.call('ZSCORE', pool, 'w' .. name)
		or 1), said)
end

-- The order is that of next_waiters(), as far as it is decided: after a writer all readers, after readers the first
-- writer.
local queue = tonumber(redis.call('ZSCORE', pool, '$queue') or 0)
local waiting = redis.call('ZCOUNT', pool, WAITS, '+inf')
local readers = redis.call('ZRANGEBYSCORE', pool, WAITS, string.format('(%.0f', ALONE), 'LIMIT', 0, most)
local writers = queue <= PHASES and redis.call('ZRANGEBYSCORE', pool, string.format('%.0f', ALONE), '+inf', 'LIMIT', 0,
	most) or {}
local names = {}
if queue < PHASES or #writers == 0 then
	for _, list in ipairs({readers, writers}) do
		for _, name in ipairs(list) do names[#names + 1] = name end
	end
else
	names[1] = table.remove(writers, 1)
	for _, list in ipairs({readers, writers}) do
		for _, name in ipairs(list) do names[#names + 1] = name end
	end
end
for i = 1, math.min(#names, tonumber(most)) do
	local sign = redis.call('ZSCORE', pool, 's' .. string.sub(names[i], 2))
	local permits, id, said = string.match(names[i], '^q(%d+) %d+ (%S+) %S* ?(.*)$')
	if permits and sign and (us == 0 or now - math.floor(-sign / 1000) < STALE) then
		add('q', id, 0, tonumber(permits), said)
	else
		waiting = waiting - 1
	end
end
reply[3] = waiting
return reply
