/* Made from src/redis/script/lua by scripts/gen-lua.sh: change the scripts there. */

#define DLOCK_LUA_SCRIPTS(script) \
	script(ACQUIRE, "acquire", "897347db163b3e501bb330c0a08b72bd5cc1cda2", DLOCK_LUA_ACQUIRE) \
	script(ACQUIRE_REPLICATED, "acquire_replicated", "f7e5b853551e5e75dc128f0183c8e7a28c5c5fd7", DLOCK_LUA_ACQUIRE_REPLICATED) \
	script(CHECK, "check", "856bcf98af659bd07190069636a9007682159036", DLOCK_LUA_CHECK) \
	script(DROP, "drop", "48c0af50f201920df7a01ac8a2e7a08fb556dfe1", DLOCK_LUA_DROP) \
	script(EXCHANGE, "exchange", "71f4e8c5ffa6e59025dbf0fa806624ca3e318696", DLOCK_LUA_EXCHANGE) \
	script(EXCHANGE_REPLICATED, "exchange_replicated", "94a51d543da9174223228245fceb28edc803f453", DLOCK_LUA_EXCHANGE_REPLICATED) \
	script(EXTEND, "extend", "16ebdef962b7604790808b70c6e41c9785770b46", DLOCK_LUA_EXTEND) \
	script(KEEP, "keep", "8bcef6cb56e5ef774eb8a6144dc98f695fddee38", DLOCK_LUA_KEEP) \
	script(LEAVE, "leave", "dc0885f9edb331c6e9247cd4566b0bc6b1fe02f5", DLOCK_LUA_LEAVE) \
	script(LOOK, "look", "e5248b7a246d782e21ac0550ece5d59f90e63460", DLOCK_LUA_LOOK) \
	script(PERMITS_ACQUIRE, "permits_acquire", "5ecff21d81e3f55a6b556cb6bbc18b824ad471cf", DLOCK_LUA_PERMITS_ACQUIRE) \
	script(PERMITS_ACQUIRE_REPLICATED, "permits_acquire_replicated", "2f86456ae7af6b3591b218be0cf3f5d2ffebd16f", DLOCK_LUA_PERMITS_ACQUIRE_REPLICATED) \
	script(PERMITS_CHECK, "permits_check", "536a3f99b00e9001e7d4f9f989d068d258b133fd", DLOCK_LUA_PERMITS_CHECK) \
	script(PERMITS_CONFIRM, "permits_confirm", "8ae7fd4212fbc1b595940b089c14132b4457b604", DLOCK_LUA_PERMITS_CONFIRM) \
	script(PERMITS_COUNTS, "permits_counts", "b42750cf4bdbf8e6545c3e78607dd086a8be41dd", DLOCK_LUA_PERMITS_COUNTS) \
	script(PERMITS_DROP, "permits_drop", "ef364de23fbc68b921ecda6175d0feddb9488800", DLOCK_LUA_PERMITS_DROP) \
	script(PERMITS_EXCHANGE, "permits_exchange", "6b9e9b69fbcd5876ff1bb155adcb07e1d854a2f2", DLOCK_LUA_PERMITS_EXCHANGE) \
	script(PERMITS_EXCHANGE_REPLICATED, "permits_exchange_replicated", "6ca18c54ecb89905cf992c0c3604cf28b605ae44", DLOCK_LUA_PERMITS_EXCHANGE_REPLICATED) \
	script(PERMITS_KEEP, "permits_keep", "6e3d55cfbe5445e5b5b6da3ae5d32d577a880a7e", DLOCK_LUA_PERMITS_KEEP) \
	script(PERMITS_LEAVE, "permits_leave", "c4ca3efeb11e9435656a164ad79b775aeaffb356", DLOCK_LUA_PERMITS_LEAVE) \
	script(PERMITS_RELEASE, "permits_release", "e84a17cc646ceb4cb0300cce38585318902c4fbb", DLOCK_LUA_PERMITS_RELEASE) \
	script(PERMITS_RELEASE_REPLICATED, "permits_release_replicated", "99e4c3c051d51a21f185f7d8cf64da8e80be2b91", DLOCK_LUA_PERMITS_RELEASE_REPLICATED) \
	script(PERMITS_RENEW, "permits_renew", "917ca9913ff3bd20e34f0e51dad61d87d0b28b50", DLOCK_LUA_PERMITS_RENEW) \
	script(PERMITS_RESERVE, "permits_reserve", "3ce43d462d93780135174f7224adea6076df066d", DLOCK_LUA_PERMITS_RESERVE) \
	script(PERMITS_RESTOCK, "permits_restock", "e2217fb9ce07731a76b4fbf350241be9deddc773", DLOCK_LUA_PERMITS_RESTOCK) \
	script(PERMITS_RESTORE, "permits_restore", "f88ff7620e3b0268f8a63f76166377858f08fa3f", DLOCK_LUA_PERMITS_RESTORE) \
	script(PERMITS_UNCHANGED, "permits_unchanged", "4acf3cf67dd5c1fcba4593da6f74af577c40e8fb", DLOCK_LUA_PERMITS_UNCHANGED) \
	script(PUBLISH, "publish", "1ceaff06537b0c06064de1d908f53807f12cbb1b", DLOCK_LUA_PUBLISH) \
	script(RAISE, "raise", "947b394adcdd0b94a093d6e9642a1043ff37c5d9", DLOCK_LUA_RAISE) \
	script(RELEASE, "release", "7c88fef32b990df998b4b8badf1b0bc28134eee7", DLOCK_LUA_RELEASE) \
	script(RENEW, "renew", "b058e18b6c227e9a6006c15ab37f79891d029e4d", DLOCK_LUA_RENEW) \
	script(REPAIR, "repair", "85d78dab4f409d25d2bd5b0741b394f56403f587", DLOCK_LUA_REPAIR) \
	script(RESTORE, "restore", "4b17d23a77f9943711d325ff8f62334d57a47ce2", DLOCK_LUA_RESTORE) \
	script(SETTLE, "settle", "089e08b3cf85b53b5e77c3682e3378d2f4580700", DLOCK_LUA_SETTLE) \
	script(UNCHANGED, "unchanged", "5bb53c6e83323decdb18c056bce234eac57aa5ef", DLOCK_LUA_UNCHANGED)

#define DLOCK_LUA_CLOCK_OF \
	"local function clock_of(key, refusal)\n" \
	"local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)\n" \
	"local ends = redis.pcall('PEXPIRETIME', key)\n" \
	"if ends == -1 and redis.call('PEXPIRE', key, 60000) then\n" \
	"ends = redis.call('PEXPIRETIME', key)\nend\n" \
	"local left = redis.call('PTTL', key)\n" \
	"if made then\n" \
	"redis.pcall('DEL', key)\nend\n" \
	"if type(ends) ~= 'number' then\n" \
	"error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)\nend\n" \
	"return string.format('%.0f', (ends - left) * 1000)\nend\n"

#define DLOCK_LUA_CONTEND \
	DLOCK_LUA_HANDOVER \
	"local waiters, grant, inbox, ticket = KEYS[4], ARGV[4] ~= '0', ARGV[5] or '', ARGV[6] or ''\n" \
	"local waiter = (ARGV[8] or '') == '' and token or ARGV[8]\n" \
	"local function next_ticket()\n" \
	"local last = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0\n" \
	"local given = tonumber(redis.call('GET', fence) or 0) or 0\n" \
	"local largest = given > last and given < 9007199254740991 and given or last\n" \
	"return string.format('%.0f', math.min(largest + 1, 9007199254740991))\nend\n" \
	"local function enter(queue, waiters, waiter, ticket, checks)\n" \
	"if checks then\n" \
	"forget(queue, waiters, waiter)\nend\n" \
	"return redis.call('ZADD', queue, 'NX', ticket, waiter)\nend\n" \
	"local function refusal(pttl, position, ticket, new)\n" \
	"if unsettled == 0 then\n" \
	"return {pttl, position, ticket, new}\nend\n" \
	"return {math.max(pttl, unsettled), position, ticket, new, unsettled, replid, settles}\nend\n" \
	"local function contend()\n" \
	"local holder, others, unsearched, emptied = not mine and value_of(lock), false, false, false\n" \
	"if holder and ARGV[9] == '1' then\n" \
	"local ends = type(holder) == 'string'\n" \
	"and (string.match(holder, '^(%d+)$') or string.match(holder, '^(%d+)%.%d+$'))\n" \
	"if ends and #ends == 10 and tonumber(ends) < tonumber(string.sub(clock(waiters), 1, -7))\n" \
	"and redis.call('PTTL', lock) == -1 then\n" \
	"redis.call('SET', lock, token, 'PX', ttl)\n" \
	"mine = true\n" \
	"else\n" \
	"others = type(holder) ~= 'string' or string.sub(holder, 1, 11) ~= string.sub(token, 1, 11)\nend\nend\n" \
	"if mine then\n" \
	"if ticket ~= '' and not redis.call('ZSCORE', queue, waiter) then\n" \
	"enter(queue, waiters, waiter, ticket, true)\nend\n" \
	"local first, more = serve(lock, queue, waiters, grant and fence, waiter, take_first(queue, grant))\n" \
	"unsearched = more\n" \
	"if not more and (not first or first == waiter) then\n" \
	"forget(queue, waiters, waiter)\n" \
	"if grant then\n" \
	"redis.call('SET', lock, token, 'PX', ttl)\nend\n" \
	"else\n" \
	"if not grant or more then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"mine, emptied = false, true\n" \
	"if inbox == '' then\n" \
	"forget(queue, waiters, waiter)\nend\nend\n" \
	"elseif holder == token and unsettled == 0 then\n" \
	"mine = true\n" \
	"redis.call('PEXPIRE', lock, ttl)\n" \
	"elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then\n" \
	"return holder -- not a string, and it never ends: no lock of anybody's\nend\n" \
	"if mine then\n" \
	"return next_token()\nend\n" \
	"local pttl = redis.call('PTTL', lock)\n" \
	"if unsettled > 0 and (pttl == -2 or holder == token) then\n" \
	"pttl = 0\nend\n" \
	"pttl = unsearched and 0 or pttl == -2 and GRACE or others and -1 or pttl\n" \
	"if inbox == '' then\n" \
	"return refusal(pttl, -1, not grant and ticket == '' and next_ticket() or '0', 0)\nend\n" \
	"local now, left = clock(waiters), redis.call('PTTL', queue)\n" \
	"local new = enter(queue, waiters, waiter, ticket == '' and now or ticket, left == -2)\n" \
	"note(waiters, waiter, now, '0', ARGV[7], inbox)\n" \
	"if emptied or left < FORGET / 2 then\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\nend\n" \
	"local position_matters = not (left == -2 or unsearched or pttl > LOOK_AGAIN and ARGV[10] ~= '1')\n" \
	"return refusal(pttl, position_matters and redis.call('ZRANK', queue, waiter) or 0,\n" \
	"new == 1 and ticket == '' and now or redis.call('ZSCORE', queue, waiter), new)\nend\n" \
	"if not mine or queued == 1 then\n" \
	"done, reply = pcall(contend)\n" \
	"if done then\n" \
	"return reply\nend\nend\n" \
	"if mine then\n" \
	"free(lock)\nend\n" \
	"if inbox ~= '' or ticket ~= '' then\n" \
	"redis.pcall('ZREM', queue, waiter)\n" \
	"redis.pcall('HDEL', waiters, waiter)\nend\n" \
	"return failure(reply)\n"

#define DLOCK_LUA_ERA \
	"local function info(section, field)\n" \
	"local text = redis.pcall('INFO', section)\n" \
	"if type(text) == 'table' then\n" \
	"error('INFO: ' .. text.err, 0) -- the server's own words do not name it\nend\n" \
	"local _, last = string.find(text, '\\n' .. field .. ':', 1, true)\n" \
	"return last and string.match(text, '^%x+', last + 1)\nend\n" \
	"local function replication_id()\n" \
	"return info('replication', 'master_replid')\nend\n" \
	"local function full_copies()\n" \
	"return info('stats', 'sync_full') or '0'\nend\n" \
	"local function read_era(era)\n" \
	"return string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (%-?%d+) (%d+) ?(%d*)$')\nend\n" \
	"local function time()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])\nend\n" \
	"local function look_at_era(era, guard, counts, doubts)\n" \
	"local id = replication_id()\n" \
	"local opened, longest, settles, waited, copies = read_era(era)\n" \
	"local longer = not longest or tonumber(guard) > tonumber(longest)\n" \
	"local settled = opened == id and not longer and string.sub(settles, 1, 1) == '-'\n" \
	"guard = longer and guard or longest\n" \
	"if settled and not (counts and doubts and copies ~= full_copies()) then\n" \
	"return 0, id, settles, waited\nend\n" \
	"local left, now, us = -1, time()\n" \
	"if opened ~= id or counts and string.sub(settles, 1, 1) ~= '0' and copies ~= full_copies() then\n" \
	"settles, waited, copies = '0' .. us, '0', full_copies()\n" \
	"elseif string.sub(settles, 1, 1) ~= '0' then\n" \
	"local at = math.abs(settles) + math.max(0, guard - waited)\n" \
	"left = math.max(0, math.min(at - now, guard))\n" \
	"longer = longer or at - now > tonumber(guard)\n" \
	"settles = string.format('%.0f', left == 0 and -at or now + left)\n" \
	"waited = string.format('%.0f', math.max(guard, waited))\nend\n" \
	"if left <= 0 or longer then\n" \
	"redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited .. ' ' .. copies)\nend\n" \
	"return left, id, settles, waited\nend\n"

#define DLOCK_LUA_FAILURE \
	"local function failure(problem)\n" \
	"problem = type(problem) == 'table' and problem.err or problem\n" \
	"problem = string.gsub(string.gsub(problem, '^@?user_script: ?%d+: ', ''), '^@?user_script: ?%d+: ', '')\n" \
	"problem = string.gsub(problem, '^%-', '')\n" \
	"return redis.error_reply(string.match(problem, '^%u+ ') and problem or 'ERR ' .. problem)\nend\n"

#define DLOCK_LUA_FENCING \
	DLOCK_LUA_CLOCK_OF \
	"local function clock(scratch)\n" \
	"local now = redis.pcall('TIME')\n" \
	"return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])\nend\n" \
	"local MOST_PROPOSED = 4503599627370496\n" \
	"local function raise_lost(fence, token)\n" \
	"local now = math.min(clock(), MOST_PROPOSED)\n" \
	"if now > tonumber(token) then\n" \
	"redis.call('SET', fence, string.format('%.0f', now))\nend\nend\n" \
	"local function fencing_token(fence, least)\n" \
	"if tonumber(least) > MOST_PROPOSED then\n" \
	"least = string.format('%.0f', MOST_PROPOSED)\n" \
	"elseif tonumber(least) < 1 then\n" \
	"least = '1'\nend\n" \
	"local last = redis.call('GETSET', fence, least)\n" \
	"if not last then\n" \
	"raise_lost(fence, least)\n" \
	"elseif tonumber(last) >= tonumber(least) then\n" \
	"least = string.format('%.0f', last + 1)\n" \
	"redis.call('SET', fence, least)\nend\n" \
	"return least\nend\n"

#define DLOCK_LUA_FORGED \
	"local function is_forged(token)\n" \
	"return not (tonumber(token) < 7881299347898368)\nend\n" \
	"local FORGED = 'ERR no fencing token can be as large as this one'\n" \
	DLOCK_LUA_FENCING \
	"local function raise_fence(fence, token, last)\n" \
	"if tonumber(last or 0) < tonumber(token) then\n" \
	"redis.call('SET', fence, token)\nend\n" \
	"if not last then\n" \
	"raise_lost(fence, token)\nend\nend\n"

#define DLOCK_LUA_HANDOVER \
	"local LOOK_AGAIN = 2300\n" \
	"local STALE = 3000000\n" \
	"local GRACE = 3000\n" \
	"local MOST_DEAD = 100\n" \
	"local FORGET = 60000\n" \
	"local function value_of(lock)\n" \
	"local value = redis.pcall('GET', lock)\n" \
	"if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then\n" \
	"error(value.err, 0)\nend\n" \
	"return value\nend\n" \
	DLOCK_LUA_FAILURE \
	"local function free(lock)\n" \
	"if type(redis.pcall('DEL', lock)) == 'table' then\n" \
	"redis.pcall('SET', lock, '', 'PX', 1)\nend\nend\n" \
	"local function note(waiters, waiter, sign, told, number, inbox)\n" \
	"redis.call('HSET', waiters, waiter, sign .. ' ' .. told .. ' ' .. number .. ' ' .. inbox)\nend\n" \
	"local function forget(queue, waiters, waiter)\n" \
	"redis.call('ZREM', queue, waiter)\n" \
	"redis.call('HDEL', waiters, waiter)\nend\n" \
	"local function take_first(queue, grant)\n" \
	"local popped = grant and redis.call('ZPOPMIN', queue)\n" \
	"return popped and popped[1] or not grant and redis.call('ZRANGE', queue, 0, 0)[1], popped and popped[2]\nend\n" \
	"local function put_back(queue, waiters, waiter, ticket, sign, number, inbox)\n" \
	"redis.call('ZADD', queue, ticket, waiter)\n" \
	"note(waiters, waiter, sign, '0', number, inbox)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\nend\n" \
	"local function serve(lock, queue, waiters, fence, self, first, ticket)\n" \
	"local now, dead\n" \
	"while first and first ~= self do\n" \
	"now = now or clock(waiters)\n" \
	"local state = redis.call('HGET', waiters, first) or ''\n" \
	"local sign, told, number, inbox = string.match(state, '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE\n" \
	"if live and fence then\n" \
	"redis.call('HDEL', waiters, first)\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"local receivers = redis.pcall('PUBLISH', inbox, first .. ' ' .. number .. ' ' .. token)\n" \
	"if type(receivers) == 'table' then\n" \
	"return put_back(queue, waiters, first, ticket, sign, number, inbox)\n" \
	"elseif receivers > 0 then\n" \
	"return first\nend\n" \
	"else\n" \
	"local receivers = live and (told == '0' or now - told < GRACE * 1000)\n" \
	"and redis.pcall('PUBLISH', inbox, first) or 0\n" \
	"if type(receivers) == 'table' then\n" \
	"return nil\n" \
	"elseif receivers > 0 then\n" \
	"if told == '0' then\n" \
	"note(waiters, first, sign, now, number, inbox)\nend\n" \
	"return first\nend\n" \
	"forget(queue, waiters, first)\nend\n" \
	"dead = (dead or 0) + 1\n" \
	"if dead == MOST_DEAD then\n" \
	"return nil, true\nend\n" \
	"first, ticket = take_first(queue, fence)\nend\n" \
	"return first\nend\n"

#define DLOCK_LUA_PERMITS_CLOCK \
	"local function clock(pool)\n" \
	"local now, us = redis.pcall('TIME'), nil\n" \
	"if not now.err then\n" \
	"us = now[1] * 1000000 + now[2]\n" \
	"else\n" \
	DLOCK_LUA_CLOCK_OF \
	"local endless = redis.call('PTTL', pool) == -1\n" \
	"us = tonumber(clock_of(pool, now.err))\n" \
	"if endless then\n" \
	"redis.call('PERSIST', pool)\nend\nend\n" \
	"if us < 1e15 or us >= 5e15 then\n" \
	"error('permits need a clock between the years 2001 and 2128; this server has another', 0)\nend\n" \
	"return us\nend\n"

#define DLOCK_LUA_PERMITS_CONTEND \
	"local pool, id, permits, capacity, limit, inbox, ticket = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5]), ARGV[6], ARGV[7]\n" \
	"local us, ttl, alone = clock(pool), tonumber(ARGV[4]), permits >= ALL and ARGV[9] ~= '1'\n" \
	"local now, buyer = math.floor(us / 1000), not capacity and buyer_of(id)\n" \
	"local queue, held, used, fence, lasts, stock, sold, pieces\n" \
	"if capacity then\n" \
	"queue, held, used, fence, lasts = unpack(redis.call('ZMSCORE', pool, '$queue', 'h' .. id, '$used', '$fence', '$until'))\n" \
	"if not lasts and redis.call('ZSCORE', pool, '$stock') then\n" \
	"return redis.error_reply('WRONGTYPE the key is that of a stock')\nend\n" \
	"else\n" \
	"queue, held, used, fence, lasts, stock, sold, pieces = unpack(known or redis.call('ZMSCORE', pool, '$queue', 'h' .. id, '$used', '$fence', '$until',\n" \
	"'$stock', '$sold', 'b' .. buyer))\nend\n" \
	"local may = not limit or (pieces or 0) + permits <= limit\n" \
	"local fits = (used or 0) + permits <= (capacity or stock or 0) - (sold or 0)\n" \
	"local token = math.max(us, 1 - (fence or 0))\n" \
	"if replid and held and not buyer and (unsettled ~= 0 or tonumber(used) > capacity) then\n" \
	"local count = redis.call('ZSCORE', pool, 'w' .. id) or 1\n" \
	"redis.call('ZREM', pool, 'h' .. id, 'w' .. id)\n" \
	"used, held = used - count, nil\n" \
	"redis.call('ZADD', pool, used, '$used')\n" \
	"fits = used + permits <= capacity\nend\n" \
	"if unsettled == 0 and may and fits and not queue and not held then\n" \
	"hold(pool, id, permits, used or 0, token, now + ttl, buyer, pieces or 0)\n" \
	"if not stock and now + ttl > -(lasts or 0) then\n" \
	"last_until(pool, now, token, now + ttl)\nend\n" \
	"return {1, token, permits, ttl}\nend\n" \
	"local function enqueue(token)\n" \
	"local waiter, signs = waiter_of(id, ARGV[2], ARGV[3], ARGV[5], inbox)\n" \
	"local place = ticket == '0' and token or tonumber(ticket)\n" \
	"local added = redis.call('ZADD', pool, 'LT', alone and place + ALONE - WAITS or place, waiter,\n" \
	"-now * 1000 - ARGV[8] % 1000, signs, alone and PHASES or QUEUED, '$queue', -token, '$fence')\n" \
	"return waiter, added > 1\nend\n" \
	"local function first_end(used)\n" \
	"return tonumber(used or 0) > 0 and tonumber(redis.call('ZRANGEBYSCORE', pool, HELD, '(1e13', 'WITHSCORES', 'LIMIT', 0, 1)[2]) or nil\nend\n" \
	"local function refusal(ends, waiter, new)\n" \
	"local left = ends and math.max(0, ends - now) + 1 or -1\n" \
	"if not waiter then\n" \
	"return {0, left, -1, '0', 0}\nend\n" \
	"local place = redis.call('ZSCORE', pool, waiter)\n" \
	"return {0, left, redis.call('ZCOUNT', pool, WAITS, '(' .. place), string.format('%.0f', alone and place - ALONE + WAITS or place), new and 1 or 0}\nend\n" \
	"local function wait_for_era()\n" \
	"local waiter, new = nil, false\n" \
	"if inbox ~= '' then\n" \
	"waiter, new = enqueue(token)\n" \
	"if not stock and now + FORGET > -(lasts or 0) then\n" \
	"last_until(pool, now, token, now + FORGET)\nend\nend\n" \
	"local reply = refusal(nil, waiter, new)\n" \
	"reply[2], reply[6], reply[7], reply[8] = unsettled, unsettled, replid, settles\n" \
	"return reply\nend\n" \
	"if unsettled ~= 0 then\n" \
	"return wait_for_era()\nend\n" \
	"if ticket == '0' and not held and not (may and fits) then\n" \
	"local ends = first_end(used)\n" \
	"if not ends or ends >= now then\n" \
	"local possible = capacity or permits <= (stock or 0) - (sold or 0)\n" \
	"if not may then\n" \
	"return {-1, 0, tonumber(pieces), 0}\n" \
	"elseif inbox == '' or not possible then\n" \
	"return refusal(possible and ends)\nend\n" \
	"local waiter, new = enqueue(token)\n" \
	"if not stock and now + FORGET > -(lasts or 0) then\n" \
	"last_until(pool, now, token, now + FORGET)\nend\n" \
	"return refusal(ends, waiter, new)\nend\nend\n" \
	DLOCK_LUA_PERMITS_QUEUE \
	"local state = state_of(pool, us, used, fence, queue, lasts, stock, sold)\n" \
	"local waiter, new = nil, false\n" \
	"local function wait()\n" \
	"if ticket == '0' then\n" \
	"state.fence = next_token(state)\nend\n" \
	"waiter, new = enqueue(state.fence)\n" \
	"state.queue = math.min(state.queue, alone and PHASES or QUEUED)\n" \
	"keep(state, now + FORGET)\nend\n" \
	"local function permits_of()\n" \
	"return tonumber(redis.call('ZSCORE', pool, 'w' .. id) or 1)\nend\n" \
	"local function renewed(ends)\n" \
	"if not buyer then\n" \
	"ends = now + ttl\n" \
	"elseif ticket ~= '0' or ends < now then\n" \
	"ends = math.max(ends, now + ttl)\nend\n" \
	"state.fence = next_token(state)\n" \
	"redis.call('ZADD', pool, -state.fence, '$fence', ends, 'h' .. id)\n" \
	"keep(state, ends)\n" \
	"return {1, state.fence, permits_of(), ends - now}\nend\n" \
	"local function settled(held)\n" \
	"local ends, reply = tonumber(held or nil), nil\n" \
	"if ends and ends >= SOLD then\n" \
	"reply = {2, 0, permits_of(), 0}\n" \
	"elseif ends then\n" \
	"reply = renewed(ends)\n" \
	"elseif not allowed(state, buyer, permits, ARGV[5]) then\n" \
	"reply = {-1, 0, tonumber(redis.call('ZSCORE', pool, 'b' .. buyer)), 0}\n" \
	"elseif not is_possible(state, permits, ARGV[3]) then\n" \
	"reply = refusal()\n" \
	"else\n" \
	"return nil\nend\n" \
	"if inbox ~= '' then\n" \
	"redis.call('ZREM', pool, waiter_of(id, ARGV[2], ARGV[3], ARGV[5], inbox))\nend\n" \
	"serve(state)\n" \
	"return reply\nend\n" \
	"local reply = settled(held)\n" \
	"if not reply and state.queue < 0 then\n" \
	"if inbox ~= '' then\n" \
	"wait()\nend\n" \
	"serve(state, waiter, ttl)\n" \
	"if state.mine then\n" \
	"return {1, state.mine, permits, ttl}\nend\n" \
	"reply = settled(redis.call('ZSCORE', pool, 'h' .. id))\nend\n" \
	"if reply then\n" \
	"return reply\n" \
	"elseif state.queue == 0 and make_room(state, permits, capacity) then\n" \
	"return {1, take(state, id, permits, ttl, buyer), permits, ttl}\n" \
	"elseif inbox ~= '' and not waiter then\n" \
	"wait()\nend\n" \
	"reply = refusal(first_end(state.used), waiter, new)\n" \
	"if state.removed >= MOST_REMOVED then\n" \
	"reply[2], reply[3] = 0, math.min(reply[3], 0)\nend\n" \
	"return reply\n"

#define DLOCK_LUA_PERMITS_POOL \
	"local HELD, SOLD, WAITS, ALONE = 1e11, 1e13, 1e15, 5e15\n" \
	"local QUEUED, PHASES = -1, -2\n" \
	"local ALL = 1000000000\n" \
	"local STALE, GRACE, FORGET = 3000, 3000, 60000\n" \
	"local function hold(pool, id, permits, used, fence, ends, buyer, pieces)\n" \
	"if not buyer then\n" \
	"if permits == 1 then\n" \
	"redis.call('ZADD', pool, used + 1, '$used', -fence, '$fence', ends, 'h' .. id)\n" \
	"else\n" \
	"redis.call('ZADD', pool, used + permits, '$used', -fence, '$fence', ends, 'h' .. id, permits, 'w' .. id)\nend\n" \
	"elseif permits == 1 then\n" \
	"redis.call('ZADD', pool, used + 1, '$used', -fence, '$fence', ends, 'h' .. id, pieces + 1, 'b' .. buyer)\n" \
	"else\n" \
	"redis.call('ZADD', pool, used + permits, '$used', -fence, '$fence', ends, 'h' .. id, pieces + permits, 'b' .. buyer, permits, 'w' .. id)\nend\nend\n" \
	"local function last_until(pool, now, fence, ends)\n" \
	"local last = math.max(ends + math.min(ends - now, FORGET), math.ceil(fence / 1000))\n" \
	"redis.call('ZADD', pool, -last, '$until')\n" \
	"redis.call('PEXPIREAT', pool, last)\nend\n" \
	"local function waiter_of(id, permits, capacity, limit, inbox)\n" \
	"local waiter = permits .. ' ' .. capacity .. ' ' .. limit .. ' ' .. id .. ' ' .. inbox\n" \
	"return 'q' .. waiter, 's' .. waiter\nend\n" \
	"local function buyer_of(id)\n" \
	"return string.match(id, '^(.*)/')\nend\n"

#define DLOCK_LUA_PERMITS_QUEUE \
	"local CHUNK = 100\n" \
	"local BATCH = 100\n" \
	"local MOST_REMOVED = 100\n" \
	"local function state_of(pool, us, used, fence, queue, lasts, stock, sold)\n" \
	"queue = tonumber(queue or 0)\n" \
	"return { pool = pool, us = us, now = math.floor(us / 1000), used = tonumber(used or 0), fence = -(fence or 0), queue = queue,\n" \
	"phase = queue < PHASES and -queue, lasts = -(lasts or 0), stock = stock, sold = tonumber(sold or 0), grants = 0, removed = 0 }\nend\n" \
	"local function read(pool, us)\n" \
	"return state_of(pool, us, unpack(redis.call('ZMSCORE', pool, '$used', '$fence', '$queue', '$until', '$stock', '$sold')))\nend\n" \
	"local function next_token(state)\n" \
	"return math.max(state.us, state.fence + 1)\nend\n" \
	"local function keep(state, ends)\n" \
	"if not state.stock and ends > state.lasts then\n" \
	"last_until(state.pool, state.now, state.fence, ends)\n" \
	"state.lasts = ends\nend\nend\n" \
	"local function credit(pool, buyer, pieces)\n" \
	"if buyer and tonumber(redis.call('ZINCRBY', pool, -pieces, 'b' .. buyer)) <= 0 then\n" \
	"redis.call('ZREM', pool, 'b' .. buyer)\nend\nend\n" \
	"local function drop(state, ids, permits)\n" \
	"local names, freed = {}, 0\n" \
	"for i, id in ipairs(ids) do\n" \
	"freed = freed + (permits[i] or 1)\n" \
	"names[#names + 1] = 'h' .. id\n" \
	"names[#names + 1] = 'w' .. id\nend\n" \
	"redis.call('ZREM', state.pool, unpack(names))\n" \
	"state.used = state.used - freed\n" \
	"redis.call('ZADD', state.pool, state.used, '$used')\n" \
	"for i, id in ipairs(ids) do\n" \
	"credit(state.pool, buyer_of(id), permits[i] or 1)\nend\n" \
	"if freed >= ALL then\n" \
	"state.phase = ALONE -- a writer is out: the readers' turn, of all that wait\nend\nend\n" \
	"local function reclaim(state)\n" \
	"if state.used == 0 or state.reclaimed then\n" \
	"return false\nend\n" \
	"local ids, names = redis.call('ZRANGEBYSCORE', state.pool, HELD, string.format('(%.0f', state.now), 'LIMIT', 0, CHUNK), {}\n" \
	"state.reclaimed = #ids < CHUNK\n" \
	"if #ids == 0 then\n" \
	"return false\nend\n" \
	"for i, held in ipairs(ids) do\n" \
	"ids[i] = string.sub(held, 2)\n" \
	"names[i] = 'w' .. ids[i]\nend\n" \
	"drop(state, ids, redis.call('ZMSCORE', state.pool, unpack(names)))\n" \
	"return true\nend\n" \
	"local function room(state, capacity)\n" \
	"return (tonumber(capacity) or state.stock or 0) - state.sold - state.used\nend\n" \
	"local function make_room(state, permits, capacity)\n" \
	"while permits > room(state, capacity) do\n" \
	"if not reclaim(state) then\n" \
	"return false\nend\nend\n" \
	"return true\nend\n" \
	"local function allowed(state, buyer, pieces, limit)\n" \
	"while buyer and limit ~= '' and (redis.call('ZSCORE', state.pool, 'b' .. buyer) or 0) + pieces > tonumber(limit) do\n" \
	"if not reclaim(state) then\n" \
	"return false\nend\nend\n" \
	"return true\nend\n" \
	"local function take(state, id, permits, ttl, buyer)\n" \
	"local pieces = buyer and redis.call('ZSCORE', state.pool, 'b' .. buyer) or 0\n" \
	"state.fence = next_token(state)\n" \
	"hold(state.pool, id, permits, state.used, state.fence, state.now + ttl, buyer, pieces)\n" \
	"state.used = state.used + permits\n" \
	"keep(state, state.now + ttl)\n" \
	"return state.fence\nend\n" \
	"local function next_waiters(state, count)\n" \
	"local function first(from, to, count)\n" \
	"return redis.call('ZRANGEBYSCORE', state.pool, from, to, 'LIMIT', 0, count)\nend\n" \
	"if state.queue > PHASES then\n" \
	"local names = first(WAITS, '+inf', count)\n" \
	"return names, #names < count\nend\n" \
	"if state.phase then\n" \
	"local readers = first(WAITS, string.format('%.0f', state.phase), count)\n" \
	"if #readers > 0 then\n" \
	"return readers, false\nend\n" \
	"state.phase = false\nend\n" \
	"local writer = first(ALONE, '+inf', 1)\n" \
	"if #writer > 0 then\n" \
	"return writer, false\nend\n" \
	"local readers = first(WAITS, '+inf', count)\n" \
	"return readers, #readers < count\nend\n" \
	"local function is_possible(state, permits, capacity)\n" \
	"return tonumber(capacity) or permits <= (state.stock or 0) - state.sold\nend\n" \
	"local function listens(inbox)\n" \
	"local listeners = redis.pcall('PUBSUB', 'NUMSUB', inbox)\n" \
	"return listeners.err or listeners[2] > 0\nend\n" \
	"local function serve_waiter(state, waiter, me, ttl)\n" \
	"local permits, capacity, limit, id, inbox = string.match(waiter, '^q(%d+) (%d*) (%d*) (%S+) (%S*)$')\n" \
	"local signs, mine, buyer = 's' .. string.sub(waiter, 2), waiter == me, buyer_of(id)\n" \
	"local sign, held = unpack(redis.call('ZMSCORE', state.pool, signs, 'h' .. id))\n" \
	"local live = mine or state.now - math.floor(-(sign or 0) / 1000) < STALE\n" \
	"permits = tonumber(permits)\n" \
	"local may = live and not held and allowed(state, buyer, permits, limit) and is_possible(state, permits, capacity)\n" \
	"if may and not make_room(state, permits, capacity) then\n" \
	"if mine or room(state, capacity) <= 0 or listens(inbox) then\n" \
	"return false\nend\n" \
	"live, may = false, false\nend\n" \
	"if live and not mine then\n" \
	"local enough = may and state.grants >= BATCH\n" \
	"local fence = may and not enough and next_token(state) or 0\n" \
	"local receivers = redis.pcall('PUBLISH', inbox, string.format('%s %.0f %.0f', id, -sign % 1000, fence))\n" \
	"if type(receivers) == 'table' or enough and receivers > 0 then\n" \
	"return false\nend\n" \
	"may = may and receivers > 0\nend\n" \
	"redis.call('ZREM', state.pool, waiter, signs)\n" \
	"if may then\n" \
	"local fence = take(state, id, permits, mine and ttl or GRACE, buyer)\n" \
	"state.grants, state.mine = state.grants + 1, mine and fence or state.mine\n" \
	"else\n" \
	"state.removed = state.removed + 1\nend\n" \
	"return state.removed < MOST_REMOVED\nend\n" \
	"local function note_queue(state, empty)\n" \
	"local queue = math.max(state.queue, PHASES)\n" \
	"if empty then\n" \
	"queue = 0\n" \
	"elseif state.phase then\n" \
	"queue = -math.min(state.phase, math.max(state.us, state.fence))\nend\n" \
	"if queue ~= state.queue then\n" \
	"if empty then\n" \
	"redis.call('ZREM', state.pool, '$queue')\n" \
	"else\n" \
	"redis.call('ZADD', state.pool, queue, '$queue')\nend\n" \
	"state.queue = queue\nend\nend\n" \
	"local function serve(state, me, ttl)\n" \
	"if state.queue == 0 then\n" \
	"return false\n" \
	"elseif state.queue <= PHASES then\n" \
	"reclaim(state)\nend\n" \
	"local count, going, empty = 2, state.removed < MOST_REMOVED, false\n" \
	"while going and not empty do\n" \
	"local names\n" \
	"names, empty = next_waiters(state, count)\n" \
	"for _, waiter in ipairs(names) do\n" \
	"going = serve_waiter(state, waiter, me, ttl)\n" \
	"if not going then\n" \
	"empty = false\n" \
	"break\nend\nend\n" \
	"count = 32\nend\n" \
	"note_queue(state, empty)\n" \
	"return state.grants > 0\nend\n"

#define DLOCK_LUA_SWAP \
	DLOCK_LUA_FENCING \
	DLOCK_LUA_FAILURE \
	"local function swap(lock, fence, old, new, least)\n" \
	"local holder, pttl = redis.call('GET', lock), redis.call('PTTL', lock)\n" \
	"if pttl < 1 or (holder ~= old and holder ~= new) then\n" \
	"return {0}\nend\n" \
	"if least == '0' then\n" \
	"least = clock()\nend\n" \
	"redis.call('SET', lock, new, 'PX', pttl)\n" \
	"local done, token = true, 0\n" \
	"if least ~= '' then\n" \
	"done, token = pcall(fencing_token, fence, least)\nend\n" \
	"if not done then\n" \
	"redis.call('SET', lock, holder, 'PX', pttl)\n" \
	"return failure(token)\nend\n" \
	"return {1, tonumber(token), pttl}\nend\n"

#define DLOCK_LUA_ACQUIRE \
	"local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]\n" \
	"local token, ttl, least = ARGV[1], ARGV[2], ARGV[3] or ''\n" \
	"local mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)\n" \
	"local queued = mine and redis.pcall('EXISTS', queue)\n" \
	"if queued == 0 and least == '' then\n" \
	"local counted = redis.pcall('INCR', fence)\n" \
	"if type(counted) == 'number' and counted > 1 then\n" \
	"return counted\nend\nend\n" \
	DLOCK_LUA_FENCING \
	"local function next_token()\n" \
	"return tonumber(fencing_token(fence, (least == '' or least == '0') and clock() or least))\nend\n" \
	"local done, reply = false, queued\n" \
	"if queued == 0 then\n" \
	"done, reply = pcall(next_token)\n" \
	"if done then\n" \
	"return reply\nend\nend\n" \
	"local unsettled = 0\n" \
	DLOCK_LUA_CONTEND

#define DLOCK_LUA_ACQUIRE_REPLICATED \
	"local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]\n" \
	"local token, ttl, least = ARGV[1], ARGV[2], ''\n" \
	"local mine, queued, counted = false\n" \
	"local function grant()\n" \
	"mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)\n" \
	"queued = mine and redis.pcall('EXISTS', queue)\n" \
	"counted = queued == 0 and redis.pcall('INCR', fence)\nend\n" \
	"local opened, longest = string.match(redis.call('GET', KEYS[5]) or '', '^(%x+) (%d+) %-')\n" \
	"local role = opened and tonumber(ARGV[3]) <= tonumber(longest) and redis.pcall('INFO', 'replication')\n" \
	"local settled = type(role) == 'string' and string.find(role, '\\nmaster_replid:' .. opened, 1, true)\n" \
	"if settled then\n" \
	"grant()\n" \
	"if type(counted) == 'number' and counted > 1 then\n" \
	"return counted\nend\nend\n" \
	DLOCK_LUA_ERA \
	"local unsettled, replid, settles = 0\n" \
	"if not settled then\n" \
	"unsettled, replid, settles = look_at_era(KEYS[5], ARGV[3], ARGV[4] ~= '-')\n" \
	"if unsettled == 0 then\n" \
	"grant()\nend\nend\n" \
	"local done, reply = false, queued\n" \
	DLOCK_LUA_FENCING \
	"local function next_token()\n" \
	"counted = counted or redis.call('INCR', fence)\n" \
	"if type(counted) == 'table' then\n" \
	"error(counted.err, 0)\nend\n" \
	"return counted > 1 and counted or tonumber(fencing_token(fence, clock()))\nend\n" \
	"if queued == 0 then\n" \
	"done, reply = pcall(next_token)\n" \
	"if done then\n" \
	"return reply\nend\nend\n" \
	DLOCK_LUA_CONTEND

#define DLOCK_LUA_CHECK \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PTTL', KEYS[1])\nend\n" \
	"return 0\n"

#define DLOCK_LUA_DROP \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\nend\n" \
	"return redis.call('DEL', KEYS[1])\n"

#define DLOCK_LUA_EXCHANGE \
	DLOCK_LUA_SWAP \
	"return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])\n"

#define DLOCK_LUA_EXCHANGE_REPLICATED \
	DLOCK_LUA_ERA \
	"local unsettled, replid, settles = look_at_era(KEYS[3], ARGV[4], ARGV[5] ~= '-')\n" \
	"if unsettled ~= 0 then\n" \
	"return {2, unsettled, replid, settles}\nend\n" \
	DLOCK_LUA_SWAP \
	"return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])\n"

#define DLOCK_LUA_EXTEND \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2])\nend\n" \
	"return 0\n"

#define DLOCK_LUA_KEEP \
	"local lock, ttl = KEYS[1], tonumber(ARGV[2])\n" \
	"local holder = redis.call('GET', lock)\n" \
	"if holder ~= ARGV[1] then\n" \
	"redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1)\n" \
	"return holder and 0 or 2\nend\n" \
	"if ttl > 0 then\n" \
	"redis.call('PEXPIRE', lock, ARGV[3] == '1' and ttl or math.max(ttl, redis.call('PTTL', lock)))\nend\n" \
	"return 1\n"

#define DLOCK_LUA_LEAVE \
	DLOCK_LUA_FENCING \
	DLOCK_LUA_HANDOVER \
	"local holder\n" \
	"local done, problem = pcall(function()\n" \
	"holder = value_of(KEYS[1])\n" \
	"forget(KEYS[3], KEYS[4], ARGV[1])\n" \
	"if not holder then\n" \
	"local grant = ARGV[2] ~= '0'\n" \
	"if not serve(KEYS[1], KEYS[3], KEYS[4], grant and KEYS[2], nil, take_first(KEYS[3], grant)) then\n" \
	"redis.call('DEL', KEYS[1])\nend\nend\n" \
	"end)\n" \
	"if not done then\n" \
	"if holder == false then\n" \
	"free(KEYS[1])\nend\n" \
	"return failure(problem)\nend\n" \
	"return holder == ARGV[1] and 1 or 0\n"

#define DLOCK_LUA_LOOK \
	DLOCK_LUA_ERA \
	"local counts = ARGV[2] ~= '-'\n" \
	"local left, id, settles, waited = look_at_era(KEYS[1], ARGV[1], counts, true)\n" \
	"local slots = string.match(redis.call('CLUSTER', 'NODES'), 'myself[^\\n]- connected([^\\n]*)')\n" \
	"local epoch = string.match(redis.call('CLUSTER', 'INFO'), 'cluster_current_epoch:(%d+)')\n" \
	"local copies = full_copies()\n" \
	"local server = id .. ' ' .. (counts and copies or '')\n" \
	"local state = redis.sha1hex(server .. ' ' .. epoch .. ' ' .. slots)\n" \
	"if redis.call('HGET', KEYS[2], 'server') ~= server then\n" \
	"redis.call('DEL', KEYS[2])\nend\n" \
	"local noted, since = string.match(redis.call('HGET', KEYS[2], 'state') or '', '^(%x+) (%d+)$')\n" \
	"local now = time()\n" \
	"local opened = redis.call('HGET', KEYS[2], ARGV[3])\n" \
	"if noted ~= state or tonumber(since) > now or opened and opened ~= ARGV[4] then\n" \
	"since = now\nend\n" \
	"redis.call('HSET', KEYS[2], 'server', server, 'state', string.format('%s %.0f', state, since), ARGV[3], ARGV[4])\n" \
	"if left >= 0 then\n" \
	"left = math.max(left, math.min(since + waited - now, tonumber(waited)))\nend\n" \
	"return {left, id, settles, waited, copies}\n"

#define DLOCK_LUA_PERMITS_ACQUIRE \
	"local known\n" \
	"if ARGV[3] == '' then\n" \
	"known = redis.call('ZMSCORE', KEYS[1], '$queue', 'h' .. ARGV[1], '$used', '$fence', '$until', '$stock', '$sold', 'b' .. string.match(ARGV[1], '^(.*)/'))\n" \
	"local pieces = tonumber(ARGV[2])\n" \
	"if ARGV[7] == '0' and not known[2] and not known[8] and tonumber(known[3] or 0) == 0 and pieces > (known[6] or 0) - (known[7] or 0)\n" \
	"and pieces <= (tonumber(ARGV[5]) or pieces) then\n" \
	"return {0, -1, -1, '0', 0}\nend\n" \
	"elseif ARGV[2] == '1' then\n" \
	"local pool, time = KEYS[1], redis.pcall('TIME')\n" \
	"local queue, used, fence, lasts = unpack(redis.call('ZMSCORE', pool, '$queue', '$used', '$fence', '$until'))\n" \
	"if not time.err and not queue and used and lasts and used + 1 <= tonumber(ARGV[3]) then\n" \
	"local us, ttl = time[1] * 1000000 + time[2], tonumber(ARGV[4])\n" \
	"local token, ends = math.max(us, 1 - fence), math.floor(us / 1000) + ttl\n" \
	"if us >= 1e15 and ends <= -lasts then\n" \
	"if redis.call('ZADD', pool, used + 1, '$used', -token, '$fence', ends, 'h' .. ARGV[1]) > 0 then\n" \
	"return {1, token, 1, ttl}\nend\n" \
	"redis.call('ZADD', pool, used, '$used')\n" \
	"return {1, token, tonumber(redis.call('ZSCORE', pool, 'w' .. ARGV[1]) or 1), ttl}\nend\nend\nend\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	"local unsettled, replid, settles = 0\n" \
	DLOCK_LUA_PERMITS_CONTEND

#define DLOCK_LUA_PERMITS_ACQUIRE_REPLICATED \
	DLOCK_LUA_ERA \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	"local known\n" \
	"local unsettled, replid, settles = look_at_era(KEYS[2], ARGV[10], ARGV[11] ~= '-')\n" \
	DLOCK_LUA_PERMITS_CONTEND

#define DLOCK_LUA_PERMITS_CHECK \
	DLOCK_LUA_PERMITS_CLOCK \
	"local SOLD = 1e13\n" \
	"local ends, permits = unpack(redis.call('ZMSCORE', KEYS[1], 'h' .. ARGV[1], 'w' .. ARGV[1]))\n" \
	"if not ends or tonumber(ends) >= SOLD then\n" \
	"return {-1, 0}\nend\n" \
	"return {math.max(0, ends - math.floor(clock(KEYS[1]) / 1000)), tonumber(permits or 1)}\n"

#define DLOCK_LUA_PERMITS_CONFIRM \
	DLOCK_LUA_PERMITS_CLOCK \
	"local SOLD = 1e13\n" \
	"local id, now, found, reply = ARGV[1], math.floor(clock(KEYS[1]) / 1000), {}, 2\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local ends, pieces, used, sold = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id, '$used', '$sold'))\n" \
	"if not ends then\n" \
	"return {0, i}\nend\n" \
	"found[i] = { ends = tonumber(ends), used = used - (pieces or 1), sold = (sold or 0) + (pieces or 1) }\nend\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local stock = found[i]\n" \
	"if stock.ends < SOLD then\n" \
	"reply = (stock.ends < now or reply == 3) and 3 or 1\n" \
	"redis.call('PERSIST', pool)\n" \
	"redis.call('ZADD', pool, stock.used, '$used', stock.sold, '$sold', SOLD + now, 'h' .. id)\nend\nend\n" \
	"return {reply, 0}\n"

#define DLOCK_LUA_PERMITS_COUNTS \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	"local pool = KEYS[1]\n" \
	"local used, stock, sold = unpack(redis.call('ZMSCORE', pool, '$used', '$stock', '$sold'))\n" \
	"used, sold = tonumber(used or 0), tonumber(sold or 0)\n" \
	"local over = 0\n" \
	"local ids = redis.call('ZRANGEBYSCORE', pool, HELD, string.format('(%.0f', math.floor(clock(pool) / 1000)))\n" \
	"for first = 1, #ids, 1000 do\n" \
	"local names = {}\n" \
	"for i = first, math.min(first + 999, #ids) do\n" \
	"names[#names + 1] = 'w' .. string.sub(ids[i], 2)\nend\n" \
	"for _, permits in ipairs(redis.call('ZMSCORE', pool, unpack(names))) do\n" \
	"over = over + (permits or 1)\nend\nend\n" \
	"local all = tonumber(ARGV[1]) or tonumber(stock or 0)\n" \
	"return {all, all - sold - used + over, used - over, sold, redis.call('ZCOUNT', pool, WAITS, '+inf')}\n"

#define DLOCK_LUA_PERMITS_DROP \
	"local pool, held = KEYS[1], 'h' .. ARGV[1]\n" \
	"local ends, permits, used = unpack(redis.call('ZMSCORE', pool, held, 'w' .. ARGV[1], '$used'))\n" \
	"if not ends or tonumber(ends) >= 1e13 then\n" \
	"return 0\nend\n" \
	"redis.call('ZREM', pool, held, 'w' .. ARGV[1])\n" \
	"redis.call('ZADD', pool, used - (permits or 1), '$used')\n" \
	"return 1\n"

#define DLOCK_LUA_PERMITS_EXCHANGE \
	DLOCK_LUA_PERMITS_CLOCK \
	"local SOLD = 1e13\n" \
	"local pool = KEYS[1]\n" \
	"local n = redis.call('ZMSCORE', pool, 'h' .. ARGV[1], 'h' .. ARGV[2], 'w' .. ARGV[1], 'w' .. ARGV[2], '$fence')\n" \
	"local now = clock(pool)\n" \
	"local ends, permits = tonumber(n[1] or n[2] or 0), n[1] and n[3] or n[4]\n" \
	"local left, fence = ends - math.floor(now / 1000), math.max(now, 1 - (n[5] or 0))\n" \
	"if left < 1 or ends >= SOLD then\n" \
	"return {0}\nend\n" \
	"if n[1] then\n" \
	"redis.call('ZREM', pool, 'h' .. ARGV[1], 'w' .. ARGV[1])\nend\n" \
	"redis.call('ZADD', pool, -fence, '$fence', ends, 'h' .. ARGV[2])\n" \
	"if permits then\n" \
	"redis.call('ZADD', pool, permits, 'w' .. ARGV[2])\nend\n" \
	"return {1, fence, left, tonumber(permits or 1)}\n"

#define DLOCK_LUA_PERMITS_EXCHANGE_REPLICATED \
	DLOCK_LUA_ERA \
	"local unsettled, replid, settles = look_at_era(KEYS[2], ARGV[3], ARGV[4] ~= '-')\n" \
	"if unsettled ~= 0 then\n" \
	"return {2, unsettled, replid, settles}\nend\n" \
	"if tonumber(redis.call('ZSCORE', KEYS[1], '$used') or 0) > tonumber(ARGV[5]) then\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"if not make_room(read(KEYS[1], clock(KEYS[1])), 0, ARGV[5]) then\n" \
	"return {0}\nend\nend\n" \
	DLOCK_LUA_PERMITS_EXCHANGE

#define DLOCK_LUA_PERMITS_KEEP \
	DLOCK_LUA_PERMITS_CLOCK \
	"local pool, held, ttl = KEYS[1], 'h' .. ARGV[1], tonumber(ARGV[2])\n" \
	"local ends, lasts = unpack(redis.call('ZMSCORE', pool, held, '$until'))\n" \
	"if not ends then\n" \
	"redis.call('ZREM', pool, '$none')\n" \
	"return 2\nend\n" \
	"if ttl > 0 then\n" \
	"local at = math.floor(clock(pool) / 1000) + ttl\n" \
	"if ARGV[3] == '0' then\n" \
	"at = math.max(at, ends)\nend\n" \
	"local last = math.max(at + math.min(ttl, 60000), -(lasts or 0))\n" \
	"redis.call('PEXPIREAT', pool, last)\n" \
	"redis.call('ZADD', pool, 'XX', -last, '$until', at, held)\nend\n" \
	"return 1\n"

#define DLOCK_LUA_PERMITS_LEAVE \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"redis.call('ZREM', KEYS[1], waiter_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]))\n" \
	"serve(read(KEYS[1], clock(KEYS[1])))\n" \
	"return redis.call('ZSCORE', KEYS[1], 'h' .. ARGV[1]) and 1 or 0\n"

#define DLOCK_LUA_PERMITS_RELEASE \
	"local held = 'h' .. ARGV[1]\n" \
	"if #KEYS == 1 and not ARGV[2] then\n" \
	"local pool = KEYS[1]\n" \
	"local queue, used, permits = unpack(redis.call('ZMSCORE', pool, '$queue', '$used', 'w' .. ARGV[1]))\n" \
	"if not queue and not string.find(held, '/', 1, true) then\n" \
	"if redis.call('ZREM', pool, held, permits and 'w' .. ARGV[1] or held) == 0 then\n" \
	"return 0\nend\n" \
	"redis.call('ZADD', pool, used - (permits or 1), '$used')\n" \
	"return 1\nend\nend\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local released, granted, now = 0, false, clock(KEYS[1])\n" \
	"if ARGV[2] then\n" \
	"redis.call('ZREM', KEYS[1], waiter_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]))\nend\n" \
	"for _, pool in ipairs(KEYS) do\n" \
	"local state = read(pool, now)\n" \
	"local ends, permits = unpack(redis.call('ZMSCORE', pool, held, 'w' .. ARGV[1]))\n" \
	"if ends and tonumber(ends) < SOLD then\n" \
	"drop(state, { ARGV[1] }, { permits })\n" \
	"released = 1\nend\n" \
	"granted = serve(state) or granted\nend\n" \
	"return granted and released == 1 and 2 or released\n"

#define DLOCK_LUA_PERMITS_RELEASE_REPLICATED \
	DLOCK_LUA_ERA \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local pool, id = KEYS[1], ARGV[1]\n" \
	"local state = read(pool, clock(pool))\n" \
	"local ends, permits = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))\n" \
	"local had = ends and tonumber(ends) < SOLD\n" \
	"if ARGV[3] then\n" \
	"redis.call('ZREM', pool, waiter_of(id, ARGV[3], ARGV[4], ARGV[5], ARGV[6]))\nend\n" \
	"if had then\n" \
	"drop(state, { id }, { permits })\nend\n" \
	"if state.queue ~= 0 and look_at_era(KEYS[2], ARGV[2]) ~= 0 then\n" \
	"note_queue(state, false)\n" \
	"elseif serve(state) and had then\n" \
	"return 2\nend\n" \
	"return had and 1 or 0\n"

#define DLOCK_LUA_PERMITS_RENEW \
	DLOCK_LUA_PERMITS_CLOCK \
	"local SOLD = 1e13\n" \
	"local pool, held, ttl = KEYS[1], 'h' .. ARGV[1], tonumber(ARGV[2])\n" \
	"local n = redis.call('ZMSCORE', pool, held, '$until', '$stock')\n" \
	"if not n[1] or tonumber(n[1]) >= SOLD then\n" \
	"return 0\nend\n" \
	"local ends, last = math.floor(clock(pool) / 1000) + ttl, -(n[2] or 0)\n" \
	"if n[3] then\n" \
	"redis.call('PERSIST', pool)\n" \
	"else\n" \
	"if last < ends then\n" \
	"last = ends + math.min(ttl, 60000)\nend\n" \
	"redis.call('PEXPIREAT', pool, last)\n" \
	"redis.call('ZADD', pool, 'XX', -last, '$until')\nend\n" \
	"redis.call('ZADD', pool, 'XX', ARGV[3] == '1' and math.max(ends, n[1]) or ends, held)\n" \
	"return 1\n"

#define DLOCK_LUA_PERMITS_RESERVE \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local id, ttl, limit, us = ARGV[1], tonumber(ARGV[2]), ARGV[3], clock(KEYS[1])\n" \
	"local buyer, states, fence, bought, reply = buyer_of(id), {}, 0, 0, {1, 0, 0, 0}\n" \
	"local function refused(state, i)\n" \
	"if not allowed(state, buyer, state.wants, limit) then\n" \
	"serve(state)\n" \
	"return {-1, i, tonumber(redis.call('ZSCORE', state.pool, 'b' .. buyer)), 0}\nend\n" \
	"serve(state)\n" \
	"if state.queue < 0 or not make_room(state, state.wants, '') then\n" \
	"return {0, i, 0, 0}\nend\nend\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local state = read(pool, us)\n" \
	"states[i] = state\n" \
	"local ends, pieces = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))\n" \
	"state.ends, state.wants = tonumber(ends or nil), tonumber(ARGV[3 + i])\n" \
	"reply[4 + i] = state.ends and tonumber(pieces or 1) or state.wants\n" \
	"if not state.ends then\n" \
	"local refusal = refused(state, i)\n" \
	"if refusal then\n" \
	"return refusal\nend\n" \
	"elseif state.ends >= SOLD then\n" \
	"bought = bought + 1\n" \
	"elseif state.ends >= state.now then\n" \
	"ttl = math.min(ttl, state.ends - state.now)\nend\n" \
	"fence = math.max(fence, next_token(state))\nend\n" \
	"if bought == #KEYS then\n" \
	"reply[1] = 2\n" \
	"return reply\nend\n" \
	"for _, state in ipairs(states) do\n" \
	"state.us = fence\n" \
	"if not state.ends then\n" \
	"take(state, id, state.wants, ttl, buyer)\n" \
	"else\n" \
	"redis.call('ZADD', state.pool, -fence, '$fence')\n" \
	"if state.ends < state.now then\n" \
	"redis.call('ZADD', state.pool, state.now + ttl, 'h' .. id)\nend\nend\nend\n" \
	"reply[2], reply[4] = fence, ttl\n" \
	"return reply\n"

#define DLOCK_LUA_PERMITS_RESTOCK \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local pool, change, name = KEYS[1], tonumber(ARGV[1]), ARGV[2] ~= '' and 'r' .. ARGV[2]\n" \
	"local state = read(pool, clock(pool))\n" \
	"local all, made = tonumber(state.stock or 0), name and redis.call('ZSCORE', pool, name)\n" \
	"if made then\n" \
	"return {tonumber(made), all}\nend\n" \
	"if change < 0 then\n" \
	"make_room(state, -change, '')\n" \
	"change = math.min(0, math.max(change, state.sold + state.used - all))\n" \
	"else\n" \
	"change = math.max(0, math.min(change, ALL - 1 - all))\nend\n" \
	"state.stock = all + change\n" \
	"redis.call('ZADD', pool, state.stock, '$stock')\n" \
	"if name then\n" \
	"redis.call('ZADD', pool, change, name)\nend\n" \
	"redis.call('ZREM', pool, '$until')\n" \
	"redis.call('PERSIST', pool)\n" \
	"serve(state)\n" \
	"return {change, state.stock}\n"

#define DLOCK_LUA_PERMITS_RESTORE \
	DLOCK_LUA_ERA \
	DLOCK_LUA_FORGED \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	"local pool, id, ttl, permits = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[5])\n" \
	"local state, ends = read(pool, clock(pool)), redis.call('ZSCORE', pool, 'h' .. id)\n" \
	"if not ends and look_at_era(KEYS[2], ARGV[4]) == 0 then\n" \
	"redis.call('SET', KEYS[2], redis.call('GET', KEYS[2]))\n" \
	"return 0\nend\n" \
	"state.fence = math.max(state.fence, tonumber(ARGV[3]))\n" \
	"if ttl == 0 then\n" \
	"if ends then\n" \
	"drop(state, { id }, { redis.call('ZSCORE', pool, 'w' .. id) })\nend\n" \
	"return 1\nend\n" \
	"local at = math.max(state.now + ttl, ends or 0)\n" \
	"if ends then\n" \
	"redis.call('ZADD', pool, -state.fence, '$fence', at, 'h' .. id)\n" \
	"else\n" \
	"hold(pool, id, permits, state.used, state.fence, at)\nend\n" \
	"keep(state, at)\n" \
	"return 1\n"

#define DLOCK_LUA_PERMITS_UNCHANGED \
	"local pool, id = KEYS[1], ARGV[1]\n" \
	"local ends, permits, used = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id, '$used'))\n" \
	"if not ends then\n" \
	"return 0\nend\n" \
	"local copies = string.match(redis.call('GET', KEYS[2]) or '', '^%x+ %d+ %-%d+ %d+ (%d+)$')\n" \
	"if copies and string.find(redis.call('INFO', 'stats'), '\\nsync_full:' .. copies .. '\\r', 1, true) then\n" \
	"return 1\nend\n" \
	DLOCK_LUA_ERA \
	"local unsettled, replid, settles = look_at_era(KEYS[2], ARGV[2], true, true)\n" \
	"if unsettled == 0 then\n" \
	"return 1\nend\n" \
	"redis.call('ZREM', pool, 'h' .. id, 'w' .. id)\n" \
	"if not ARGV[3] then\n" \
	"redis.call('ZADD', pool, used - (permits or 1), '$used')\n" \
	"elseif permits then\n" \
	"redis.call('ZADD', pool, ends, 'h' .. ARGV[3], permits, 'w' .. ARGV[3])\n" \
	"else\n" \
	"redis.call('ZADD', pool, ends, 'h' .. ARGV[3])\nend\n" \
	"return {unsettled, replid, settles}\n"

#define DLOCK_LUA_PUBLISH \
	"return redis.pcall('PUBLISH', ARGV[1], '')\n"

#define DLOCK_LUA_RAISE \
	DLOCK_LUA_FORGED \
	"if is_forged(ARGV[2]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\nend\n" \
	"raise_fence(KEYS[2], ARGV[2], redis.call('GET', KEYS[2]))\n" \
	"return 1\n"

#define DLOCK_LUA_RELEASE \
	"local lock, queue, grant = KEYS[1], KEYS[3], ARGV[2] ~= '0'\n" \
	"if ARGV[4] == '1' then\n" \
	"redis.pcall('ZREM', queue, ARGV[3])\n" \
	"redis.pcall('HDEL', KEYS[4], ARGV[3])\nend\n" \
	"if redis.call('GET', lock) ~= ARGV[1] then\n" \
	"return 0\nend\n" \
	"local queued = grant and redis.pcall('ZPOPMIN', queue) or redis.pcall('ZRANGE', queue, 0, 0)\n" \
	"if not queued[1] then\n" \
	"local deleted = redis.call('DEL', lock)\n" \
	"return queued.err and queued or deleted\nend\n" \
	DLOCK_LUA_FENCING \
	DLOCK_LUA_HANDOVER \
	"local done, told = pcall(function()\n" \
	"if not grant then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"local next = serve(lock, queue, KEYS[4], grant and KEYS[2], ARGV[3], queued[1], queued[2])\n" \
	"if grant and not next then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"return next\n" \
	"end)\n" \
	"if not done then\n" \
	"free(lock)\n" \
	"return failure(told)\nend\n" \
	"return told and 2 or 1\n"

#define DLOCK_LUA_RENEW \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\nend\n" \
	"if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then\n" \
	"redis.call('PEXPIRE', KEYS[1], ARGV[2])\nend\n" \
	"return 1\n"

#define DLOCK_LUA_REPAIR \
	DLOCK_LUA_FORGED \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	"local last = redis.call('GET', KEYS[2])\n" \
	"if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\nend\n" \
	"raise_fence(KEYS[2], ARGV[3], last)\n" \
	"return 1\n"

#define DLOCK_LUA_RESTORE \
	DLOCK_LUA_ERA \
	DLOCK_LUA_FORGED \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	"local lock, ttl = KEYS[1], tonumber(ARGV[2])\n" \
	"local holder = redis.call('GET', lock)\n" \
	"redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1)\n" \
	"if holder and holder ~= ARGV[1] or not holder and look_at_era(KEYS[3], ARGV[4]) == 0 then\n" \
	"local known = redis.call('GET', KEYS[3])\n" \
	"redis.call('SET', KEYS[3], known or '')\n" \
	"return 0\nend\n" \
	"if ttl == 0 then\n" \
	"redis.call('DEL', lock)\n" \
	"return 1\nend\n" \
	"redis.call('SET', lock, ARGV[1], 'PX', string.format('%.0f', math.max(ttl, redis.call('PTTL', lock))))\n" \
	"raise_fence(KEYS[2], ARGV[3], redis.call('GET', KEYS[2]))\n" \
	"return 1\n"

#define DLOCK_LUA_SETTLE \
	DLOCK_LUA_ERA \
	DLOCK_LUA_FENCING \
	"local UNHEARD = 1048576\n" \
	"local opened, longest, settles = read_era(KEYS[2])\n" \
	"if opened ~= ARGV[1] or string.sub(settles, 1, 1) ~= '0' or replication_id() ~= opened then\n" \
	"return 0\nend\n" \
	"local guard = math.max(longest, ARGV[2])\n" \
	"local left, waited = tonumber(ARGV[4] or guard), tonumber(ARGV[5] or guard)\n" \
	"if settles ~= ARGV[3] or waited < guard then\n" \
	"return 0\nend\n" \
	"local at = time() + left + 1\n" \
	"redis.call('SET', KEYS[2], string.format('%s %.0f %.0f %.0f %s', opened, guard, at, waited, ARGV[6] or full_copies()))\n" \
	"local last = tonumber(redis.call('GET', KEYS[1]) or 0)\n" \
	"local least = math.min(math.max(at * 1000, last + UNHEARD), MOST_PROPOSED)\n" \
	"if last < least then\n" \
	"redis.call('SET', KEYS[1], string.format('%.0f', least))\nend\n" \
	"return left + 1\n"

#define DLOCK_LUA_UNCHANGED \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\nend\n" \
	"local copies = string.match(redis.call('GET', KEYS[2]) or '', '^%x+ %d+ %-%d+ %d+ (%d+)$')\n" \
	"if copies and string.find(redis.call('INFO', 'stats'), '\\nsync_full:' .. copies .. '\\r', 1, true) then\n" \
	"return 1\nend\n" \
	DLOCK_LUA_ERA \
	"local unsettled, replid, settles = look_at_era(KEYS[2], ARGV[2], true, true)\n" \
	"if unsettled == 0 then\n" \
	"return 1\nend\n" \
	"if ARGV[3] then\n" \
	"redis.call('SET', KEYS[1], ARGV[3], 'PX', math.max(1, redis.call('PTTL', KEYS[1])))\n" \
	"else\n" \
	"redis.call('DEL', KEYS[1])\nend\n" \
	"return {unsettled, replid, settles}\n"
