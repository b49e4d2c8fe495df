-- permits_acquire.lua for a server that fails over. It grants in a settled epoch only, and its reply counts once
-- replicas have confirmed it (WAIT).
--
-- keys: pool epoch
-- args: dlock_permits_attempt *attempt { id:text permits:int capacity:count ttl:lease inbox:inbox
-- args: ticket:int number:int fifo:'1'|'' } dlock_epoch_rule guard { time:ms resyncs:''|'-' }
-- args: attempt { own:count? }
-- guard.time: no lease of this client is longer. resyncs '-': full resynchronizations do not count (epoch.lua).
-- Replies what permits_acquire.lua does; in an unsettled epoch {0, …, ms until it is settled (-1: not confirmed),
-- replid, settles} (epoch.lua). Cost: that of permits_acquire.lua, and three commands, one of them INFO.
--#include epoch.lua
--#include permits_clock.lua
--#include permits_pool.lua
local own, sweeps, unsettled, replid, settles = tonumber(ARGV[11]), false,
	check_epoch(KEYS[2], ARGV[9], ARGV[10] ~= '-')
--#include permits_contend.lua
