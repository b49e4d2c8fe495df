/* Made from src/redis/lua by scripts/gen-lua.sh: change the scripts there. */

#define DLOCK_LUA_SCRIPTS(script) \
	script(ACQUIRE, "acquire", 4, DLOCK_LUA_ACQUIRE_SHA1, DLOCK_LUA_ACQUIRE) \
	script(CHECK, "check", 1, DLOCK_LUA_CHECK_SHA1, DLOCK_LUA_CHECK) \
	script(EXCHANGE, "exchange", 2, DLOCK_LUA_EXCHANGE_SHA1, DLOCK_LUA_EXCHANGE) \
	script(EXTEND, "extend", 1, DLOCK_LUA_EXTEND_SHA1, DLOCK_LUA_EXTEND) \
	script(LEAVE, "leave", 4, DLOCK_LUA_LEAVE_SHA1, DLOCK_LUA_LEAVE) \
	script(RAISE, "raise", 2, DLOCK_LUA_RAISE_SHA1, DLOCK_LUA_RAISE) \
	script(RELEASE, "release", 4, DLOCK_LUA_RELEASE_SHA1, DLOCK_LUA_RELEASE) \
	script(RENEW, "renew", 1, DLOCK_LUA_RENEW_SHA1, DLOCK_LUA_RENEW) \
	script(REPAIR, "repair", 2, DLOCK_LUA_REPAIR_SHA1, DLOCK_LUA_REPAIR)

#define DLOCK_LUA_ACQUIRE_SHA1 "5e39d55928ae872e122f9630a7d3509badf87ec5"
#define DLOCK_LUA_ACQUIRE \
	"local function clock()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000000 + now[2]\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function fencing_token(fence, least)\n" \
	"if least > MOST_PROPOSED then\n" \
	"least = MOST_PROPOSED\n" \
	"elseif least < 1 then\n" \
	"least = 1\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if last and tonumber(last) >= least then\n" \
	"least = last + 1\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
	"local lock, fence, queue, waiters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]\n" \
	"local token, ttl, least = ARGV[1], ARGV[2], tonumber(ARGV[3])\n" \
	"local grant, waiter, inbox, ticket = ARGV[4] == '1', ARGV[5], ARGV[6], ARGV[7]\n" \
	"local queued = redis.call('EXISTS', queue) == 1\n" \
	"if least == 0 then\n" \
	"least = clock()\n" \
	"end\n" \
	"local mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)\n" \
	"local done, reply\n" \
	"if mine and not queued then\n" \
	"done, reply = pcall(fencing_token, fence, least)\n" \
	"if done then\n" \
	"return {1, reply}\n" \
	"end\n" \
	"end\n" \
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
	"redis.call('HSET', waiters, waiter, string.format('%.0f %.0f %s %s', sign, told, number, inbox))\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function enter(queue, waiters, waiter, ticket)\n" \
	"if redis.call('ZSCORE', queue, waiter) then\n" \
	"return 0\n" \
	"end\n" \
	"forget(queue, waiters, waiter)\n" \
	"return redis.call('ZADD', queue, 'NX', ticket, waiter)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self)\n" \
	"local now, tried\n" \
	"while true do\n" \
	"local first = redis.call('ZRANGE', queue, 0, 0)[1]\n" \
	"if not first or first == self then\n" \
	"if tried then\n" \
	"redis.call('DEL', lock)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"now = now or clock()\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"tried = redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"forget(queue, waiters, first)\n" \
	"if redis.call('PUBLISH', inbox, string.format('%s %s %.0f', first, number, token)) > 0 then\n" \
	"return first\n" \
	"end\n" \
	"elseif live and (told == '0' or now - told < GRACE * 1000) and redis.call('PUBLISH', inbox, first) > 0 then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"else\n" \
	"forget(queue, waiters, first)\n" \
	"end\n" \
	"end\n" \
	"end\n" \
	"local function next_ticket()\n" \
	"local last = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0\n" \
	"local given = tonumber(redis.call('GET', fence) or 0) or 0\n" \
	"return string.format('%.0f', math.min((given > last and given < 9007199254740991 and given or last) + 1, 9007199254740991))\n" \
	"end\n" \
	"local function contend()\n" \
	"local holder, others = not mine and value_of(lock), false\n" \
	"if holder and ARGV[9] == '1' then\n" \
	"local ends = type(holder) == 'string' and (string.match(holder, '^(%d+)$') or string.match(holder, '^(%d+)%.%d+$'))\n" \
	"if ends and #ends == 10 and tonumber(ends) < tonumber(redis.call('TIME')[1]) and redis.call('PTTL', lock) == -1 then\n" \
	"redis.call('SET', lock, token, 'PX', ttl)\n" \
	"mine = true\n" \
	"else\n" \
	"others = type(holder) ~= 'string' or string.sub(holder, 1, 11) ~= string.sub(token, 1, 11)\n" \
	"end\n" \
	"end\n" \
	"if mine then\n" \
	"if ticket ~= '0' then\n" \
	"enter(queue, waiters, waiter, ticket)\n" \
	"end\n" \
	"local first = serve(lock, queue, waiters, grant and fence, waiter)\n" \
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
	"elseif holder == token then\n" \
	"mine = true\n" \
	"redis.call('PEXPIRE', lock, ttl)\n" \
	"elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then\n" \
	"return holder -- not a string, and it never ends: no lock of anybody's\n" \
	"end\n" \
	"if mine then\n" \
	"return {1, fencing_token(fence, least)}\n" \
	"end\n" \
	"local pttl = redis.call('PTTL', lock)\n" \
	"pttl = pttl == -2 and GRACE or others and -1 or pttl\n" \
	"if inbox == '' then\n" \
	"return {0, pttl, -1, not grant and ticket == '0' and next_ticket() or '0', 0}\n" \
	"end\n" \
	"local new = enter(queue, waiters, waiter, ticket == '0' and string.format('%.0f', clock()) or ticket)\n" \
	"note(waiters, waiter, clock(), 0, ARGV[8], inbox)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"return {0, pttl, redis.call('ZRANK', queue, waiter), redis.call('ZSCORE', queue, waiter), new}\n" \
	"end\n" \
	"if queued or not mine then\n" \
	"done, reply = pcall(contend)\n" \
	"if done then\n" \
	"return reply\n" \
	"end\n" \
	"end\n" \
	"if mine then\n" \
	"free(lock)\n" \
	"end\n" \
	"if inbox ~= '' or ticket ~= '0' then\n" \
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

#define DLOCK_LUA_EXCHANGE_SHA1 "73f21297cde9b49c80b03fe62709f56527bceda6"
#define DLOCK_LUA_EXCHANGE \
	"local function clock()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000000 + now[2]\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function fencing_token(fence, least)\n" \
	"if least > MOST_PROPOSED then\n" \
	"least = MOST_PROPOSED\n" \
	"elseif least < 1 then\n" \
	"least = 1\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if last and tonumber(last) >= least then\n" \
	"least = last + 1\n" \
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
	"local lock, fence, old, new, least = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])\n" \
	"local holder, pttl = redis.call('GET', lock), redis.call('PTTL', lock)\n" \
	"if pttl < 1 or (holder ~= old and holder ~= new) then\n" \
	"return {0}\n" \
	"end\n" \
	"if least == 0 then\n" \
	"least = clock()\n" \
	"end\n" \
	"redis.call('SET', lock, new, 'PX', pttl)\n" \
	"local done, token = true, 0\n" \
	"if least then\n" \
	"done, token = pcall(fencing_token, fence, least)\n" \
	"end\n" \
	"if not done then\n" \
	"redis.call('SET', lock, holder, 'PX', pttl)\n" \
	"return failure(token)\n" \
	"end\n" \
	"return {1, token, pttl}\n"

#define DLOCK_LUA_EXTEND_SHA1 "16ebdef962b7604790808b70c6e41c9785770b46"
#define DLOCK_LUA_EXTEND \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2])\n" \
	"end\n" \
	"return 0\n"

#define DLOCK_LUA_LEAVE_SHA1 "bef8103a33a10e48cf2c79f14ee81535300e0c09"
#define DLOCK_LUA_LEAVE \
	"local function clock()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000000 + now[2]\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function fencing_token(fence, least)\n" \
	"if least > MOST_PROPOSED then\n" \
	"least = MOST_PROPOSED\n" \
	"elseif least < 1 then\n" \
	"least = 1\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if last and tonumber(last) >= least then\n" \
	"least = last + 1\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
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
	"redis.call('HSET', waiters, waiter, string.format('%.0f %.0f %s %s', sign, told, number, inbox))\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function enter(queue, waiters, waiter, ticket)\n" \
	"if redis.call('ZSCORE', queue, waiter) then\n" \
	"return 0\n" \
	"end\n" \
	"forget(queue, waiters, waiter)\n" \
	"return redis.call('ZADD', queue, 'NX', ticket, waiter)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self)\n" \
	"local now, tried\n" \
	"while true do\n" \
	"local first = redis.call('ZRANGE', queue, 0, 0)[1]\n" \
	"if not first or first == self then\n" \
	"if tried then\n" \
	"redis.call('DEL', lock)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"now = now or clock()\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"tried = redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"forget(queue, waiters, first)\n" \
	"if redis.call('PUBLISH', inbox, string.format('%s %s %.0f', first, number, token)) > 0 then\n" \
	"return first\n" \
	"end\n" \
	"elseif live and (told == '0' or now - told < GRACE * 1000) and redis.call('PUBLISH', inbox, first) > 0 then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"else\n" \
	"forget(queue, waiters, first)\n" \
	"end\n" \
	"end\n" \
	"end\n" \
	"local holder\n" \
	"local done, problem = pcall(function()\n" \
	"holder = value_of(KEYS[1])\n" \
	"forget(KEYS[3], KEYS[4], ARGV[1])\n" \
	"if not holder then\n" \
	"serve(KEYS[1], KEYS[3], KEYS[4], ARGV[2] == '1' and KEYS[2], nil)\n" \
	"end\n" \
	"end)\n" \
	"if not done then\n" \
	"if holder == false then\n" \
	"free(KEYS[1])\n" \
	"end\n" \
	"return failure(problem)\n" \
	"end\n" \
	"return holder == ARGV[1] and 1 or 0\n"

#define DLOCK_LUA_RAISE_SHA1 "919f7a4cd6b31bea16939621707ecb0f28e80477"
#define DLOCK_LUA_RAISE \
	"local function is_forged(token)\n" \
	"return not (tonumber(token) < 7881299347898368)\n" \
	"end\n" \
	"local FORGED = 'ERR no fencing token can be as large as this one'\n" \
	"if is_forged(ARGV[2]) then\n" \
	"return redis.error_reply(FORGED)\n" \
	"end\n" \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"if tonumber(redis.call('GET', KEYS[2]) or 0) < tonumber(ARGV[2]) then\n" \
	"redis.call('SET', KEYS[2], ARGV[2])\n" \
	"end\n" \
	"return 1\n"

#define DLOCK_LUA_RELEASE_SHA1 "8f59553442dfac8834ac71348ae5365881917abf"
#define DLOCK_LUA_RELEASE \
	"local lock, fence, queue, waiters, grant = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[2] == '1'\n" \
	"if redis.call('EXISTS', queue) == 0 then\n" \
	"return redis.call('GET', lock) == ARGV[1] and redis.call('DEL', lock) or 0\n" \
	"end\n" \
	"local function clock()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000000 + now[2]\n" \
	"end\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function fencing_token(fence, least)\n" \
	"if least > MOST_PROPOSED then\n" \
	"least = MOST_PROPOSED\n" \
	"elseif least < 1 then\n" \
	"least = 1\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if last and tonumber(last) >= least then\n" \
	"least = last + 1\n" \
	"redis.call('SET', fence, least)\n" \
	"end\n" \
	"return least\n" \
	"end\n" \
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
	"redis.call('HSET', waiters, waiter, string.format('%.0f %.0f %s %s', sign, told, number, inbox))\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function enter(queue, waiters, waiter, ticket)\n" \
	"if redis.call('ZSCORE', queue, waiter) then\n" \
	"return 0\n" \
	"end\n" \
	"forget(queue, waiters, waiter)\n" \
	"return redis.call('ZADD', queue, 'NX', ticket, waiter)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self)\n" \
	"local now, tried\n" \
	"while true do\n" \
	"local first = redis.call('ZRANGE', queue, 0, 0)[1]\n" \
	"if not first or first == self then\n" \
	"if tried then\n" \
	"redis.call('DEL', lock)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"now = now or clock()\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"tried = redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"forget(queue, waiters, first)\n" \
	"if redis.call('PUBLISH', inbox, string.format('%s %s %.0f', first, number, token)) > 0 then\n" \
	"return first\n" \
	"end\n" \
	"elseif live and (told == '0' or now - told < GRACE * 1000) and redis.call('PUBLISH', inbox, first) > 0 then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"else\n" \
	"forget(queue, waiters, first)\n" \
	"end\n" \
	"end\n" \
	"end\n" \
	"local released = redis.call('GET', lock) == ARGV[1] and redis.call('DEL', lock) == 1\n" \
	"local done, told = pcall(function()\n" \
	"if ARGV[4] == '1' then\n" \
	"forget(queue, waiters, ARGV[3])\n" \
	"end\n" \
	"return released and serve(lock, queue, waiters, grant and fence, ARGV[3])\n" \
	"end)\n" \
	"if not done then\n" \
	"if released then\n" \
	"free(lock)\n" \
	"end\n" \
	"return failure(told)\n" \
	"end\n" \
	"return released and (told and 2 or 1) or 0\n"

#define DLOCK_LUA_RENEW_SHA1 "b058e18b6c227e9a6006c15ab37f79891d029e4d"
#define DLOCK_LUA_RENEW \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then\n" \
	"redis.call('PEXPIRE', KEYS[1], ARGV[2])\n" \
	"end\n" \
	"return 1\n"

#define DLOCK_LUA_REPAIR_SHA1 "ad3669aeeee0872a5eb3b8fe74dd896caef45bf3"
#define DLOCK_LUA_REPAIR \
	"local function is_forged(token)\n" \
	"return not (tonumber(token) < 7881299347898368)\n" \
	"end\n" \
	"local FORGED = 'ERR no fencing token can be as large as this one'\n" \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\n" \
	"end\n" \
	"local last = tonumber(redis.call('GET', KEYS[2]) or 0)\n" \
	"if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"if last < tonumber(ARGV[3]) then\n" \
	"redis.call('SET', KEYS[2], ARGV[3])\n" \
	"end\n" \
	"return 1\n"
