-- Included behind permits_clock.lua in the scripts on permits; never sent by itself.
--
-- A pool of permits is one sorted set, of names and numbers. The ranges of the numbers keep apart what is looked for in
-- order:
--
--   negative       $fence      minus the last fencing token, or ticket, that was given out
--                  $until      minus the time, in ms, to which the key lasts
--                  $queue      there may be waiters. PHASES or less: writers, too, with phases; see next_waiters()
--                  s<waiter>   minus its last sign of life: the time in ms * 1000 + the number of that request, modulo
--                              1000
--   small          $used       the permits taken, with those whose lease is over and that no client has needed yet
--                  $cap        on a server that fails over: the capacity by which permits were granted last. More are
--                              in use only where holders were restored
--                  $most       the highest capacity of all waiters since the queue was last empty
--                  w<id>       the permits of that holder, where they are not 1
--   from HELD on   h<id>       a holder: when its lease ends, in ms
--   from WAITS on  q<waiter>   a waiter: its ticket, in us
--   from ALONE on  q<waiter>   a writer in phases: its ticket + ALONE - WAITS
--
-- A waiter is "permits capacity id inbox", as in permits_acquire.lua: all that is needed to serve it; and behind the
-- inbox what it says about itself. The ranges hold for a clock between 2001 and 2128.
--
-- What a lease leaves behind when it is over is taken back by the next request that needs the room: until then its
-- holder may renew or release it: no other client has had it. What no client has needed for GRACE is swept by one of
-- SWEEPS acquisitions, in the mean, up to SWEPT: so it does not pile up where there is always room.
local HELD, WAITS, ALONE = 1e11, 1e15, 5e15
local QUEUED, PHASES = -1, -2

-- The permits of a read/write lock: a reader takes one of them, a writer all.
local ALL = 1000000000

-- In ms, as in handover.lua: a waiter gives a sign of life about every 2 s, and is dead STALE after the last one. A
-- grant that is not taken up lasts for GRACE, which is no shorter. A pool that only waiters are interested in lasts for
-- FORGET.
local STALE, GRACE, FORGET = 3000, 3000, 60000

-- Also in permits_acquire.lua.
local SWEEPS, SWEPT = 16, 64

-- Gives permits that there is room for. `used` is what they were before.
local function hold(pool, id, permits, used, fence, ends)
	if permits == 1 then
		redis.call('ZADD', pool, used + 1, '$used', -fence, '$fence', ends, 'h' .. id)
	else
		redis.call('ZADD', pool, used + permits, '$used', -fence, '$fence', ends, 'h' .. id, permits, 'w' .. id)
	end
end

-- Lets the key last until then and for some time on, so that this need not be done each time. By its own clock it lasts
-- for longer than its last fencing token: so these rise where the clock was set back.
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
