-- Included after permits_clock.lua in scripts on permits; never sent by itself.
--
-- A pool of permits is one sorted set of names and numbers. The ranges of the numbers keep apart what scripts look for
-- in order:
--
--   negative       $fence      minus the last fencing token, or ticket, that was given out
--                  $until      minus the time, in ms, until which the key lasts
--                  $queue      there may be waiters. PHASES or less: writers, too, with phases; see next_waiters()
--                  s<waiter>   minus its last sign of life: the time in ms * 1000 + the number of that request, modulo
--                              1000
--   small          $used       the permits in use, with those of expired leases that no client has needed yet
--                  $cap        on a server that fails over: the capacity at the last grant. More are in use only if
--                              holders were restored
--                  $most       no waiter asks with a higher capacity
--                  w<id>       the permits of that holder, if they are not 1
--   from HELD on   h<id>       a holder: when its lease ends, in ms
--   from WAITS on  q<waiter>   a waiter: its ticket, in us
--   from ALONE on  q<waiter>   a writer in phases: its ticket + ALONE - WAITS
--
-- A waiter is "permits capacity id inbox", as in permits_acquire.lua: all that is needed to serve it. After the inbox
-- comes what it says about itself. The ranges hold for a clock between 2001 and 2128.
--
-- The next request that needs the room reclaims the permits of an expired lease. Until then its holder may renew or
-- release it, because no other client has had them. One of SWEEPS acquisitions, on average, sweeps up to SWEPT leases
-- that expired more than GRACE ago. So they do not pile up in a pool that always has room.
local HELD, WAITS, ALONE = 1e11, 1e15, 5e15
local QUEUED, PHASES = -1, -2

-- The permits of a read/write lock: a reader needs one of them, a writer all.
local ALL = 1000000000

-- In ms, as in handover.lua. A waiter gives a sign of life about every 2 s. STALE after the last one it counts as dead.
-- A grant that is not accepted lasts for GRACE, which is no shorter. A pool with waiters alone lasts for FORGET.
local STALE, GRACE, FORGET = 3000, 3000, 60000

-- Also in permits_acquire.lua.
local SWEEPS, SWEPT = 16, 64

-- Grants permits that there is room for. `used` is what they were before.
local function hold(pool, id, permits, used, fence, ends)
	if permits == 1 then
		redis.call('ZADD', pool, used + 1, '$used', -fence, '$fence', ends, 'h' .. id)
	else
		redis.call('ZADD', pool, used + permits, '$used', -fence, '$fence', ends, 'h' .. id, permits, 'w' .. id)
	end
end

-- Keeps the key until `ends` and for some time beyond, so that not every request has to. The key lasts until the
-- server's clock has passed its last fencing token, so tokens rise even if the clock was set back.
local function last_until(pool, now, fence, ends)
	local last = math.max(ends + math.min(ends - now, FORGET), math.ceil(fence / 1000))
	redis.call('ZADD', pool, -last, '$until')
	redis.call('PEXPIREAT', pool, last)
end

-- The names of a waiter's two entries.
local function waiter_of(id, permits, capacity, inbox)
	local waiter = permits .. ' ' .. capacity .. ' ' .. id .. ' ' .. inbox
	return 'q' .. waiter, 's' .. waiter
end
