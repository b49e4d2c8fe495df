/* Made from src/redis/lua by scripts/gen-lua.sh: change the scripts there. */

#define DLOCK_LUA_ACQUIRE_SHA1 "a423830af65d122c79f445b68c3598b8afbd8858"
#define DLOCK_LUA_ACQUIRE \
	"local function clock()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000000 + now[2]\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
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
	"local mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)\n" \
	"if mine and redis.call('EXISTS', queue) == 0 then\n" \
	"return {1, fencing_token(fence, least == 0 and clock() or least)}\n" \
	"end\n" \
	"local STALE = 3000000\n" \
	"local GRACE = 3000\n" \
	"local FORGET = 60000\n" \
	"local function value_of(lock)\n" \
	"local value = redis.pcall('GET', lock)\n" \
	"if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then\n" \
	"error(value.err)\n" \
	"end\n" \
	"return value\n" \
	"end\n" \
	"local function note(waiters, waiter, sign, told, number, inbox)\n" \
	"redis.call('HSET', waiters, waiter, string.format('%.0f %.0f %s %s', sign, told, number, inbox))\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self)\n" \
	"local now\n" \
	"while true do\n" \
	"local first = redis.call('ZRANGE', queue, 0, 0)[1]\n" \
	"if not first or first == self then\n" \
	"return first\n" \
	"end\n" \
	"now = now or clock()\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"live = redis.call('PUBLISH', inbox, string.format('%s %s %.0f', first, number, fencing_token(fence, now))) > 0\n" \
	"elseif live then\n" \
	"live = (told == '0' or now - told < GRACE * 1000) and redis.call('PUBLISH', inbox, first) > 0\n" \
	"end\n" \
	"if live and not fence then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"forget(queue, waiters, first)\n" \
	"if live then\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"return first\n" \
	"end\n" \
	"end\n" \
	"end\n" \
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
	"redis.call('ZADD', queue, 'NX', ticket, waiter)\n" \
	"end\n" \
	"local first = serve(lock, queue, waiters, grant and fence, waiter)\n" \
	"if not first or first == waiter then\n" \
	"forget(queue, waiters, waiter)\n" \
	"else\n" \
	"mine = false\n" \
	"if not grant then\n" \
	"redis.call('DEL', lock)\n" \
	"end\n" \
	"if inbox == '' then\n" \
	"forget(queue, waiters, waiter)\n" \
	"end\n" \
	"end\n" \
	"elseif holder == token then\n" \
	"redis.call('PEXPIRE', lock, ttl)\n" \
	"mine = true\n" \
	"elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then\n" \
	"return holder -- not a string, and it never ends: no lock of anybody's\n" \
	"end\n" \
	"if not mine then\n" \
	"local pttl = redis.call('PTTL', lock)\n" \
	"pttl = pttl == -2 and GRACE or others and -1 or pttl\n" \
	"if inbox == '' then\n" \
	"return {0, pttl, -1, '0', 0}\n" \
	"end\n" \
	"local new = redis.call('ZADD', queue, 'NX', ticket == '0' and string.format('%.0f', clock()) or ticket, waiter)\n" \
	"note(waiters, waiter, clock(), 0, ARGV[8], inbox)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"return {0, pttl, redis.call('ZRANK', queue, waiter), redis.call('ZSCORE', queue, waiter), new}\n" \
	"end\n" \
	"return {1, fencing_token(fence, least == 0 and clock() or least)}\n"

#define DLOCK_LUA_CHECK_SHA1 "856bcf98af659bd07190069636a9007682159036"
#define DLOCK_LUA_CHECK \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PTTL', KEYS[1])\n" \
	"end\n" \
	"return 0\n"

#define DLOCK_LUA_EXTEND_SHA1 "16ebdef962b7604790808b70c6e41c9785770b46"
#define DLOCK_LUA_EXTEND \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2])\n" \
	"end\n" \
	"return 0\n"

#define DLOCK_LUA_LEAVE_SHA1 "c852afa3feca766e144b52987b73a0cb56d08d89"
#define DLOCK_LUA_LEAVE \
	"local function clock()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000000 + now[2]\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
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
	"error(value.err)\n" \
	"end\n" \
	"return value\n" \
	"end\n" \
	"local function note(waiters, waiter, sign, told, number, inbox)\n" \
	"redis.call('HSET', waiters, waiter, string.format('%.0f %.0f %s %s', sign, told, number, inbox))\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self)\n" \
	"local now\n" \
	"while true do\n" \
	"local first = redis.call('ZRANGE', queue, 0, 0)[1]\n" \
	"if not first or first == self then\n" \
	"return first\n" \
	"end\n" \
	"now = now or clock()\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"live = redis.call('PUBLISH', inbox, string.format('%s %s %.0f', first, number, fencing_token(fence, now))) > 0\n" \
	"elseif live then\n" \
	"live = (told == '0' or now - told < GRACE * 1000) and redis.call('PUBLISH', inbox, first) > 0\n" \
	"end\n" \
	"if live and not fence then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"forget(queue, waiters, first)\n" \
	"if live then\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"return first\n" \
	"end\n" \
	"end\n" \
	"end\n" \
	"forget(KEYS[3], KEYS[4], ARGV[1])\n" \
	"local holder = value_of(KEYS[1])\n" \
	"if not holder then\n" \
	"serve(KEYS[1], KEYS[3], KEYS[4], ARGV[2] == '1' and KEYS[2], nil)\n" \
	"end\n" \
	"return holder == ARGV[1] and 1 or 0\n"

#define DLOCK_LUA_RAISE_SHA1 "b15f8229e6b51084908df444f7146944317f3192"
#define DLOCK_LUA_RAISE \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"if tonumber(redis.call('GET', KEYS[2]) or 0) < tonumber(ARGV[2]) then\n" \
	"redis.call('SET', KEYS[2], ARGV[2])\n" \
	"end\n" \
	"return 1\n"

#define DLOCK_LUA_RELEASE_SHA1 "19f1082aea6aac953c6d2f187635c92910e70fc7"
#define DLOCK_LUA_RELEASE \
	"local lock, fence, queue, waiters, grant = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[2] == '1'\n" \
	"if redis.call('EXISTS', queue) == 0 then\n" \
	"return redis.call('GET', lock) == ARGV[1] and redis.call('DEL', lock) or 0\n" \
	"end\n" \
	"local function clock()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000000 + now[2]\n" \
	"end\n" \
	"local function fencing_token(fence, least)\n" \
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
	"error(value.err)\n" \
	"end\n" \
	"return value\n" \
	"end\n" \
	"local function note(waiters, waiter, sign, told, number, inbox)\n" \
	"redis.call('HSET', waiters, waiter, string.format('%.0f %.0f %s %s', sign, told, number, inbox))\n" \
	"end\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\n" \
	"end\n" \
	"local function serve(lock, queue, waiters, fence, self)\n" \
	"local now\n" \
	"while true do\n" \
	"local first = redis.call('ZRANGE', queue, 0, 0)[1]\n" \
	"if not first or first == self then\n" \
	"return first\n" \
	"end\n" \
	"now = now or clock()\n" \
	"local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"live = redis.call('PUBLISH', inbox, string.format('%s %s %.0f', first, number, fencing_token(fence, now))) > 0\n" \
	"elseif live then\n" \
	"live = (told == '0' or now - told < GRACE * 1000) and redis.call('PUBLISH', inbox, first) > 0\n" \
	"end\n" \
	"if live and not fence then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\n" \
	"end\n" \
	"return first\n" \
	"end\n" \
	"forget(queue, waiters, first)\n" \
	"if live then\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"return first\n" \
	"end\n" \
	"end\n" \
	"end\n" \
	"if ARGV[4] == '1' then\n" \
	"forget(queue, waiters, ARGV[3])\n" \
	"end\n" \
	"if redis.call('GET', lock) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"redis.call('DEL', lock)\n" \
	"return serve(lock, queue, waiters, grant and fence, ARGV[3]) and 2 or 1\n"

#define DLOCK_LUA_RENEW_SHA1 "b058e18b6c227e9a6006c15ab37f79891d029e4d"
#define DLOCK_LUA_RENEW \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then\n" \
	"redis.call('PEXPIRE', KEYS[1], ARGV[2])\n" \
	"end\n" \
	"return 1\n"

#define DLOCK_LUA_REPAIR_SHA1 "b69ef2d96a3fe13379a0d885a06d4339a849f577"
#define DLOCK_LUA_REPAIR \
	"if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"if tonumber(redis.call('GET', KEYS[2]) or 0) < tonumber(ARGV[3]) then\n" \
	"redis.call('SET', KEYS[2], ARGV[3])\n" \
	"end\n" \
	"return 1\n"
