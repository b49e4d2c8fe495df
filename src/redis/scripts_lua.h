/* Made from src/redis/lua by scripts/gen-lua.sh: change the scripts there. */

#define DLOCK_LUA_SCRIPTS(script) \
	script(ACQUIRE, "acquire", 4, DLOCK_LUA_ACQUIRE_SHA1, DLOCK_LUA_ACQUIRE) \
	script(ACQUIRE_REPLICATED, "acquire_replicated", 5, DLOCK_LUA_ACQUIRE_REPLICATED_SHA1, DLOCK_LUA_ACQUIRE_REPLICATED) \
	script(CHECK, "check", 1, DLOCK_LUA_CHECK_SHA1, DLOCK_LUA_CHECK) \
	script(DROP, "drop", 1, DLOCK_LUA_DROP_SHA1, DLOCK_LUA_DROP) \
	script(EXCHANGE, "exchange", 2, DLOCK_LUA_EXCHANGE_SHA1, DLOCK_LUA_EXCHANGE) \
	script(EXCHANGE_REPLICATED, "exchange_replicated", 3, DLOCK_LUA_EXCHANGE_REPLICATED_SHA1, DLOCK_LUA_EXCHANGE_REPLICATED) \
	script(EXTEND, "extend", 1, DLOCK_LUA_EXTEND_SHA1, DLOCK_LUA_EXTEND) \
	script(KEEP, "keep", 1, DLOCK_LUA_KEEP_SHA1, DLOCK_LUA_KEEP) \
	script(LEAVE, "leave", 4, DLOCK_LUA_LEAVE_SHA1, DLOCK_LUA_LEAVE) \
	script(LOOK, "look", 2, DLOCK_LUA_LOOK_SHA1, DLOCK_LUA_LOOK) \
	script(PUBLISH, "publish", 0, DLOCK_LUA_PUBLISH_SHA1, DLOCK_LUA_PUBLISH) \
	script(RAISE, "raise", 2, DLOCK_LUA_RAISE_SHA1, DLOCK_LUA_RAISE) \
	script(RELEASE, "release", 4, DLOCK_LUA_RELEASE_SHA1, DLOCK_LUA_RELEASE) \
	script(RENEW, "renew", 1, DLOCK_LUA_RENEW_SHA1, DLOCK_LUA_RENEW) \
	script(REPAIR, "repair", 2, DLOCK_LUA_REPAIR_SHA1, DLOCK_LUA_REPAIR) \
	script(RESTORE, "restore", 3, DLOCK_LUA_RESTORE_SHA1, DLOCK_LUA_RESTORE) \
	script(SETTLE, "settle", 2, DLOCK_LUA_SETTLE_SHA1, DLOCK_LUA_SETTLE)

#define DLOCK_LUA_ACQUIRE_SHA1 "a329d07243d32f99cf621ce9eaaead746b341a86"
#define DLOCK_LUA_ACQUIRE \
	"local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]\n" \
	"local token, ttl, least = ARGV[1], ARGV[2], ARGV[3] or ''\n" \
	"local mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)\n" \
	"local queued = mine and redis.pcall('EXISTS', queue)\n" \
	"if queued == 0 and least == '' then\n" \
	"local counted = redis.pcall('INCR', fence)\n" \
	"if type(counted) == 'number' and counted > 1 then\n" \
	"return counted\n" \
	"end\n" \
	"end\n" \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local function next_token()\n" \
	"return tonumber(fencing_token(fence, (least == '' or least == '0') and clock() or least))\n" \
	"end\n" \
	"local done, reply = false, queued\n" \
	"if queued == 0 then\n" \
	"done, reply = pcall(next_token)\n" \
	"if done then\n" \
	"return reply\n" \
	"end\n" \
	"end\n" \
	"local unsettled = 0\n" \
	"local LOOK_AGAIN = 2300\n" \
	"local STALE = 3000000\n" \
	"local GRACE = 3000\n" \
	"local FORGET = 60000\n" \
	"local function value_of(lock)\n" \
	"local value = redis.pcall('GET', lock)\n" \
	"if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then\n" \
	"error(value.err, 0)\n" \
	"end\n" \
	"return value\n" \
	"end\n" \
	"local function failure(problem)\n" \
	"problem = type(problem) == 'table' and problem.err or problem\n" \
	"problem = string.gsub(string.gsub(problem, '^@?user_script: ?%d+: ', ''), '^@?user_script: ?%d+: ', '')\n" \
	"problem = string.gsub(problem, '^%-', '')\n" \
	"return redis.error_reply(string.match(problem, '^%u+ ') and problem or 'ERR ' .. problem)\n" \
	"end\n" \
	"local function free(lock)\n" \
	"if type(redis.pcall('DEL', lock)) == 'table' then\n" \
	"redis.pcall('SET', lock, '', 'PX', 1)\n" \
	"end\n" \
	"end\n" \
	"local function note(waiters, waiter, sign, told, number, inbox)\n" \
	"redis.call('HSET', waiters, waiter, sign .. ' ' .. told .. ' ' .. number .. ' ' .. inbox)\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function take_first(queue, grant)\n" \
	"local popped = grant and redis.call('ZPOPMIN', queue)\n" \
	"return popped and popped[1] or not grant and redis.call('ZRANGE', queue, 0, 0)[1], popped and popped[2]\n" \
	"end\n" \
	"local function put_back(queue, waiters, waiter, ticket, sign, number, inbox)\n" \
	"redis.call('ZADD', queue, ticket, waiter)\n" \
	"note(waiters, waiter, sign, '0', number, inbox)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self, first, ticket)\n" \
	"local now\n" \
	"while first and first ~= self do\n" \
	"now = now or clock(waiters)\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"redis.call('HDEL', waiters, first)\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"local receivers = redis.pcall('PUBLISH', inbox, first .. ' ' .. number .. ' ' .. token)\n" \
	"if type(receivers) == 'table' then\n" \
	"return put_back(queue, waiters, first, ticket, sign, number, inbox)\n" \
	"elseif receivers > 0 then\n" \
	"return first\n" \
	"end\n" \
	"else\n" \
	"local receivers = live and (told == '0' or now - told < GRACE * 1000) and redis.pcall('PUBLISH', inbox, first) or 0\n" \
	"if type(receivers) == 'table' then\n" \
	"return nil\n" \
	"elseif receivers > 0 then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"forget(queue, waiters, first)\n" \
	"end\n" \
	"first, ticket = take_first(queue, fence)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"local waiters, grant, inbox, ticket = KEYS[4], ARGV[4] ~= '0', ARGV[5] or '', ARGV[6] or ''\n" \
	"local waiter = (ARGV[8] or '') == '' and token or ARGV[8]\n" \
	"local function next_ticket()\n" \
	"local last = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0\n" \
	"local given = tonumber(redis.call('GET', fence) or 0) or 0\n" \
	"return string.format('%.0f', math.min((given > last and given < 9007199254740991 and given or last) + 1, 9007199254740991))\n" \
	"end\n" \
	"local function enter(queue, waiters, waiter, ticket, checks)\n" \
	"if checks then\n" \
	"forget(queue, waiters, waiter)\n" \
	"end\n" \
	"return redis.call('ZADD', queue, 'NX', ticket, waiter)\n" \
	"end\n" \
	"local function refusal(pttl, position, ticket, new)\n" \
	"if unsettled == 0 then\n" \
	"return {pttl, position, ticket, new}\n" \
	"end\n" \
	"return {math.max(pttl, unsettled), position, ticket, new, unsettled, replid, settles}\n" \
	"end\n" \
	"local function contend()\n" \
	"local holder, others = not mine and value_of(lock), false\n" \
	"if holder and ARGV[9] == '1' then\n" \
	"local ends = type(holder) == 'string' and (string.match(holder, '^(%d+)$') or string.match(holder, '^(%d+)%.%d+$'))\n" \
	"if ends and #ends == 10 and tonumber(ends) < tonumber(string.sub(clock(waiters), 1, -7)) and redis.call('PTTL', lock) == -1 then\n" \
	"redis.call('SET', lock, token, 'PX', ttl)\n" \
	"mine = true\n" \
	"else\n" \
	"others = type(holder) ~= 'string' or string.sub(holder, 1, 11) ~= string.sub(token, 1, 11)\n" \
	"end\n" \
	"end\n" \
	"if mine then\n" \
	"if ticket ~= '' and not redis.call('ZSCORE', queue, waiter) then\n" \
	"enter(queue, waiters, waiter, ticket, true)\n" \
	"end\n" \
	"local first = serve(lock, queue, waiters, grant and fence, waiter, take_first(queue, grant))\n" \
	"if not first or first == waiter then\n" \
	"forget(queue, waiters, waiter)\n" \
	"if grant then\n" \
	"redis.call('SET', lock, token, 'PX', ttl)\n" \
	"end\n" \
	"else\n" \
	"if not grant then\n" \
	"redis.call('DEL', lock)\n" \
	"end\n" \
	"mine = false\n" \
	"if inbox == '' then\n" \
	"forget(queue, waiters, waiter)\n" \
	"end\n" \
	"end\n" \
	"elseif holder == token and unsettled == 0 then\n" \
	"mine = true\n" \
	"redis.call('PEXPIRE', lock, ttl)\n" \
	"elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then\n" \
	"return holder -- not a string, and it never ends: no lock of anybody's\n" \
	"end\n" \
	"if mine then\n" \
	"return next_token()\n" \
	"end\n" \
	"local pttl = redis.call('PTTL', lock)\n" \
	"if unsettled > 0 and (pttl == -2 or holder == token) then\n" \
	"pttl = 0\n" \
	"end\n" \
	"pttl = pttl == -2 and GRACE or others and -1 or pttl\n" \
	"if inbox == '' then\n" \
	"return refusal(pttl, -1, not grant and ticket == '' and next_ticket() or '0', 0)\n" \
	"end\n" \
	"local now, left = clock(waiters), redis.call('PTTL', queue)\n" \
	"local new = enter(queue, waiters, waiter, ticket == '' and now or ticket, left == -2)\n" \
	"note(waiters, waiter, now, '0', ARGV[7], inbox)\n" \
	"if left < FORGET / 2 then\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"end\n" \
	"return refusal(pttl, (left == -2 or pttl > LOOK_AGAIN and ARGV[10] ~= '1') and 0 or redis.call('ZRANK', queue, waiter),\n" \
	"new == 1 and ticket == '' and now or redis.call('ZSCORE', queue, waiter), new)\n" \
	"end\n" \
	"if not mine or queued == 1 then\n" \
	"done, reply = pcall(contend)\n" \
	"if done then\n" \
	"return reply\n" \
	"end\n" \
	"end\n" \
	"if mine then\n" \
	"free(lock)\n" \
	"end\n" \
	"if inbox ~= '' or ticket ~= '' then\n" \
	"redis.pcall('ZREM', queue, waiter)\n" \
	"redis.pcall('HDEL', waiters, waiter)\n" \
	"end\n" \
	"return failure(reply)\n"

#define DLOCK_LUA_ACQUIRE_REPLICATED_SHA1 "039149dddec743faed46a23de8dbb8d912ffb8a8"
#define DLOCK_LUA_ACQUIRE_REPLICATED \
	"local function replication_id()\n" \
	"local info = redis.pcall('INFO', 'replication')\n" \
	"if type(info) == 'table' then\n" \
	"error('INFO: ' .. info.err, 0) -- the server's own words do not name it\n" \
	"end\n" \
	"return string.match(info, '\\nmaster_replid:(%x+)')\n" \
	"end\n" \
	"local function read_era(era)\n" \
	"return string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (%-?%d+) (%d+)$')\n" \
	"end\n" \
	"local function time()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local function look_at_era(era, guard)\n" \
	"local id = replication_id()\n" \
	"local opened, longest, settles, waited = read_era(era)\n" \
	"local longer = not longest or tonumber(guard) > tonumber(longest)\n" \
	"guard = longer and guard or longest\n" \
	"if opened == id and not longer and string.sub(settles, 1, 1) == '-' then\n" \
	"return 0, id, settles, waited\n" \
	"end\n" \
	"local left, now, us = -1, time()\n" \
	"if opened ~= id then\n" \
	"settles, waited = '0' .. us, '0'\n" \
	"elseif string.sub(settles, 1, 1) ~= '0' then\n" \
	"local at = math.abs(settles) + math.max(0, guard - waited)\n" \
	"left = math.max(0, math.min(at - now, guard))\n" \
	"longer = longer or at - now > tonumber(guard)\n" \
	"settles, waited = string.format('%.0f', left == 0 and -at or now + left), string.format('%.0f', math.max(guard, waited))\n" \
	"end\n" \
	"if left <= 0 or longer then\n" \
	"redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited)\n" \
	"end\n" \
	"return left, id, settles, waited\n" \
	"end\n" \
	"local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]\n" \
	"local token, ttl, least = ARGV[1], ARGV[2], ''\n" \
	"local unsettled, replid, settles = look_at_era(KEYS[5], ARGV[3])\n" \
	"local mine = unsettled == 0 and redis.call('SET', lock, token, 'NX', 'PX', ttl)\n" \
	"local queued = mine and redis.pcall('EXISTS', queue)\n" \
	"local done, reply = false, queued\n" \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local function next_token()\n" \
	"local counted = redis.call('INCR', fence)\n" \
	"return counted > 1 and counted or tonumber(fencing_token(fence, clock()))\n" \
	"end\n" \
	"if queued == 0 then\n" \
	"done, reply = pcall(next_token)\n" \
	"if done then\n" \
	"return reply\n" \
	"end\n" \
	"end\n" \
	"local LOOK_AGAIN = 2300\n" \
	"local STALE = 3000000\n" \
	"local GRACE = 3000\n" \
	"local FORGET = 60000\n" \
	"local function value_of(lock)\n" \
	"local value = redis.pcall('GET', lock)\n" \
	"if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then\n" \
	"error(value.err, 0)\n" \
	"end\n" \
	"return value\n" \
	"end\n" \
	"local function failure(problem)\n" \
	"problem = type(problem) == 'table' and problem.err or problem\n" \
	"problem = string.gsub(string.gsub(problem, '^@?user_script: ?%d+: ', ''), '^@?user_script: ?%d+: ', '')\n" \
	"problem = string.gsub(problem, '^%-', '')\n" \
	"return redis.error_reply(string.match(problem, '^%u+ ') and problem or 'ERR ' .. problem)\n" \
	"end\n" \
	"local function free(lock)\n" \
	"if type(redis.pcall('DEL', lock)) == 'table' then\n" \
	"redis.pcall('SET', lock, '', 'PX', 1)\n" \
	"end\n" \
	"end\n" \
	"local function note(waiters, waiter, sign, told, number, inbox)\n" \
	"redis.call('HSET', waiters, waiter, sign .. ' ' .. told .. ' ' .. number .. ' ' .. inbox)\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function take_first(queue, grant)\n" \
	"local popped = grant and redis.call('ZPOPMIN', queue)\n" \
	"return popped and popped[1] or not grant and redis.call('ZRANGE', queue, 0, 0)[1], popped and popped[2]\n" \
	"end\n" \
	"local function put_back(queue, waiters, waiter, ticket, sign, number, inbox)\n" \
	"redis.call('ZADD', queue, ticket, waiter)\n" \
	"note(waiters, waiter, sign, '0', number, inbox)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self, first, ticket)\n" \
	"local now\n" \
	"while first and first ~= self do\n" \
	"now = now or clock(waiters)\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"redis.call('HDEL', waiters, first)\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"local receivers = redis.pcall('PUBLISH', inbox, first .. ' ' .. number .. ' ' .. token)\n" \
	"if type(receivers) == 'table' then\n" \
	"return put_back(queue, waiters, first, ticket, sign, number, inbox)\n" \
	"elseif receivers > 0 then\n" \
	"return first\n" \
	"end\n" \
	"else\n" \
	"local receivers = live and (told == '0' or now - told < GRACE * 1000) and redis.pcall('PUBLISH', inbox, first) or 0\n" \
	"if type(receivers) == 'table' then\n" \
	"return nil\n" \
	"elseif receivers > 0 then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"forget(queue, waiters, first)\n" \
	"end\n" \
	"first, ticket = take_first(queue, fence)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"local waiters, grant, inbox, ticket = KEYS[4], ARGV[4] ~= '0', ARGV[5] or '', ARGV[6] or ''\n" \
	"local waiter = (ARGV[8] or '') == '' and token or ARGV[8]\n" \
	"local function next_ticket()\n" \
	"local last = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0\n" \
	"local given = tonumber(redis.call('GET', fence) or 0) or 0\n" \
	"return string.format('%.0f', math.min((given > last and given < 9007199254740991 and given or last) + 1, 9007199254740991))\n" \
	"end\n" \
	"local function enter(queue, waiters, waiter, ticket, checks)\n" \
	"if checks then\n" \
	"forget(queue, waiters, waiter)\n" \
	"end\n" \
	"return redis.call('ZADD', queue, 'NX', ticket, waiter)\n" \
	"end\n" \
	"local function refusal(pttl, position, ticket, new)\n" \
	"if unsettled == 0 then\n" \
	"return {pttl, position, ticket, new}\n" \
	"end\n" \
	"return {math.max(pttl, unsettled), position, ticket, new, unsettled, replid, settles}\n" \
	"end\n" \
	"local function contend()\n" \
	"local holder, others = not mine and value_of(lock), false\n" \
	"if holder and ARGV[9] == '1' then\n" \
	"local ends = type(holder) == 'string' and (string.match(holder, '^(%d+)$') or string.match(holder, '^(%d+)%.%d+$'))\n" \
	"if ends and #ends == 10 and tonumber(ends) < tonumber(string.sub(clock(waiters), 1, -7)) and redis.call('PTTL', lock) == -1 then\n" \
	"redis.call('SET', lock, token, 'PX', ttl)\n" \
	"mine = true\n" \
	"else\n" \
	"others = type(holder) ~= 'string' or string.sub(holder, 1, 11) ~= string.sub(token, 1, 11)\n" \
	"end\n" \
	"end\n" \
	"if mine then\n" \
	"if ticket ~= '' and not redis.call('ZSCORE', queue, waiter) then\n" \
	"enter(queue, waiters, waiter, ticket, true)\n" \
	"end\n" \
	"local first = serve(lock, queue, waiters, grant and fence, waiter, take_first(queue, grant))\n" \
	"if not first or first == waiter then\n" \
	"forget(queue, waiters, waiter)\n" \
	"if grant then\n" \
	"redis.call('SET', lock, token, 'PX', ttl)\n" \
	"end\n" \
	"else\n" \
	"if not grant then\n" \
	"redis.call('DEL', lock)\n" \
	"end\n" \
	"mine = false\n" \
	"if inbox == '' then\n" \
	"forget(queue, waiters, waiter)\n" \
	"end\n" \
	"end\n" \
	"elseif holder == token and unsettled == 0 then\n" \
	"mine = true\n" \
	"redis.call('PEXPIRE', lock, ttl)\n" \
	"elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then\n" \
	"return holder -- not a string, and it never ends: no lock of anybody's\n" \
	"end\n" \
	"if mine then\n" \
	"return next_token()\n" \
	"end\n" \
	"local pttl = redis.call('PTTL', lock)\n" \
	"if unsettled > 0 and (pttl == -2 or holder == token) then\n" \
	"pttl = 0\n" \
	"end\n" \
	"pttl = pttl == -2 and GRACE or others and -1 or pttl\n" \
	"if inbox == '' then\n" \
	"return refusal(pttl, -1, not grant and ticket == '' and next_ticket() or '0', 0)\n" \
	"end\n" \
	"local now, left = clock(waiters), redis.call('PTTL', queue)\n" \
	"local new = enter(queue, waiters, waiter, ticket == '' and now or ticket, left == -2)\n" \
	"note(waiters, waiter, now, '0', ARGV[7], inbox)\n" \
	"if left < FORGET / 2 then\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"end\n" \
	"return refusal(pttl, (left == -2 or pttl > LOOK_AGAIN and ARGV[10] ~= '1') and 0 or redis.call('ZRANK', queue, waiter),\n" \
	"new == 1 and ticket == '' and now or redis.call('ZSCORE', queue, waiter), new)\n" \
	"end\n" \
	"if not mine or queued == 1 then\n" \
	"done, reply = pcall(contend)\n" \
	"if done then\n" \
	"return reply\n" \
	"end\n" \
	"end\n" \
	"if mine then\n" \
	"free(lock)\n" \
	"end\n" \
	"if inbox ~= '' or ticket ~= '' then\n" \
	"redis.pcall('ZREM', queue, waiter)\n" \
	"redis.pcall('HDEL', waiters, waiter)\n" \
	"end\n" \
	"return failure(reply)\n"

#define DLOCK_LUA_CHECK_SHA1 "856bcf98af659bd07190069636a9007682159036"
#define DLOCK_LUA_CHECK \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PTTL', KEYS[1])\n" \
	"end\n" \
	"return 0\n"

#define DLOCK_LUA_DROP_SHA1 "48c0af50f201920df7a01ac8a2e7a08fb556dfe1"
#define DLOCK_LUA_DROP \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"return redis.call('DEL', KEYS[1])\n"

#define DLOCK_LUA_EXCHANGE_SHA1 "71f4e8c5ffa6e59025dbf0fa806624ca3e318696"
#define DLOCK_LUA_EXCHANGE \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local function failure(problem)\n" \
	"problem = type(problem) == 'table' and problem.err or problem\n" \
	"problem = string.gsub(string.gsub(problem, '^@?user_script: ?%d+: ', ''), '^@?user_script: ?%d+: ', '')\n" \
	"problem = string.gsub(problem, '^%-', '')\n" \
	"return redis.error_reply(string.match(problem, '^%u+ ') and problem or 'ERR ' .. problem)\n" \
	"end\n" \
	"local function swap(lock, fence, old, new, least)\n" \
	"local holder, pttl = redis.call('GET', lock), redis.call('PTTL', lock)\n" \
	"if pttl < 1 or (holder ~= old and holder ~= new) then\n" \
	"return {0}\n" \
	"end\n" \
	"if least == '0' then\n" \
	"least = clock()\n" \
	"end\n" \
	"redis.call('SET', lock, new, 'PX', pttl)\n" \
	"local done, token = true, 0\n" \
	"if least ~= '' then\n" \
	"done, token = pcall(fencing_token, fence, least)\n" \
	"end\n" \
	"if not done then\n" \
	"redis.call('SET', lock, holder, 'PX', pttl)\n" \
	"return failure(token)\n" \
	"end\n" \
	"return {1, tonumber(token), pttl}\n" \
	"end\n" \
	"return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])\n"

#define DLOCK_LUA_EXCHANGE_REPLICATED_SHA1 "5f45efa07db5a016a796cf4723ed44203cc1c7dc"
#define DLOCK_LUA_EXCHANGE_REPLICATED \
	"local function replication_id()\n" \
	"local info = redis.pcall('INFO', 'replication')\n" \
	"if type(info) == 'table' then\n" \
	"error('INFO: ' .. info.err, 0) -- the server's own words do not name it\n" \
	"end\n" \
	"return string.match(info, '\\nmaster_replid:(%x+)')\n" \
	"end\n" \
	"local function read_era(era)\n" \
	"return string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (%-?%d+) (%d+)$')\n" \
	"end\n" \
	"local function time()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local function look_at_era(era, guard)\n" \
	"local id = replication_id()\n" \
	"local opened, longest, settles, waited = read_era(era)\n" \
	"local longer = not longest or tonumber(guard) > tonumber(longest)\n" \
	"guard = longer and guard or longest\n" \
	"if opened == id and not longer and string.sub(settles, 1, 1) == '-' then\n" \
	"return 0, id, settles, waited\n" \
	"end\n" \
	"local left, now, us = -1, time()\n" \
	"if opened ~= id then\n" \
	"settles, waited = '0' .. us, '0'\n" \
	"elseif string.sub(settles, 1, 1) ~= '0' then\n" \
	"local at = math.abs(settles) + math.max(0, guard - waited)\n" \
	"left = math.max(0, math.min(at - now, guard))\n" \
	"longer = longer or at - now > tonumber(guard)\n" \
	"settles, waited = string.format('%.0f', left == 0 and -at or now + left), string.format('%.0f', math.max(guard, waited))\n" \
	"end\n" \
	"if left <= 0 or longer then\n" \
	"redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited)\n" \
	"end\n" \
	"return left, id, settles, waited\n" \
	"end\n" \
	"local unsettled, replid, settles = look_at_era(KEYS[3], ARGV[4])\n" \
	"if unsettled ~= 0 then\n" \
	"return {2, unsettled, replid, settles}\n" \
	"end\n" \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local function failure(problem)\n" \
	"problem = type(problem) == 'table' and problem.err or problem\n" \
	"problem = string.gsub(string.gsub(problem, '^@?user_script: ?%d+: ', ''), '^@?user_script: ?%d+: ', '')\n" \
	"problem = string.gsub(problem, '^%-', '')\n" \
	"return redis.error_reply(string.match(problem, '^%u+ ') and problem or 'ERR ' .. problem)\n" \
	"end\n" \
	"local function swap(lock, fence, old, new, least)\n" \
	"local holder, pttl = redis.call('GET', lock), redis.call('PTTL', lock)\n" \
	"if pttl < 1 or (holder ~= old and holder ~= new) then\n" \
	"return {0}\n" \
	"end\n" \
	"if least == '0' then\n" \
	"least = clock()\n" \
	"end\n" \
	"redis.call('SET', lock, new, 'PX', pttl)\n" \
	"local done, token = true, 0\n" \
	"if least ~= '' then\n" \
	"done, token = pcall(fencing_token, fence, least)\n" \
	"end\n" \
	"if not done then\n" \
	"redis.call('SET', lock, holder, 'PX', pttl)\n" \
	"return failure(token)\n" \
	"end\n" \
	"return {1, tonumber(token), pttl}\n" \
	"end\n" \
	"return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])\n"

#define DLOCK_LUA_EXTEND_SHA1 "16ebdef962b7604790808b70c6e41c9785770b46"
#define DLOCK_LUA_EXTEND \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2])\n" \
	"end\n" \
	"return 0\n"

#define DLOCK_LUA_KEEP_SHA1 "8bcef6cb56e5ef774eb8a6144dc98f695fddee38"
#define DLOCK_LUA_KEEP \
	"local lock, ttl = KEYS[1], tonumber(ARGV[2])\n" \
	"local holder = redis.call('GET', lock)\n" \
	"if holder ~= ARGV[1] then\n" \
	"redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1)\n" \
	"return holder and 0 or 2\n" \
	"end\n" \
	"if ttl > 0 then\n" \
	"redis.call('PEXPIRE', lock, ARGV[3] == '1' and ttl or math.max(ttl, redis.call('PTTL', lock)))\n" \
	"end\n" \
	"return 1\n"

#define DLOCK_LUA_LEAVE_SHA1 "fa21dd1481a3cfd3f536b6f73773ede84238af2b"
#define DLOCK_LUA_LEAVE \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local LOOK_AGAIN = 2300\n" \
	"local STALE = 3000000\n" \
	"local GRACE = 3000\n" \
	"local FORGET = 60000\n" \
	"local function value_of(lock)\n" \
	"local value = redis.pcall('GET', lock)\n" \
	"if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then\n" \
	"error(value.err, 0)\n" \
	"end\n" \
	"return value\n" \
	"end\n" \
	"local function failure(problem)\n" \
	"problem = type(problem) == 'table' and problem.err or problem\n" \
	"problem = string.gsub(string.gsub(problem, '^@?user_script: ?%d+: ', ''), '^@?user_script: ?%d+: ', '')\n" \
	"problem = string.gsub(problem, '^%-', '')\n" \
	"return redis.error_reply(string.match(problem, '^%u+ ') and problem or 'ERR ' .. problem)\n" \
	"end\n" \
	"local function free(lock)\n" \
	"if type(redis.pcall('DEL', lock)) == 'table' then\n" \
	"redis.pcall('SET', lock, '', 'PX', 1)\n" \
	"end\n" \
	"end\n" \
	"local function note(waiters, waiter, sign, told, number, inbox)\n" \
	"redis.call('HSET', waiters, waiter, sign .. ' ' .. told .. ' ' .. number .. ' ' .. inbox)\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function take_first(queue, grant)\n" \
	"local popped = grant and redis.call('ZPOPMIN', queue)\n" \
	"return popped and popped[1] or not grant and redis.call('ZRANGE', queue, 0, 0)[1], popped and popped[2]\n" \
	"end\n" \
	"local function put_back(queue, waiters, waiter, ticket, sign, number, inbox)\n" \
	"redis.call('ZADD', queue, ticket, waiter)\n" \
	"note(waiters, waiter, sign, '0', number, inbox)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self, first, ticket)\n" \
	"local now\n" \
	"while first and first ~= self do\n" \
	"now = now or clock(waiters)\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"redis.call('HDEL', waiters, first)\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"local receivers = redis.pcall('PUBLISH', inbox, first .. ' ' .. number .. ' ' .. token)\n" \
	"if type(receivers) == 'table' then\n" \
	"return put_back(queue, waiters, first, ticket, sign, number, inbox)\n" \
	"elseif receivers > 0 then\n" \
	"return first\n" \
	"end\n" \
	"else\n" \
	"local receivers = live and (told == '0' or now - told < GRACE * 1000) and redis.pcall('PUBLISH', inbox, first) or 0\n" \
	"if type(receivers) == 'table' then\n" \
	"return nil\n" \
	"elseif receivers > 0 then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"forget(queue, waiters, first)\n" \
	"end\n" \
	"first, ticket = take_first(queue, fence)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"local holder\n" \
	"local done, problem = pcall(function()\n" \
	"holder = value_of(KEYS[1])\n" \
	"forget(KEYS[3], KEYS[4], ARGV[1])\n" \
	"if not holder then\n" \
	"local grant = ARGV[2] ~= '0'\n" \
	"if not serve(KEYS[1], KEYS[3], KEYS[4], grant and KEYS[2], nil, take_first(KEYS[3], grant)) then\n" \
	"redis.call('DEL', KEYS[1])\n" \
	"end\n" \
	"end\n" \
	"end)\n" \
	"if not done then\n" \
	"if holder == false then\n" \
	"free(KEYS[1])\n" \
	"end\n" \
	"return failure(problem)\n" \
	"end\n" \
	"return holder == ARGV[1] and 1 or 0\n"

#define DLOCK_LUA_LOOK_SHA1 "ca6b5bdacc1915d5e905255335e9ca163e18d46d"
#define DLOCK_LUA_LOOK \
	"local function replication_id()\n" \
	"local info = redis.pcall('INFO', 'replication')\n" \
	"if type(info) == 'table' then\n" \
	"error('INFO: ' .. info.err, 0) -- the server's own words do not name it\n" \
	"end\n" \
	"return string.match(info, '\\nmaster_replid:(%x+)')\n" \
	"end\n" \
	"local function read_era(era)\n" \
	"return string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (%-?%d+) (%d+)$')\n" \
	"end\n" \
	"local function time()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local function look_at_era(era, guard)\n" \
	"local id = replication_id()\n" \
	"local opened, longest, settles, waited = read_era(era)\n" \
	"local longer = not longest or tonumber(guard) > tonumber(longest)\n" \
	"guard = longer and guard or longest\n" \
	"if opened == id and not longer and string.sub(settles, 1, 1) == '-' then\n" \
	"return 0, id, settles, waited\n" \
	"end\n" \
	"local left, now, us = -1, time()\n" \
	"if opened ~= id then\n" \
	"settles, waited = '0' .. us, '0'\n" \
	"elseif string.sub(settles, 1, 1) ~= '0' then\n" \
	"local at = math.abs(settles) + math.max(0, guard - waited)\n" \
	"left = math.max(0, math.min(at - now, guard))\n" \
	"longer = longer or at - now > tonumber(guard)\n" \
	"settles, waited = string.format('%.0f', left == 0 and -at or now + left), string.format('%.0f', math.max(guard, waited))\n" \
	"end\n" \
	"if left <= 0 or longer then\n" \
	"redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited)\n" \
	"end\n" \
	"return left, id, settles, waited\n" \
	"end\n" \
	"local left, id, settles, waited = look_at_era(KEYS[1], ARGV[1])\n" \
	"local slots = string.match(redis.call('CLUSTER', 'NODES'), 'myself[^\\n]- connected([^\\n]*)')\n" \
	"local epoch = string.match(redis.call('CLUSTER', 'INFO'), 'cluster_current_epoch:(%d+)')\n" \
	"local state = redis.sha1hex(id .. ' ' .. epoch .. ' ' .. slots)\n" \
	"local noted, since = string.match(redis.call('GET', KEYS[2]) or '', '^(%x+) (%d+)$')\n" \
	"local now = time()\n" \
	"if noted ~= state or tonumber(since) > now then\n" \
	"since = now\n" \
	"redis.call('SET', KEYS[2], string.format('%s %.0f', state, now))\n" \
	"end\n" \
	"if left >= 0 then\n" \
	"left = math.max(left, math.min(since + waited - now, tonumber(waited)))\n" \
	"end\n" \
	"return {left, id, settles, waited}\n"

#define DLOCK_LUA_PUBLISH_SHA1 "1ceaff06537b0c06064de1d908f53807f12cbb1b"
#define DLOCK_LUA_PUBLISH \
	"return redis.pcall('PUBLISH', ARGV[1], '')\n"

#define DLOCK_LUA_RAISE_SHA1 "947b394adcdd0b94a093d6e9642a1043ff37c5d9"
#define DLOCK_LUA_RAISE \
	"local function is_forged(token)\n" \
	"return not (tonumber(token) < 7881299347898368)\n" \
	"end\n" \
	"local FORGED = 'ERR no fencing token can be as large as this one'\n" \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local function raise_fence(fence, token, last)\n" \
	"if tonumber(last or 0) < tonumber(token) then\n" \
	"redis.call('SET', fence, token)\n" \
	"end\n" \
	"if not last then\n" \
	"raise_lost(fence, token)\n" \
	"end\n" \
	"end\n" \
	"if is_forged(ARGV[2]) then\n" \
	"return redis.error_reply(FORGED)\n" \
	"end\n" \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"raise_fence(KEYS[2], ARGV[2], redis.call('GET', KEYS[2]))\n" \
	"return 1\n"

#define DLOCK_LUA_RELEASE_SHA1 "a356bb8f7e87a2a0d9df1eaa4482469693be002c"
#define DLOCK_LUA_RELEASE \
	"local lock, queue, grant = KEYS[1], KEYS[3], ARGV[2] ~= '0'\n" \
	"if ARGV[4] == '1' then\n" \
	"redis.pcall('ZREM', queue, ARGV[3])\n" \
	"redis.pcall('HDEL', KEYS[4], ARGV[3])\n" \
	"end\n" \
	"if redis.call('GET', lock) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"local queued = grant and redis.pcall('ZPOPMIN', queue) or redis.pcall('ZRANGE', queue, 0, 0)\n" \
	"if not queued[1] then\n" \
	"local deleted = redis.call('DEL', lock)\n" \
	"return queued.err and queued or deleted\n" \
	"end\n" \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local LOOK_AGAIN = 2300\n" \
	"local STALE = 3000000\n" \
	"local GRACE = 3000\n" \
	"local FORGET = 60000\n" \
	"local function value_of(lock)\n" \
	"local value = redis.pcall('GET', lock)\n" \
	"if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then\n" \
	"error(value.err, 0)\n" \
	"end\n" \
	"return value\n" \
	"end\n" \
	"local function failure(problem)\n" \
	"problem = type(problem) == 'table' and problem.err or problem\n" \
	"problem = string.gsub(string.gsub(problem, '^@?user_script: ?%d+: ', ''), '^@?user_script: ?%d+: ', '')\n" \
	"problem = string.gsub(problem, '^%-', '')\n" \
	"return redis.error_reply(string.match(problem, '^%u+ ') and problem or 'ERR ' .. problem)\n" \
	"end\n" \
	"local function free(lock)\n" \
	"if type(redis.pcall('DEL', lock)) == 'table' then\n" \
	"redis.pcall('SET', lock, '', 'PX', 1)\n" \
	"end\n" \
	"end\n" \
	"local function note(waiters, waiter, sign, told, number, inbox)\n" \
	"redis.call('HSET', waiters, waiter, sign .. ' ' .. told .. ' ' .. number .. ' ' .. inbox)\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function take_first(queue, grant)\n" \
	"local popped = grant and redis.call('ZPOPMIN', queue)\n" \
	"return popped and popped[1] or not grant and redis.call('ZRANGE', queue, 0, 0)[1], popped and popped[2]\n" \
	"end\n" \
	"local function put_back(queue, waiters, waiter, ticket, sign, number, inbox)\n" \
	"redis.call('ZADD', queue, ticket, waiter)\n" \
	"note(waiters, waiter, sign, '0', number, inbox)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self, first, ticket)\n" \
	"local now\n" \
	"while first and first ~= self do\n" \
	"now = now or clock(waiters)\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"redis.call('HDEL', waiters, first)\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"local receivers = redis.pcall('PUBLISH', inbox, first .. ' ' .. number .. ' ' .. token)\n" \
	"if type(receivers) == 'table' then\n" \
	"return put_back(queue, waiters, first, ticket, sign, number, inbox)\n" \
	"elseif receivers > 0 then\n" \
	"return first\n" \
	"end\n" \
	"else\n" \
	"local receivers = live and (told == '0' or now - told < GRACE * 1000) and redis.pcall('PUBLISH', inbox, first) or 0\n" \
	"if type(receivers) == 'table' then\n" \
	"return nil\n" \
	"elseif receivers > 0 then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"forget(queue, waiters, first)\n" \
	"end\n" \
	"first, ticket = take_first(queue, fence)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"local done, told = pcall(function()\n" \
	"if not grant then\n" \
	"redis.call('DEL', lock)\n" \
	"end\n" \
	"local next = serve(lock, queue, KEYS[4], grant and KEYS[2], ARGV[3], queued[1], queued[2])\n" \
	"if grant and not next then\n" \
	"redis.call('DEL', lock)\n" \
	"end\n" \
	"return next\n" \
	"end)\n" \
	"if not done then\n" \
	"free(lock)\n" \
	"return failure(told)\n" \
	"end\n" \
	"return told and 2 or 1\n"

#define DLOCK_LUA_RENEW_SHA1 "b058e18b6c227e9a6006c15ab37f79891d029e4d"
#define DLOCK_LUA_RENEW \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then\n" \
	"redis.call('PEXPIRE', KEYS[1], ARGV[2])\n" \
	"end\n" \
	"return 1\n"

#define DLOCK_LUA_REPAIR_SHA1 "85d78dab4f409d25d2bd5b0741b394f56403f587"
#define DLOCK_LUA_REPAIR \
	"local function is_forged(token)\n" \
	"return not (tonumber(token) < 7881299347898368)\n" \
	"end\n" \
	"local FORGED = 'ERR no fencing token can be as large as this one'\n" \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local function raise_fence(fence, token, last)\n" \
	"if tonumber(last or 0) < tonumber(token) then\n" \
	"redis.call('SET', fence, token)\n" \
	"end\n" \
	"if not last then\n" \
	"raise_lost(fence, token)\n" \
	"end\n" \
	"end\n" \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\n" \
	"end\n" \
	"local last = redis.call('GET', KEYS[2])\n" \
	"if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"raise_fence(KEYS[2], ARGV[3], last)\n" \
	"return 1\n"

#define DLOCK_LUA_RESTORE_SHA1 "4f108a4a56ab9d4d6bac42de695d627e753d87dc"
#define DLOCK_LUA_RESTORE \
	"local function replication_id()\n" \
	"local info = redis.pcall('INFO', 'replication')\n" \
	"if type(info) == 'table' then\n" \
	"error('INFO: ' .. info.err, 0) -- the server's own words do not name it\n" \
	"end\n" \
	"return string.match(info, '\\nmaster_replid:(%x+)')\n" \
	"end\n" \
	"local function read_era(era)\n" \
	"return string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (%-?%d+) (%d+)$')\n" \
	"end\n" \
	"local function time()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local function look_at_era(era, guard)\n" \
	"local id = replication_id()\n" \
	"local opened, longest, settles, waited = read_era(era)\n" \
	"local longer = not longest or tonumber(guard) > tonumber(longest)\n" \
	"guard = longer and guard or longest\n" \
	"if opened == id and not longer and string.sub(settles, 1, 1) == '-' then\n" \
	"return 0, id, settles, waited\n" \
	"end\n" \
	"local left, now, us = -1, time()\n" \
	"if opened ~= id then\n" \
	"settles, waited = '0' .. us, '0'\n" \
	"elseif string.sub(settles, 1, 1) ~= '0' then\n" \
	"local at = math.abs(settles) + math.max(0, guard - waited)\n" \
	"left = math.max(0, math.min(at - now, guard))\n" \
	"longer = longer or at - now > tonumber(guard)\n" \
	"settles, waited = string.format('%.0f', left == 0 and -at or now + left), string.format('%.0f', math.max(guard, waited))\n" \
	"end\n" \
	"if left <= 0 or longer then\n" \
	"redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited)\n" \
	"end\n" \
	"return left, id, settles, waited\n" \
	"end\n" \
	"local function is_forged(token)\n" \
	"return not (tonumber(token) < 7881299347898368)\n" \
	"end\n" \
	"local FORGED = 'ERR no fencing token can be as large as this one'\n" \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local function raise_fence(fence, token, last)\n" \
	"if tonumber(last or 0) < tonumber(token) then\n" \
	"redis.call('SET', fence, token)\n" \
	"end\n" \
	"if not last then\n" \
	"raise_lost(fence, token)\n" \
	"end\n" \
	"end\n" \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\n" \
	"end\n" \
	"local lock, ttl = KEYS[1], tonumber(ARGV[2])\n" \
	"local holder = redis.call('GET', lock)\n" \
	"redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1)\n" \
	"if holder and holder ~= ARGV[1] or not holder and look_at_era(KEYS[3], ARGV[4]) == 0 then\n" \
	"local known = redis.call('GET', KEYS[3])\n" \
	"redis.call('SET', KEYS[3], known or '')\n" \
	"return 0\n" \
	"end\n" \
	"if ttl == 0 then\n" \
	"redis.call('DEL', lock)\n" \
	"return 1\n" \
	"end\n" \
	"redis.call('SET', lock, ARGV[1], 'PX', string.format('%.0f', math.max(ttl, redis.call('PTTL', lock))))\n" \
	"raise_fence(KEYS[2], ARGV[3], redis.call('GET', KEYS[2]))\n" \
	"return 1\n"

#define DLOCK_LUA_SETTLE_SHA1 "3f99149fd9410b5f6420e164becfbbca67c8ff43"
#define DLOCK_LUA_SETTLE \
	"local function replication_id()\n" \
	"local info = redis.pcall('INFO', 'replication')\n" \
	"if type(info) == 'table' then\n" \
	"error('INFO: ' .. info.err, 0) -- the server's own words do not name it\n" \
	"end\n" \
	"return string.match(info, '\\nmaster_replid:(%x+)')\n" \
	"end\n" \
	"local function read_era(era)\n" \
	"return string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (%-?%d+) (%d+)$')\n" \
	"end\n" \
	"local function time()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local function look_at_era(era, guard)\n" \
	"local id = replication_id()\n" \
	"local opened, longest, settles, waited = read_era(era)\n" \
	"local longer = not longest or tonumber(guard) > tonumber(longest)\n" \
	"guard = longer and guard or longest\n" \
	"if opened == id and not longer and string.sub(settles, 1, 1) == '-' then\n" \
	"return 0, id, settles, waited\n" \
	"end\n" \
	"local left, now, us = -1, time()\n" \
	"if opened ~= id then\n" \
	"settles, waited = '0' .. us, '0'\n" \
	"elseif string.sub(settles, 1, 1) ~= '0' then\n" \
	"local at = math.abs(settles) + math.max(0, guard - waited)\n" \
	"left = math.max(0, math.min(at - now, guard))\n" \
	"longer = longer or at - now > tonumber(guard)\n" \
	"settles, waited = string.format('%.0f', left == 0 and -at or now + left), string.format('%.0f', math.max(guard, waited))\n" \
	"end\n" \
	"if left <= 0 or longer then\n" \
	"redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited)\n" \
	"end\n" \
	"return left, id, settles, waited\n" \
	"end\n" \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\n" \
	"end\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\n" \
	"end\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\n" \
	"end\n" \
	"return string.format('%.0f', (ends - left) * 1000)\n" \
	"end\n" \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\n" \
	"end\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local UNHEARD = 1048576\n" \
	"local opened, longest, settles = read_era(KEYS[2])\n" \
	"if opened ~= ARGV[1] or string.sub(settles, 1, 1) ~= '0' or replication_id() ~= opened then\n" \
	"return 0\n" \
	"end\n" \
	"local guard = math.max(longest, ARGV[2])\n" \
	"local left, waited = tonumber(ARGV[4] or guard), tonumber(ARGV[5] or guard)\n" \
	"if ARGV[3] and settles ~= ARGV[3] or waited < guard then\n" \
	"return 0\n" \
	"end\n" \
	"local at = time() + left + 1\n" \
	"redis.call('SET', KEYS[2], string.format('%s %.0f %.0f %.0f', opened, guard, at, waited))\n" \
	"local last = tonumber(redis.call('GET', KEYS[1]) or 0)\n" \
	"local least = math.min(math.max(at * 1000, last + UNHEARD), MOST_PROPOSED)\n" \
	"if last < least then\n" \
	"redis.call('SET', KEYS[1], string.format('%.0f', least))\n" \
	"end\n" \
	"return left + 1\n"
