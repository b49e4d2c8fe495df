-- permits_acquire.lua for a server that fails over: it grants in a settled era only, and what it replies counts once
-- replicas have confirmed it (WAIT).
--
-- keys: pool era
-- args: dlock_permits_attempt *attempt { id:text permits:int capacity:count ttl:lease limit:count inbox:inbox
-- args: ticket:int number:int fifo:'1'|'' } dlock_guard guard { time:ms resyncs:''|'-' }
-- guard.time: no lease of this client is longer; resyncs '-': full copies do not count (era.lua).
-- Replies what permits_acquire.lua does; in an unsettled era {0, …, ms until it is settled, or -1: not confirmed,
-- replid, settles} (era.lua). Cost: that of permits_acquire.lua, and three commands, one of them INFO.
--#include era.lua
--#include permits_clock.lua
--#include permits_pool.lua
local known
local unsettled, replid, settles = look_at_era(KEYS[2], ARGV[10], ARGV[11] ~= '-')
--#include permits_contend.lua
