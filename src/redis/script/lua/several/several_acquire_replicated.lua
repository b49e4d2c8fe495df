-- several_acquire.lua for a server that fails over. It grants in a settled epoch only, and its reply counts once
-- replicas have confirmed it (WAIT).
--
-- keys: locks...
-- args: dlock_attempt *attempt { token:text ttl:lease } dlock_epoch_rule guard { time:ms resyncs:''|'-'? }
-- args: attempt { inbox:inbox? ticket:count?inbox number:int?inbox }
-- The keys are those of several_acquire.lua, followed by the epoch. The arguments, and what an unsettled epoch adds to
-- the reply, are as in acquire_replicated.lua. Cost: O(n) for n locks, n + 4 commands, one of them INFO, if they are
-- free, without waiters.
local n, fence, epoch = #KEYS - 2, KEYS[#KEYS - 1], KEYS[#KEYS]
local token, ttl, guard = ARGV[1], ARGV[2], ARGV[3]
local free_now, failed, counted = false, nil, false

local function grant()
	free_now = redis.pcall('EXISTS', unpack(KEYS, 1, n)) == 0
	for i = 1, free_now and n or 0, 3 do
		local set = redis.pcall('SET', KEYS[i], token, 'PX', ttl)
		failed = failed or set.err and set
	end
	counted = free_now and not failed and redis.pcall('INCR', fence)
end

--#include settled.lua

local inbox, ticket, number, grant, me = ARGV[5] or '', ARGV[6] or '', ARGV[7], true, '*' .. token
--#include several_contend.lua
