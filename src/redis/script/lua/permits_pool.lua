-- Included behind permits_clock.lua in the scripts on permits; never sent by itself.
--
-- A pool of permits is one sorted set, of names and numbers. The ranges of the numbers keep apart what is looked for in
-- order:
--
--   negative       $fence      minus the last fencing token, or ticket, that was given out
--                  $until      minus the time, in ms, to which the key lasts. A stock has none: it stays
--                  $queue      there may be waiters. PHASES or less: writers, too, with phases; see next_waiters()
--                  s<waiter>   minus its last sign of life: the time in ms * 1000 + that request's number, modulo 1000
--   small          $used       the permits taken, with those whose lease is over and whose room nobody has needed yet
--                  $stock      the pieces that were ever put in        $sold   those of them that were sold
--                  w<id>       the permits of that holder or reservation, where they are not 1
--                  b<buyer>    the pieces that the buyer has reserved or bought
--                  r<name>     a change of the stock that was made
--   from HELD on   h<id>       a holder or a reservation: when its lease ends, in ms
--   from SOLD on   h<id>       a reservation that was bought: SOLD + when
--   from WAITS on  q<waiter>   a waiter: its ticket, in us
--   from ALONE on  q<waiter>   a writer in phases: its ticket + ALONE - WAITS
--
-- A waiter is "permits capacity limit id inbox", as in permits_acquire.lua: all that is needed to serve it. The id of a
-- reservation is its buyer, a slash, and the request; other ids have no slash. The ranges hold for a clock between 2001
-- and 2128.
--
-- Nobody sweeps. What a lease leaves behind when it is over is taken back by whoever needs the room, and not before:
-- until then its holder may renew, confirm or release it, for nobody else has had it.
local HELD, SOLD, WAITS, ALONE = 1e11, 1e13, 1e15, 5e15
local QUEUED, PHASES = -1, -2

-- The permits of a read/write lock: a reader takes one of them, a writer all.
local ALL = 1000000000

-- In ms, as in handover.lua: a waiter gives a sign of life about every 2 s, and is dead STALE after the last one. A grant that is not taken up
-- lasts for GRACE, which is no shorter. A pool that only waiters are interested in lasts for FORGET.
local STALE, GRACE, FORGET = 3000, 3000, 60000

-- Gives permits that there is room for. `used`, and the buyer's `pieces`, are what they were before.
local function hold(pool, id, permits, used, fence, ends, buyer, pieces)
	if not buyer then
		if permits == 1 then
			redis.call('ZADD', pool, used + 1, '$used', -fence, '$fence', ends, 'h' .. id)
		else
			redis.call('ZADD', pool, used + permits, '$used', -fence, '$fence', ends, 'h' .. id, permits, 'w' .. id)
		end
	elseif permits == 1 then
		redis.call('ZADD', pool, used + 1, '$used', -fence, '$fence', ends, 'h' .. id, pieces + 1, 'b' .. buyer)
	else
		redis.call('ZADD', pool, used + permits, '$used', -fence, '$fence', ends, 'h' .. id, pieces + permits, 'b' .. buyer, permits, 'w' .. id)
	end
end

-- Lets the key last until then and for some time on, so that this need not be done each time. By its own clock it lasts for longer than its
-- last fencing token: so these rise where the clock was set back.
local function last_until(pool, now, fence, ends)
	local last = math.max(ends + math.min(ends - now, FORGET), math.ceil(fence / 1000))
	redis.call('ZADD', pool, -last, '$until')
	redis.call('PEXPIREAT', pool, last)
end

-- The names of a waiter's two entries.
local function waiter_of(id, permits, capacity, limit, inbox)
	local waiter = permits .. ' ' .. capacity .. ' ' .. limit .. ' ' .. id .. ' ' .. inbox
	return 'q' .. waiter, 's' .. waiter
end

local function buyer_of(id)
	return string.match(id, '^(.*)/')
end
