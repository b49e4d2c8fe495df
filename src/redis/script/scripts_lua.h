/* Made from src/redis/script/lua by scripts/gen-lua.sh: change the scripts there. */

#define DLOCK_LUA_SCRIPTS(script) \
	script(ACQUIRE, "acquire", \
		"1ffec9704520274eaf0a0776bb0129e3bc64dcc3", DLOCK_LUA_ACQUIRE) \
	script(ACQUIRE_REPLICATED, "acquire_replicated", \
		"4931cfb7578a51664968a72d6dcce73a074560bb", DLOCK_LUA_ACQUIRE_REPLICATED) \
	script(BREAK, "break", \
		"9243742355a1540a5d280b22efa216afdb266eb6", DLOCK_LUA_BREAK) \
	script(CHECK, "check", \
		"856bcf98af659bd07190069636a9007682159036", DLOCK_LUA_CHECK) \
	script(DESCRIBE, "describe", \
		"d34734688332b687e974e4e0399f6e5a3f7cf523", DLOCK_LUA_DESCRIBE) \
	script(DROP, "drop", \
		"48c0af50f201920df7a01ac8a2e7a08fb556dfe1", DLOCK_LUA_DROP) \
	script(EPOCH_OF, "epoch_of", \
		"1343c592f35883def973b1314b34761377c5cf1a", DLOCK_LUA_EPOCH_OF) \
	script(EXCHANGE, "exchange", \
		"71f4e8c5ffa6e59025dbf0fa806624ca3e318696", DLOCK_LUA_EXCHANGE) \
	script(EXCHANGE_REPLICATED, "exchange_replicated", \
		"b6f8868e26683423d63162df329ded067ab03d79", DLOCK_LUA_EXCHANGE_REPLICATED) \
	script(EXTEND, "extend", \
		"16ebdef962b7604790808b70c6e41c9785770b46", DLOCK_LUA_EXTEND) \
	script(INSPECT, "inspect", \
		"04a8e1a8ee5d3174938d519785aa6af0761f399c", DLOCK_LUA_INSPECT) \
	script(KEEP, "keep", \
		"8bcef6cb56e5ef774eb8a6144dc98f695fddee38", DLOCK_LUA_KEEP) \
	script(LEAVE, "leave", \
		"8832a7d3a819434eb06d0d667b7ae1903397e52f", DLOCK_LUA_LEAVE) \
	script(PERMITS_ACQUIRE, "permits_acquire", \
		"ce77ffb2a70ec6d03fcfaa5ead18a08d9e1e90ea", DLOCK_LUA_PERMITS_ACQUIRE) \
	script(PERMITS_ACQUIRE_REPLICATED, "permits_acquire_replicated", \
		"8241d941c00cc9c1a0f612dd54b37a73bab91c24", DLOCK_LUA_PERMITS_ACQUIRE_REPLICATED) \
	script(PERMITS_BREAK, "permits_break", \
		"8772027cad95b189240feb95ae0063be41503e64", DLOCK_LUA_PERMITS_BREAK) \
	script(PERMITS_CHECK, "permits_check", \
		"82f53ff2dd47b0720828c902518134559a024a5b", DLOCK_LUA_PERMITS_CHECK) \
	script(PERMITS_COUNTS, "permits_counts", \
		"ec676233dbd2ac64b3a748fb47c65572447ac3fd", DLOCK_LUA_PERMITS_COUNTS) \
	script(PERMITS_DOWNGRADE, "permits_downgrade", \
		"532bf3ed1980a89996c8a43103d66a405f157421", DLOCK_LUA_PERMITS_DOWNGRADE) \
	script(PERMITS_DOWNGRADE_REPLICATED, "permits_downgrade_replicated", \
		"b68dc46a8ef5506d4c149f2a068bad858ee70712", DLOCK_LUA_PERMITS_DOWNGRADE_REPLICATED) \
	script(PERMITS_DROP, "permits_drop", \
		"6ecfa8b182a28d1ca1871b34824c24235dd5f1ca", DLOCK_LUA_PERMITS_DROP) \
	script(PERMITS_EXCHANGE, "permits_exchange", \
		"73a05b56a2bd3cc7de559d3073bd3b21963a1658", DLOCK_LUA_PERMITS_EXCHANGE) \
	script(PERMITS_EXCHANGE_REPLICATED, "permits_exchange_replicated", \
		"749258a40be36330cf7e9e3b7e0121654747e79a", DLOCK_LUA_PERMITS_EXCHANGE_REPLICATED) \
	script(PERMITS_INSPECT, "permits_inspect", \
		"97dc4b1abe4302e1d65ad6abf21f3bee571bd3dd", DLOCK_LUA_PERMITS_INSPECT) \
	script(PERMITS_KEEP, "permits_keep", \
		"7ecc5e5b2140e3ead89464ac234728b0f1e89797", DLOCK_LUA_PERMITS_KEEP) \
	script(PERMITS_LEAVE, "permits_leave", \
		"892de0d2d27863e4dbcf2cdbb72c2a82d94321d6", DLOCK_LUA_PERMITS_LEAVE) \
	script(PERMITS_RELEASE, "permits_release", \
		"1fbb51e66d3050f449838865608c4f4792b05d18", DLOCK_LUA_PERMITS_RELEASE) \
	script(PERMITS_RELEASE_REPLICATED, "permits_release_replicated", \
		"2df096eba6dc476fa66068ef7c1f0cd41d24450c", DLOCK_LUA_PERMITS_RELEASE_REPLICATED) \
	script(PERMITS_RENEW, "permits_renew", \
		"eb246b48bf0424ea5925979d46844aea93703ff4", DLOCK_LUA_PERMITS_RENEW) \
	script(PERMITS_RESTORE, "permits_restore", \
		"27f8204c737f2172b738cb0879f4c1db9fb9d8c2", DLOCK_LUA_PERMITS_RESTORE) \
	script(PERMITS_UNCHANGED, "permits_unchanged", \
		"57733778d76dfaca8c5a4d49a7b6d85addd3e986", DLOCK_LUA_PERMITS_UNCHANGED) \
	script(PERMITS_UPGRADE, "permits_upgrade", \
		"c03a76185cb794035cf563deda3a288d8c3abfc9", DLOCK_LUA_PERMITS_UPGRADE) \
	script(PERMITS_UPGRADE_REPLICATED, "permits_upgrade_replicated", \
		"57b799d21113b8d9d217b7c444ade10da8935334", DLOCK_LUA_PERMITS_UPGRADE_REPLICATED) \
	script(PUBLISH, "publish", \
		"1ceaff06537b0c06064de1d908f53807f12cbb1b", DLOCK_LUA_PUBLISH) \
	script(RAISE, "raise", \
		"947b394adcdd0b94a093d6e9642a1043ff37c5d9", DLOCK_LUA_RAISE) \
	script(RELEASE, "release", \
		"6340e23cd06bdc02fa9e17cc70956e9e04d1a229", DLOCK_LUA_RELEASE) \
	script(RENEW, "renew", \
		"b058e18b6c227e9a6006c15ab37f79891d029e4d", DLOCK_LUA_RENEW) \
	script(REPAIR, "repair", \
		"85d78dab4f409d25d2bd5b0741b394f56403f587", DLOCK_LUA_REPAIR) \
	script(RESTORE, "restore", \
		"130715f6804583516f6a6f498e59388465ad1b8b", DLOCK_LUA_RESTORE) \
	script(SEEN, "seen", \
		"4827eba487b0bd17fa8a9862f0014f651b986c49", DLOCK_LUA_SEEN) \
	script(SETTLE, "settle", \
		"abb7918aba08f6fbace7e0ba899e99e3350d60bd", DLOCK_LUA_SETTLE) \
	script(SETTLE_NOW, "settle_now", \
		"0e42d3197af586bdc9ef8a223fd37fb563387cb0", DLOCK_LUA_SETTLE_NOW) \
	script(SEVERAL_ACQUIRE, "several_acquire", \
		"69d387c37572e07a3df1a4c469dee69ac57e2c39", DLOCK_LUA_SEVERAL_ACQUIRE) \
	script(SEVERAL_ACQUIRE_REPLICATED, "several_acquire_replicated", \
		"b308c8010f4f2ac3acd4a6d60fd7885e42c02f2e", DLOCK_LUA_SEVERAL_ACQUIRE_REPLICATED) \
	script(SEVERAL_EXCHANGE, "several_exchange", \
		"344b3245fdbbf7ad5fc6f43fdf39a11e3c3f1429", DLOCK_LUA_SEVERAL_EXCHANGE) \
	script(SEVERAL_EXCHANGE_REPLICATED, "several_exchange_replicated", \
		"942b2b13c15655a00fda59a581181362b09026b9", DLOCK_LUA_SEVERAL_EXCHANGE_REPLICATED) \
	script(SEVERAL_KEEP, "several_keep", \
		"5ebec852d31d6278fbd1d30d3d46572fbec23856", DLOCK_LUA_SEVERAL_KEEP) \
	script(SEVERAL_KEEP_REPLICATED, "several_keep_replicated", \
		"d60461cc563da78dd63e1bfb26d1c53b1f59ef44", DLOCK_LUA_SEVERAL_KEEP_REPLICATED) \
	script(SEVERAL_LEAVE, "several_leave", \
		"8de01da7e57308c95ceac625a12730081892d7ad", DLOCK_LUA_SEVERAL_LEAVE) \
	script(SEVERAL_RAISE, "several_raise", \
		"6d3411f7f0ae77dd9f9e30bbc568e70f2c83c2a2", DLOCK_LUA_SEVERAL_RAISE) \
	script(SEVERAL_RELEASE, "several_release", \
		"722267d88ca7ed6b3c53ae33775ff69e354c999d", DLOCK_LUA_SEVERAL_RELEASE) \
	script(SEVERAL_REPAIR, "several_repair", \
		"9e3de3d952266a3868c1e72d7bc254b07e863ee0", DLOCK_LUA_SEVERAL_REPAIR) \
	script(SEVERAL_RESTORE, "several_restore", \
		"b8a5480140420a5e94d92742e76cbf0b7a9d10fc", DLOCK_LUA_SEVERAL_RESTORE) \
	script(SEVERAL_UNCHANGED, "several_unchanged", \
		"e9d834a23ce806565a8b3a49d9109c1edb7fcaf3", DLOCK_LUA_SEVERAL_UNCHANGED) \
	script(STOCK_BASKET, "stock_basket", \
		"4531a72161ac4a746fc8add9bc39cd8d322ebb6e", DLOCK_LUA_STOCK_BASKET) \
	script(STOCK_CANCEL, "stock_cancel", \
		"c28faeee382a16a99749bcee058798c0bc52fb5b", DLOCK_LUA_STOCK_CANCEL) \
	script(STOCK_CHANGE, "stock_change", \
		"46bae07a22522b23701048dcedda110ff08bbd93", DLOCK_LUA_STOCK_CHANGE) \
	script(STOCK_CONFIRM, "stock_confirm", \
		"3723651f67e6b9ac4bb18ae7494d570effe24a1f", DLOCK_LUA_STOCK_CONFIRM) \
	script(STOCK_COUNTS, "stock_counts", \
		"286da46a7c5ac6bbd309fddfc2ee7cd980d61976", DLOCK_LUA_STOCK_COUNTS) \
	script(STOCK_EXTEND, "stock_extend", \
		"d41c820265b1a71a4964f5b39359c4c97f15312f", DLOCK_LUA_STOCK_EXTEND) \
	script(STOCK_LEAVE, "stock_leave", \
		"df2a8f19c469353595c39fb0afd458fe722bd279", DLOCK_LUA_STOCK_LEAVE) \
	script(STOCK_LINEAGE, "stock_lineage", \
		"5528ac6aac62edb4404445dae94407d50b2a46b3", DLOCK_LUA_STOCK_LINEAGE) \
	script(STOCK_ORDERS, "stock_orders", \
		"5b97d19e6d0b15ef7ab16fb7ffb31c2e52ddd39d", DLOCK_LUA_STOCK_ORDERS) \
	script(STOCK_REFUND, "stock_refund", \
		"71d9db7163c40d76dcc99ae743b7368d7584f944", DLOCK_LUA_STOCK_REFUND) \
	script(STOCK_RESERVE, "stock_reserve", \
		"3ea90efbcf13d6fe1e9335c5821a6f3b423f6bb7", DLOCK_LUA_STOCK_RESERVE) \
	script(STOCK_RESTOCK, "stock_restock", \
		"3571c88685b996eeaf9c2731d5191a2d6beed15e", DLOCK_LUA_STOCK_RESTOCK) \
	script(STOCK_SALE, "stock_sale", \
		"686cc57e09caa35bc1b858c31a9d809e9a619b4e", DLOCK_LUA_STOCK_SALE) \
	script(STOCK_STATUS, "stock_status", \
		"40694be62febc45b10ff3021bac6e3c605c4dc73", DLOCK_LUA_STOCK_STATUS) \
	script(UNCHANGED, "unchanged", \
		"1733b9fcbf45882828288b270a16c758fef5aadf", DLOCK_LUA_UNCHANGED)

#define DLOCK_LUA_ATTACHED \
	"local full, partial = string.match(redis.call('GET', epoch) or '', '^%x+ %d+ %-%d+ %d+ (%d+) (%d+) ')\n" \
	"if full and string.find(redis.call('INFO', 'stats'),\n" \
	"'\\nsync_full:' .. full .. '\\r\\nsync_partial_ok:' .. partial .. '\\r', 1, true) then\n" \
	"return 1\nend\n" \
	DLOCK_LUA_EPOCH \
	"local unsettled, replid, settles = check_epoch(epoch, ARGV[2], true, ARGV[4] == '1')\n" \
	"if unsettled == 0 then\n" \
	"local _, _, _, _, attached = read_epoch(epoch)\n" \
	"return attached == attached_until_now() and 1 or {-2, replid, settles}\nend\n"

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
	DLOCK_LUA_NOTE_SEEN \
	"local waiters, grant, inbox, ticket = KEYS[4], ARGV[4] ~= '0', ARGV[5] or '', ARGV[6] or ''\n" \
	"local waiter = (ARGV[8] or '') == '' and token or ARGV[8]\n" \
	DLOCK_LUA_NEXT_TICKET \
	"local function enter(queue, waiters, waiter, ticket, checks)\n" \
	"if checks then\n" \
	"forget(queue, waiters, waiter)\nend\n" \
	"return redis.call('ZADD', queue, 'NX', ticket, waiter)\nend\n" \
	DLOCK_LUA_REFUSAL \
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
	"local first, more = serve(lock, queue, waiters, grant and fence, waiter, true, take_first(queue, grant))\n" \
	"unsearched = more\n" \
	"if not more and (not first or first == waiter) then\n" \
	"forget(queue, waiters, waiter)\n" \
	"if grant then\n" \
	"redis.call('SET', lock, token, 'PX', ttl)\nend\n" \
	"if ticket ~= '' then\n" \
	"wake(queue, waiters)\nend\n" \
	"else\n" \
	"if not grant or more then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"mine, emptied = false, true\n" \
	"if grant then\n" \
	"wake(queue, waiters)\nend\n" \
	"if inbox == '' then\n" \
	"forget(queue, waiters, waiter)\nend\nend\n" \
	"elseif holder == token and unsettled == 0 then\n" \
	"mine = true\n" \
	"redis.call('PEXPIRE', lock, ttl)\n" \
	"elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then\n" \
	"return holder\nend\n" \
	"if mine then\n" \
	"return next_token()\nend\n" \
	"local pttl = redis.call('PTTL', lock)\n" \
	"if unsettled > 0 and (pttl == -2 or holder == token) then\n" \
	"pttl = 0\nend\n" \
	"pttl = unsearched and 0 or pttl == -2 and GRACE or others and -1 or pttl\n" \
	"if inbox == '' then\n" \
	"return refusal(pttl, -1, not grant and ticket == '' and next_ticket(queue, fence) or '0', 0)\nend\n" \
	"local now, left = clock(waiters), redis.call('PTTL', queue)\n" \
	"local new = enter(queue, waiters, waiter, ticket == '' and now or ticket, left == -2)\n" \
	"note(waiters, waiter, now, '0', ARGV[7], inbox)\n" \
	"if emptied or left < FORGET / 2 then\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"note_seen(string.gsub(fence, '^dlock:fence', 'dlock:seen'), lock, now / 1000, FORGET)\nend\n" \
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

#define DLOCK_LUA_EPOCH \
	"local function info(section)\n" \
	"local text = redis.pcall('INFO', section)\n" \
	"if type(text) == 'table' then\n" \
	"error('INFO: ' .. text.err, 0) -- the server's own words do not name it\nend\n" \
	"return text\nend\n" \
	"local function field(text, name)\n" \
	"local _, last = string.find(text, '\\n' .. name .. ':', 1, true)\n" \
	"return last and string.match(text, '^%x+', last + 1)\nend\n" \
	"local function attached_until_now()\n" \
	"local stats = info('stats')\n" \
	"return (field(stats, 'sync_full') or '0') .. ' ' .. (field(stats, 'sync_partial_ok') or '0')\nend\n" \
	"local function full(attached)\n" \
	"return string.match(attached, '^%d+')\nend\n" \
	"local function read_epoch(epoch)\n" \
	"return string.match(redis.call('GET', epoch) or '',\n" \
	"'^(%x+) (%d+) (%-?%d+) (%d+) (%d+ %d+) (%d*) (%d*) (%d*)$')\nend\n" \
	"local function write_epoch(epoch, ...)\n" \
	"redis.call('SET', epoch, table.concat({...}, ' '))\nend\n" \
	"local function time()\n" \
	"local now = redis.call('TIME')\n" \
	"return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])\nend\n" \
	"local FAR = 262144\n" \
	"local function check_epoch(epoch, guard, counts, doubts)\n" \
	"local role = info('replication')\n" \
	"local id = field(role, 'master_replid')\n" \
	"local opened, longest, settles, waited, attached, base, seen, skew = read_epoch(epoch)\n" \
	"local longer = not longest or tonumber(guard) > tonumber(longest)\n" \
	"local settled = opened == id and not longer and string.sub(settles, 1, 1) == '-'\n" \
	"guard = longer and guard or longest\n" \
	"if settled then\n" \
	"local offset = field(role, 'master_repl_offset')\n" \
	"local is_far = seen ~= '' and offset - seen > FAR\n" \
	"local until_now = (doubts and counts or is_far) and attached_until_now() or attached\n" \
	"local unchanged = attached == until_now or doubts == 'full' and full(attached) == full(until_now)\n" \
	"if is_far and attached == until_now then\n" \
	"seen = offset\n" \
	"write_epoch(epoch, id, guard, settles, waited, attached, base, seen, skew)\nend\n" \
	"if unchanged or not (doubts and counts) then\n" \
	"return 0, id, settles .. '/' .. seen, waited\nend\nend\n" \
	"local left, now, us = -1, time()\n" \
	"seen = (opened == id or opened == field(role, 'master_replid2')) and not longer and seen or ''\n" \
	"if opened ~= id or settled\n" \
	"or counts and string.sub(settles, 1, 1) ~= '0' and full(attached) ~= full(attached_until_now()) then\n" \
	"settles, waited, attached, base, skew = '0' .. us, '0', attached_until_now(), '', seen ~= '' and skew or ''\n" \
	"elseif string.sub(settles, 1, 1) ~= '0' then\n" \
	"local at = math.abs(settles) + math.max(0, guard - waited)\n" \
	"left = math.max(0, math.min(at - now, guard))\n" \
	"base = longer and '' or base\n" \
	"seen = left == 0 and base or seen\n" \
	"longer = longer or at - now > tonumber(guard)\n" \
	"settles = string.format('%.0f', left == 0 and -at or now + left)\n" \
	"waited = string.format('%.0f', math.max(guard, waited))\nend\n" \
	"if left <= 0 or longer then\n" \
	"write_epoch(epoch, id, guard, settles, waited, attached, base, seen, skew)\nend\n" \
	"return left, id, settles .. '/' .. seen, waited\nend\n"

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
	"local ASLEEP = 4000000000000000\n" \
	"local function is_for_several(waiter)\n" \
	"return string.byte(waiter) == 42 -- '*'\nend\n" \
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
	"return unpack(grant and redis.call('ZPOPMIN', queue) or redis.call('ZRANGE', queue, 0, 0, " \
	"'WITHSCORES'))\nend\n" \
	"local function put_back(queue, waiters, waiter, ticket, sign, number, inbox)\n" \
	"redis.call('ZADD', queue, ticket, waiter)\n" \
	"note(waiters, waiter, sign, '0', number, inbox)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\nend\n" \
	"local function reach(queue, waiters, waiter, quietly)\n" \
	"local now, state = clock(waiters), redis.call('HGET', waiters, waiter) or ''\n" \
	"local sign, told, number, inbox = string.match(state, '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live = sign and now - sign < STALE and (told == '0' or now - told < GRACE * 1000)\n" \
	"if live and told == '0' and not quietly then\n" \
	"local receivers = redis.pcall('PUBLISH', string.match(inbox, '^%S*'), waiter)\n" \
	"if type(receivers) == 'number' then\n" \
	"live = receivers > 0\n" \
	"if live then\n" \
	"note(waiters, waiter, sign, now, number, inbox)\nend\nend\nend\n" \
	"if not live then\n" \
	"forget(queue, waiters, waiter)\nend\n" \
	"return live\nend\n" \
	"local function wake(queue, waiters, self)\n" \
	"local last, score = unpack(redis.pcall('ZRANGE', queue, -1, -1, 'WITHSCORES'))\n" \
	"while last and is_for_several(last) and tonumber(score) >= ASLEEP do\n" \
	"local asleep = redis.pcall('ZRANGEBYSCORE', queue, ASLEEP, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)\n" \
	"local first = asleep[1]\n" \
	"local before = first and redis.pcall('ZCOUNT', queue, '-inf', string.format('(%.0f', asleep[2] - ASLEEP))\n" \
	"if before ~= 0 or first == self or reach(queue, waiters, first) then\n" \
	"return\nend\nend\nend\n" \
	"local function serve(lock, queue, waiters, fence, self, quietly, first, ticket)\n" \
	"local now, dead\n" \
	"while first and first ~= self do\n" \
	"now = now or clock(waiters)\n" \
	"if is_for_several(first) and fence then\n" \
	"redis.call('ZADD', queue, ticket, first)\n" \
	"redis.call('PEXPIRE', queue, FORGET)\nend\n" \
	"if is_for_several(first) and tonumber(ticket) >= ASLEEP then\n" \
	"return nil\n" \
	"elseif is_for_several(first) and reach(queue, waiters, first, quietly) then\n" \
	"if fence then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"return first\nend\n" \
	"local state = redis.call('HGET', waiters, first) or ''\n" \
	"local sign, told, number, inbox = string.match(state, '^(%d+) (%d+) (%d+) (.*)$')\n" \
	"local live, channel = sign and now - sign < STALE, string.match(inbox or '', '^%S*')\n" \
	"if live and fence then\n" \
	"redis.call('HDEL', waiters, first)\n" \
	"redis.call('SET', lock, first, 'PX', GRACE)\n" \
	"local token = fencing_token(fence, now)\n" \
	"local receivers = redis.pcall('PUBLISH', channel, first .. ' ' .. number .. ' ' .. token)\n" \
	"if type(receivers) == 'table' then\n" \
	"return put_back(queue, waiters, first, ticket, sign, number, inbox)\n" \
	"elseif receivers > 0 then\n" \
	"return first\nend\n" \
	"else\n" \
	"local receivers = live and (told == '0' or now - told < GRACE * 1000)\n" \
	"and redis.pcall('PUBLISH', channel, first) or 0\n" \
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

#define DLOCK_LUA_ID \
	"local function id_of(value)\n" \
	"local digits = string.match(value, '^9999999999:(.*)$') or string.match(value, '^%*(.*)$') or value\n" \
	"if #digits == 44 and not string.find(digits, '[^0-9a-f]') then\n" \
	"return string.sub(digits, 1, 24)\nend\n" \
	"return 'x' .. string.sub(redis.sha1hex(value), 1, 23)\nend\n"

#define DLOCK_LUA_NEXT_TICKET \
	"local function next_ticket(queue, fence)\n" \
	"local name, score = unpack(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES'))\n" \
	"local last = tonumber(score) or 0\n" \
	"if name and is_for_several(name) and last >= ASLEEP then\n" \
	"local others = redis.pcall('ZCOUNT', queue, '-inf', string.format('(%.0f', ASLEEP))\n" \
	"others = type(others) == 'number' and others or 0\n" \
	"local other = others > 0 and redis.call('ZRANGE', queue, others - 1, others - 1, 'WITHSCORES')[2]\n" \
	"last = math.max(last - ASLEEP, tonumber(other or 0))\nend\n" \
	"local given = tonumber(redis.call('GET', fence) or 0) or 0\n" \
	"local largest = given > last and given < 9007199254740991 and given or last\n" \
	"return string.format('%.0f', math.min(largest + 1, 9007199254740991))\nend\n"

#define DLOCK_LUA_NOTE_SEEN \
	"local function note_seen(seen, lock, now, lasts)\n" \
	"local until_then = redis.pcall('ZSCORE', seen, lock)\n" \
	"if type(until_then) == 'table' or tonumber(until_then or 0) >= now + lasts / 2 then\n" \
	"return\nend\n" \
	"local added, left = redis.pcall('ZADD', seen, string.format('%.0f', now + lasts), lock), redis.pcall('PTTL', " \
	"seen)\n" \
	"if type(left) == 'number' and left < lasts then\n" \
	"redis.pcall('PEXPIRE', seen, string.format('%.0f', 2 * lasts))\nend\n" \
	"if added ~= 1 then\n" \
	"return\nend\n" \
	"local first = redis.pcall('ZRANGE', seen, 0, 9, 'WITHSCORES')\n" \
	"for i = 2, #first, 2 do\n" \
	"if tonumber(first[i]) < now then\n" \
	"redis.pcall('ZREM', seen, first[i - 1])\nend\nend\nend\n"

#define DLOCK_LUA_PERMITS_BECOME_READER \
	"local pool, id, ttl = KEYS[1], ARGV[1], tonumber(ARGV[2])\n" \
	"local state = read(pool, clock(pool))\n" \
	"state.replicated = replicated\n" \
	"local ends, permits = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))\n" \
	"if not ends or tonumber(ends) < state.now then\n" \
	"return 0\nend\n" \
	"if permits then\n" \
	"redis.call('ZREM', pool, 'w' .. id)\n" \
	"state.used, state.phase = state.used - permits + 1, ALONE\nend\n" \
	"redis.call('ZADD', pool, state.used, '$used', math.max(ends, state.now + ttl), 'h' .. id)\n" \
	"keep(state, state.now + ttl)\n" \
	"if permits and state.queue ~= 0 and is_unsettled() then\n" \
	"note_queue(state, false)\n" \
	"return 1\nend\n" \
	"return permits and serve(state) and 2 or 1\n"

#define DLOCK_LUA_PERMITS_BECOME_WRITER \
	"local pool, id, ttl, rest = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]\n" \
	"local state = read(pool, clock(pool))\n" \
	"state.replicated = replicated\n" \
	"local ends, permits, others = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id, 'w' .. (rest or '')))\n" \
	"if not ends or tonumber(ends) < state.now then\n" \
	"if others then\n" \
	"drop(state, { rest }, { others })\n" \
	"serve(state)\nend\n" \
	"return {0, -1, -3, '0', 0}\nend\n" \
	"if tonumber(permits or 1) < ALL then\n" \
	"if others then\n" \
	"redis.call('ZREM', pool, 'h' .. rest, 'w' .. rest)\n" \
	"elseif make_room(state, ALL - 1, ALL) then\n" \
	"state.used = state.used + ALL - 1\n" \
	"else\n" \
	"return {0, -1, -1, '0', 0}\nend\nend\n" \
	"state.fence = next_token(state)\n" \
	"redis.call('ZADD', pool, state.used, '$used', -state.fence, '$fence', math.max(ends, state.now + ttl), 'h' " \
	".. id, ALL,\n" \
	"'w' .. id)\n" \
	"keep(state, state.now + ttl)\n" \
	"return {1, state.fence, ALL, ttl}\n"

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
	"local pool, id, permits, capacity, inbox, ticket = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), " \
	"ARGV[5],\n" \
	"ARGV[6]\n" \
	"local upgrades = permits == ALL - 1 and capacity >= ALL\n" \
	"local us, ttl, alone = clock(pool), tonumber(ARGV[4]), (permits >= ALL or upgrades) and ARGV[8] ~= '1'\n" \
	"local now = math.floor(us / 1000)\n" \
	"local queue, held, used, fence, lasts, most = unpack(redis.call('ZMSCORE', pool, '$queue', 'h' .. id, " \
	"'$used', '$fence',\n" \
	"'$until', '$most'))\n" \
	"if not lasts and redis.call('ZSCORE', pool, '$stock') then\n" \
	"return redis.error_reply('WRONGTYPE the key is that of a stock')\nend\n" \
	"local fits = (used or 0) + permits <= capacity\n" \
	"local token = math.max(us, 1 - (fence or 0))\n" \
	"sweeps = sweeps or token % SWEEPS == 0\n" \
	"if replid and held and (unsettled ~= 0 or tonumber(used) > tonumber(redis.call('ZSCORE', pool, '$cap')\n" \
	"or capacity)) then\n" \
	"local count = redis.call('ZSCORE', pool, 'w' .. id) or 1\n" \
	"redis.call('ZREM', pool, 'h' .. id, 'w' .. id)\n" \
	"used, held = used - count, nil\n" \
	"redis.call('ZADD', pool, used, '$used')\n" \
	"fits = used + permits <= capacity\nend\n" \
	"if unsettled == 0 and fits and not queue and not held and not sweeps then\n" \
	"hold(pool, id, permits, used or 0, token, now + ttl)\n" \
	"if replid then\n" \
	"redis.call('ZADD', pool, capacity, '$cap')\nend\n" \
	"if now + ttl > -(lasts or 0) then\n" \
	"last_until(pool, now, token, now + ttl)\nend\n" \
	"return {1, token, permits, ttl}\nend\n" \
	"local function enqueue(token)\n" \
	"local waiter, signs = waiter_of(id, ARGV[2], ARGV[3], inbox)\n" \
	"local place = upgrades and WAITS or ticket == '0' and token or tonumber(ticket)\n" \
	"local added = redis.call('ZADD', pool, 'LT', alone and place + ALONE - WAITS or place, waiter,\n" \
	"-now * 1000 - ARGV[7] % 1000, signs, alone and PHASES or QUEUED, '$queue', -token, '$fence')\n" \
	"if capacity > tonumber(most or 0) then\n" \
	"most = capacity\n" \
	"redis.call('ZADD', pool, most, '$most')\nend\n" \
	"return waiter, added > 1\nend\n" \
	"local function first_end(used)\n" \
	"return tonumber(used or 0) > 0 and tonumber(redis.call('ZRANGEBYSCORE', pool, HELD, '(1e13', 'WITHSCORES', " \
	"'LIMIT',\n" \
	"0, 1)[2]) or nil\nend\n" \
	"local function refusal(ends, waiter, new)\n" \
	"local left = ends and math.max(0, ends - now) + 1 or -1\n" \
	"if not waiter then\n" \
	"return {0, left, -1, '0', 0}\nend\n" \
	"local place = redis.call('ZSCORE', pool, waiter)\n" \
	"return {0, left, redis.call('ZCOUNT', pool, WAITS, '(' .. place), string.format('%.0f', alone\n" \
	"and place - ALONE + WAITS or place), new and 1 or 0}\nend\n" \
	"local function wait_for_epoch()\n" \
	"local waiter, new = nil, false\n" \
	"if inbox ~= '' then\n" \
	"waiter, new = enqueue(token)\n" \
	"if now + FORGET > -(lasts or 0) then\n" \
	"last_until(pool, now, token, now + FORGET)\nend\nend\n" \
	"local reply = refusal(nil, waiter, new)\n" \
	"reply[2], reply[6], reply[7], reply[8] = unsettled, unsettled, replid, settles\n" \
	"return reply\nend\n" \
	"if unsettled ~= 0 then\n" \
	"return wait_for_epoch()\nend\n" \
	"if ticket == '0' and not held and not fits and not own and not upgrades then\n" \
	"local ends = first_end(used)\n" \
	"if not ends or ends >= now then\n" \
	"if inbox == '' then\n" \
	"return refusal(ends)\nend\n" \
	"local waiter, new = enqueue(token)\n" \
	"if now + FORGET > -(lasts or 0) then\n" \
	"last_until(pool, now, token, now + FORGET)\nend\n" \
	"return refusal(ends, waiter, new)\nend\nend\n" \
	DLOCK_LUA_PERMITS_QUEUE \
	"local state = state_of(pool, us, used, fence, queue, lasts, most)\n" \
	"state.replicated = replid\n" \
	"if sweeps and take_back(state, now - GRACE, SWEPT) > 0 then\n" \
	"held = redis.call('ZSCORE', pool, 'h' .. id)\nend\n" \
	"local waiter, new = nil, false\n" \
	"local function is_second_upgrade()\n" \
	"local own = waiter_of(id, ARGV[2], ARGV[3], inbox)\n" \
	"for _, place in ipairs({WAITS, ALONE}) do\n" \
	"for _, other in ipairs(redis.call('ZRANGEBYSCORE', pool, place, place)) do\n" \
	"local sign = redis.call('ZSCORE', pool, 's' .. string.sub(other, 2))\n" \
	"if other ~= own and now - math.floor(-(sign or 0) / 1000) < STALE\n" \
	"and listens(string.match(other, '^q%d+ %d+ %S+ (%S*)')) then\n" \
	"return true\nend\nend\nend\n" \
	"return false\nend\n" \
	"if upgrades and inbox ~= '' and not held and is_second_upgrade() then\n" \
	"return {0, -1, -2, ticket, 0}\nend\n" \
	"local function wait()\n" \
	"if ticket == '0' then\n" \
	"state.fence = next_token(state)\nend\n" \
	"waiter, new = enqueue(state.fence)\n" \
	"state.queue, state.most = math.min(state.queue, alone and PHASES or QUEUED), tonumber(most)\n" \
	"keep(state, now + FORGET)\nend\n" \
	"local function permits_of()\n" \
	"return tonumber(redis.call('ZSCORE', pool, 'w' .. id) or 1)\nend\n" \
	"local function settled(held)\n" \
	"if not held then\n" \
	"return nil\nend\n" \
	"state.fence = next_token(state)\n" \
	"redis.call('ZADD', pool, -state.fence, '$fence', now + ttl, 'h' .. id)\n" \
	"keep(state, now + ttl)\n" \
	"if inbox ~= '' then\n" \
	"redis.call('ZREM', pool, waiter_of(id, ARGV[2], ARGV[3], inbox))\nend\n" \
	"local reply = {1, state.fence, permits_of(), ttl}\n" \
	"serve(state)\n" \
	"return reply\nend\n" \
	"local function is_behind_itself()\n" \
	"local place = redis.call('ZSCORE', pool, waiter)\n" \
	"local others = redis.call('ZRANGEBYSCORE', pool, ALONE, '+inf', 'LIMIT', 0, 1)\n" \
	"if #others == 0 then\n" \
	"others = redis.call('ZRANGEBYSCORE', pool, WAITS, '(' .. place, 'LIMIT', 0, PASSED)\nend\n" \
	"for _, other in ipairs(others) do\n" \
	"local wants, most, _, inbox = string.match(other, '^q(%d+) (%d+) (%S+) (%S*)')\n" \
	"local free = other ~= waiter and tonumber(wants) == ALL - 1 and ALL - 2 or most - own\n" \
	"if tonumber(most) >= capacity and tonumber(wants) > free and listens(inbox) then\n" \
	"return true\nend\nend\n" \
	"return false\nend\n" \
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
	"elseif (state.queue == 0 or is_passing(state, capacity)) and make_room(state, permits, capacity) then\n" \
	"return {1, take(state, id, permits, ttl, capacity), permits, ttl}\n" \
	"elseif inbox ~= '' and not waiter then\n" \
	"wait()\nend\n" \
	"reply = refusal(first_end(state.used), waiter, new)\n" \
	"if own and waiter and is_behind_itself() then\n" \
	"reply[3] = -2\nend\n" \
	"if state.removed >= MOST_REMOVED then\n" \
	"reply[2], reply[3] = 0, math.min(reply[3], 0)\nend\n" \
	"return reply\n"

#define DLOCK_LUA_PERMITS_POOL \
	"local HELD, WAITS, ALONE = 1e11, 1e15, 5e15\n" \
	"local QUEUED, PHASES = -1, -2\n" \
	"local ALL = 1000000000\n" \
	"local STALE, GRACE, FORGET = 3000, 3000, 60000\n" \
	"local SWEEPS, SWEPT = 16, 64\n" \
	"local function hold(pool, id, permits, used, fence, ends)\n" \
	"if permits == 1 then\n" \
	"redis.call('ZADD', pool, used + 1, '$used', -fence, '$fence', ends, 'h' .. id)\n" \
	"else\n" \
	"redis.call('ZADD', pool, used + permits, '$used', -fence, '$fence', ends, 'h' .. id, permits, 'w' .. " \
	"id)\nend\nend\n" \
	"local function last_until(pool, now, fence, ends)\n" \
	"local last = math.max(ends + math.min(ends - now, FORGET), math.ceil(fence / 1000))\n" \
	"redis.call('ZADD', pool, -last, '$until')\n" \
	"redis.call('PEXPIREAT', pool, last)\nend\n" \
	"local function waiter_of(id, permits, capacity, inbox)\n" \
	"local waiter = permits .. ' ' .. capacity .. ' ' .. id .. ' ' .. inbox\n" \
	"return 'q' .. waiter, 's' .. waiter\nend\n"

#define DLOCK_LUA_PERMITS_QUEUE \
	"local CHUNK = 100\n" \
	"local BATCH = 100\n" \
	"local MOST_REMOVED = 100\n" \
	"local PASSED, FAR = 32, 1000\n" \
	"local function state_of(pool, us, used, fence, queue, lasts, most)\n" \
	"queue = tonumber(queue or 0)\n" \
	"return { pool = pool, us = us, now = math.floor(us / 1000), used = tonumber(used or 0), fence = -(fence or " \
	"0),\n" \
	"queue = queue,\n" \
	"phase = queue < PHASES and -queue, lasts = -(lasts or 0), most = tonumber(most or math.huge), blocked = 0,\n" \
	"passed = 0, grants = 0, removed = 0 }\nend\n" \
	"local function read(pool, us)\n" \
	"return state_of(pool, us, unpack(redis.call('ZMSCORE', pool, '$used', '$fence', '$queue', '$until', " \
	"'$most')))\nend\n" \
	"local function next_token(state)\n" \
	"return math.max(state.us, state.fence + 1)\nend\n" \
	"local function keep(state, ends)\n" \
	"if ends > state.lasts then\n" \
	"last_until(state.pool, state.now, state.fence, ends)\n" \
	"state.lasts = ends\nend\nend\n" \
	"local function drop(state, ids, permits)\n" \
	"local names, freed, writer = {}, 0, false\n" \
	"for i, id in ipairs(ids) do\n" \
	"local count = tonumber(permits[i] or 1)\n" \
	"freed, writer = freed + count, writer or count >= ALL\n" \
	"names[#names + 1] = 'h' .. id\n" \
	"names[#names + 1] = 'w' .. id\nend\n" \
	"redis.call('ZREM', state.pool, unpack(names))\n" \
	"state.used = state.used - freed\n" \
	"redis.call('ZADD', state.pool, state.used, '$used')\n" \
	"if writer then\n" \
	"state.phase = ALONE -- a writer is out: the readers' turn, of all that wait\nend\nend\n" \
	"local function take_back(state, before, most)\n" \
	"local ids, names = redis.call('ZRANGEBYSCORE', state.pool, HELD, string.format('(%.0f', before), 'LIMIT', 0, " \
	"most),\n" \
	"{}\n" \
	"if #ids > 0 then\n" \
	"for i, held in ipairs(ids) do\n" \
	"ids[i] = string.sub(held, 2)\n" \
	"names[i] = 'w' .. ids[i]\nend\n" \
	"drop(state, ids, redis.call('ZMSCORE', state.pool, unpack(names)))\nend\n" \
	"return #ids\nend\n" \
	"local function reclaim(state)\n" \
	"if state.used == 0 or state.reclaimed then\n" \
	"return false\nend\n" \
	"local count = take_back(state, state.now, CHUNK)\n" \
	"state.reclaimed = count < CHUNK\n" \
	"return count > 0\nend\n" \
	"local function room(state, capacity)\n" \
	"return tonumber(capacity) - state.used\nend\n" \
	"local function make_room(state, permits, capacity)\n" \
	"while permits > room(state, capacity) do\n" \
	"if not reclaim(state) then\n" \
	"return false\nend\nend\n" \
	"return true\nend\n" \
	"local function take(state, id, permits, ttl, capacity)\n" \
	"state.fence = next_token(state)\n" \
	"if state.replicated then\n" \
	"redis.call('ZADD', state.pool, capacity, '$cap')\nend\n" \
	"hold(state.pool, id, permits, state.used, state.fence, state.now + ttl)\n" \
	"state.used = state.used + permits\n" \
	"keep(state, state.now + ttl)\n" \
	"return state.fence\nend\n" \
	"local function is_passing(state, capacity)\n" \
	"return state.queue > PHASES and capacity > state.most\nend\n" \
	"local function next_waiters(state, count, skip)\n" \
	"local function first(from, to, count)\n" \
	"return redis.call('ZRANGEBYSCORE', state.pool, from, to, 'LIMIT', skip, count)\nend\n" \
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
	"local function listens(inbox)\n" \
	"local listeners = redis.pcall('PUBSUB', 'NUMSUB', inbox)\n" \
	"return listeners.err or listeners[2] > 0\nend\n" \
	"local function serve_waiter(state, waiter, me, ttl)\n" \
	"local permits, capacity, id, inbox = string.match(waiter, '^q(%d+) (%d+) (%S+) (%S*)')\n" \
	"if tonumber(capacity) <= state.blocked then\n" \
	"return false, true\nend\n" \
	"local signs, mine = 's' .. string.sub(waiter, 2), waiter == me\n" \
	"local sign, held = unpack(redis.call('ZMSCORE', state.pool, signs, 'h' .. id))\n" \
	"local live = mine or state.now - math.floor(-(sign or 0) / 1000) < STALE\n" \
	"permits = tonumber(permits)\n" \
	"local may = live and not held\n" \
	"if may and not make_room(state, permits, capacity) then\n" \
	"if mine or room(state, capacity) <= 0 or listens(inbox) then\n" \
	"state.blocked, state.passed = tonumber(capacity), state.passed + 1\n" \
	"return false, true\nend\n" \
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
	"local fence = take(state, id, permits, mine and ttl or GRACE, capacity)\n" \
	"state.grants, state.mine = state.grants + 1, mine and fence or state.mine\n" \
	"else\n" \
	"state.removed = state.removed + 1\nend\n" \
	"return state.removed < MOST_REMOVED\nend\n" \
	"local function looks_further(state, skip)\n" \
	"return state.queue > PHASES and state.most > state.blocked and room(state, state.most) > 0 and state.passed " \
	"< PASSED\n" \
	"and skip < FAR\nend\n" \
	"local function note_most(state)\n" \
	"if state.blocked < state.most then\n" \
	"redis.call('ZREM', state.pool, '$most')\n" \
	"redis.call('ZADD', state.pool, state.blocked, '$most')\n" \
	"state.most = state.blocked\nend\nend\n" \
	"local function note_queue(state, empty)\n" \
	"local queue = math.max(state.queue, PHASES)\n" \
	"if empty then\n" \
	"queue = 0\n" \
	"elseif state.phase then\n" \
	"queue = -math.min(state.phase, math.max(state.us, state.fence))\nend\n" \
	"if queue ~= state.queue then\n" \
	"if empty then\n" \
	"redis.call('ZREM', state.pool, '$queue', '$most')\n" \
	"else\n" \
	"redis.call('ZADD', state.pool, queue, '$queue')\nend\n" \
	"state.queue = queue\nend\nend\n" \
	"local function serve(state, me, ttl)\n" \
	"if state.queue == 0 then\n" \
	"return false\n" \
	"elseif state.queue <= PHASES then\n" \
	"reclaim(state)\nend\n" \
	"local count, skip, going, empty = 2, 0, state.removed < MOST_REMOVED, false\n" \
	"while going and not empty do\n" \
	"local names\n" \
	"names, empty = next_waiters(state, count, skip)\n" \
	"for _, waiter in ipairs(names) do\n" \
	"local stays\n" \
	"going, stays = serve_waiter(state, waiter, me, ttl)\n" \
	"if stays then\n" \
	"skip = skip + 1\n" \
	"going = looks_further(state, skip)\nend\n" \
	"if not going then\n" \
	"empty = false\n" \
	"break\nend\nend\n" \
	"count = 32\nend\n" \
	"if empty and skip > 0 then\n" \
	"note_most(state)\nend\n" \
	"note_queue(state, empty and skip == 0)\n" \
	"return state.grants > 0\nend\n"

#define DLOCK_LUA_REFUSAL \
	"local function refusal(pttl, position, ticket, new)\n" \
	"if unsettled == 0 then\n" \
	"return {pttl, position, ticket, new}\nend\n" \
	"return {math.max(pttl, unsettled), position, ticket, new, unsettled, replid, settles}\nend\n"

#define DLOCK_LUA_SETTLED \
	"local opened, longest, seen = string.match(redis.call('GET', epoch) or '', '^(%x+) (%d+) %-%d+ %d+ %d+ %d+ " \
	"%d* (%d*)')\n" \
	"local role = opened and tonumber(guard) <= tonumber(longest) and redis.pcall('INFO', 'replication')\n" \
	"local settled = type(role) == 'string' and string.find(role, '\\nmaster_replid:' .. opened, 1, true)\n" \
	"if settled and seen ~= '' then\n" \
	"local _, last = string.find(role, '\\nmaster_repl_offset:', settled, true)\n" \
	"settled = last and string.match(role, '^%d+', last + 1) - seen <= 262144\nend\n" \
	"if settled then\n" \
	"grant()\n" \
	"if type(counted) == 'number' and counted > 1 then\n" \
	"return counted\nend\nend\n" \
	DLOCK_LUA_EPOCH \
	"local unsettled, replid, settles = 0\n" \
	"if not settled then\n" \
	"unsettled, replid, settles = check_epoch(epoch, guard, ARGV[4] ~= '-')\n" \
	"if unsettled == 0 then\n" \
	"grant()\nend\nend\n" \
	DLOCK_LUA_FENCING \
	"local function next_token()\n" \
	"counted = counted or redis.call('INCR', fence)\n" \
	"if type(counted) == 'table' then\n" \
	"error(counted.err, 0)\nend\n" \
	"return counted > 1 and counted or tonumber(fencing_token(fence, clock()))\nend\n"

#define DLOCK_LUA_SETTLED_FENCE \
	"local UNHEARD = 1048576\n" \
	"local function raise_settled(fence, at)\n" \
	"local last = tonumber(redis.call('GET', fence) or 0)\n" \
	"local least = math.min(math.max(at * 1000, last + UNHEARD), MOST_PROPOSED)\n" \
	"if last < least then\n" \
	"redis.call('SET', fence, string.format('%.0f', least))\nend\nend\n"

#define DLOCK_LUA_SEVERAL_CONTEND \
	DLOCK_LUA_HANDOVER \
	DLOCK_LUA_NEXT_TICKET \
	DLOCK_LUA_NOTE_SEEN \
	"local function leave_queues()\n" \
	"for i = 1, n, 3 do\n" \
	"forget(KEYS[i + 1], KEYS[i + 2], me)\n" \
	"wake(KEYS[i + 1], KEYS[i + 2])\nend\nend\n" \
	"local function next_of(lock, queue, waiters)\n" \
	"local first, score = unpack(redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES'))\n" \
	"if not first or first == me or is_for_several(first) and tonumber(score) >= ASLEEP then\n" \
	"return nil\nend\n" \
	"local next, more = serve(lock, queue, waiters, grant and fence, me, true, take_first(queue, grant))\n" \
	"if grant then\n" \
	"wake(queue, waiters, me)\nend\n" \
	"return next ~= me and next, more\nend\n" \
	"local function look()\n" \
	"local taken, unknown, pttl = false, false, 0\n" \
	"for i = 1, n, 3 do\n" \
	"local lock = KEYS[i]\n" \
	"local holder = value_of(lock)\n" \
	"if holder and holder ~= token then\n" \
	"local left = redis.call('PTTL', lock)\n" \
	"if type(holder) == 'table' and left == -1 then\n" \
	"return holder\nend\n" \
	"taken, unknown, pttl = true, unknown or left < 0, math.max(pttl, left)\n" \
	"elseif not holder and unsettled == 0 then\n" \
	"local next, more = next_of(lock, KEYS[i + 1], KEYS[i + 2])\n" \
	"taken, pttl = taken or next or more, math.max(pttl, next and GRACE or 0)\nend\nend\n" \
	"return (taken or unsettled ~= 0) and (unknown and -1 or pttl)\nend\n" \
	"local function own_ticket(now)\n" \
	"for i = 2, n, 3 do\n" \
	"local score = tonumber(redis.call('ZSCORE', KEYS[i], me))\n" \
	"if score then\n" \
	"return string.format('%.0f', score < ASLEEP and score or score - ASLEEP)\nend\nend\n" \
	"return now\nend\n" \
	"local function is_first()\n" \
	"for i = 2, n, 3 do\n" \
	"local queue = KEYS[i]\n" \
	"local other, score = unpack(redis.call('ZRANGEBYSCORE', queue, ASLEEP, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))\n" \
	"if other and other ~= me and score - ASLEEP <= tonumber(ticket) and reach(queue, KEYS[i + 1], other, true)\n" \
	"or redis.call('ZCOUNT', queue, '-inf', '(' .. ticket) > 0 then\n" \
	"return false\nend\nend\n" \
	"return true\nend\n" \
	"local new, first = 0, false\n" \
	"local function take_place()\n" \
	"first = is_first()\n" \
	"local score = first and ticket or string.format('%.0f', ticket + ASLEEP)\n" \
	"for i = 2, n, 3 do\n" \
	"new = math.max(new, redis.call('ZADD', KEYS[i], score, me))\nend\nend\n" \
	DLOCK_LUA_REFUSAL \
	"local function queue_up(pttl)\n" \
	"local now = clock(KEYS[3])\n" \
	"ticket = ticket ~= '' and ticket or own_ticket(now)\n" \
	"take_place()\n" \
	"for i = 1, n, 3 do\n" \
	"local queue, waiters = KEYS[i + 1], KEYS[i + 2]\n" \
	"local left = redis.call('PTTL', queue)\n" \
	"note(waiters, me, now, '0', number, inbox)\n" \
	"if left < FORGET / 2 then\n" \
	"redis.call('PEXPIRE', queue, FORGET)\n" \
	"redis.call('PEXPIRE', waiters, FORGET)\n" \
	"note_seen(string.gsub(fence, '^dlock:fence', 'dlock:seen'), KEYS[i], now / 1000, FORGET)\nend\nend\n" \
	"return refusal(pttl, first and 0 or 1, ticket, new)\nend\n" \
	"local function last_ticket()\n" \
	"local last = 0\n" \
	"for i = 2, n, 3 do\n" \
	"last = math.max(last, tonumber(next_ticket(KEYS[i], fence)))\nend\n" \
	"return string.format('%.0f', last)\nend\n" \
	"local function contend()\n" \
	"if not grant and ticket ~= '' then\n" \
	"take_place()\nend\n" \
	"local pttl = look()\n" \
	"if type(pttl) == 'table' then\n" \
	"return pttl\n" \
	"elseif not pttl then\n" \
	"for i = 1, n, 3 do\n" \
	"redis.call('SET', KEYS[i], token, 'PX', ttl)\nend\n" \
	"if inbox ~= '' or ticket ~= '' then\n" \
	"leave_queues()\nend\n" \
	"return next_token()\nend\n" \
	"if inbox ~= '' then\n" \
	"return queue_up(pttl)\n" \
	"elseif ticket ~= '' and (grant or new == 1) then\n" \
	"leave_queues()\nend\n" \
	"return refusal(pttl, -1, not grant and ticket == '' and last_ticket() or '0', 0)\nend\n" \
	"local done, reply = true, failed\n" \
	"if not failed then\n" \
	"done, reply = pcall(free_now and next_token or contend)\nend\n" \
	"if done and not (type(reply) == 'table' and reply.err) then\n" \
	"return reply\nend\n" \
	"for i = 1, n, 3 do\n" \
	"if redis.pcall('GET', KEYS[i]) == token then\n" \
	"free(KEYS[i])\nend\n" \
	"if inbox ~= '' or ticket ~= '' then\n" \
	"redis.pcall('ZREM', KEYS[i + 1], me)\n" \
	"redis.pcall('HDEL', KEYS[i + 2], me)\nend\nend\n" \
	"return failure(reply)\n"

#define DLOCK_LUA_SEVERAL_SWAP \
	DLOCK_LUA_FENCING \
	DLOCK_LUA_FAILURE \
	"local function swap_all(n, fence, old, new, least)\n" \
	"local holders, left, shortest = {}, {}, nil\n" \
	"for i = 1, n, 3 do\n" \
	"local holder, pttl = redis.call('GET', KEYS[i]), redis.call('PTTL', KEYS[i])\n" \
	"if pttl < 1 or (holder ~= old and holder ~= new) then\n" \
	"return {0}\nend\n" \
	"holders[i], left[i], shortest = holder, pttl, math.min(shortest or pttl, pttl)\nend\n" \
	"local done, token = pcall(function()\n" \
	"for i = 1, n, 3 do\n" \
	"redis.call('SET', KEYS[i], new, 'PX', left[i])\nend\n" \
	"return least == '' and 0 or fencing_token(fence, least == '0' and clock() or least)\n" \
	"end)\n" \
	"if not done then\n" \
	"for i = 1, n, 3 do\n" \
	"redis.pcall('SET', KEYS[i], holders[i], 'PX', left[i])\nend\n" \
	"return failure(token)\nend\n" \
	"return {1, tonumber(token), shortest}\nend\n"

#define DLOCK_LUA_STOCK_POOL \
	"local HELD, SOLD, ENDED, CANCELLED, REFUNDED, WANTS, WAITS, STRICT = 1e11, 1e13, 2e13, 3e13, 4e13, 1e14, " \
	"1e15, 5e15\n" \
	"local AMORTISED = 4\n" \
	"local CHUNK = 50\n" \
	"local SCAN = 16\n" \
	"local FAR, PAGE = 1000, 100\n" \
	"local STALE, GRACE, REMEMBER = 3000, 3000, 86400000\n" \
	"local function units_of(number)\n" \
	"return tonumber(number or 1)\nend\n" \
	"local function generation_of(score)\n" \
	"return math.floor(score % 1 * 64)\nend\n" \
	"local function state_at(from, ms, generation)\n" \
	"return string.format('%.6f', from + ms + generation / 64)\nend\n" \
	"local function buyer_of(id)\n" \
	"return string.match(id, '^(.*)/')\nend\n" \
	"local function reserved_units(stock)\n" \
	"return stock.all - stock.sold - stock.free\nend\n" \
	"local function read(pool, us, count)\n" \
	"local n = redis.call('ZMSCORE', pool, '$stock', '$sold', '$free', '$fence', '$next', '$shift', '$queue', " \
	"'$closed',\n" \
	"'$ahead')\n" \
	"local stock = { pool = pool, known = n[1] and true, all = tonumber(n[1] or 0), sold = tonumber(n[2] or 0),\n" \
	"free = tonumber(n[3] or 0), fence = -(n[4] or 0), next = n[5] and -n[5],\n" \
	"shift = -(n[6] or 0), queue = n[7], closed = tonumber(n[8] or 0), ahead = -(n[9] or 0),\n" \
	"budget = math.ceil(CHUNK / count), scan = math.ceil(SCAN / count), kept = 0 }\n" \
	"stock.us = us + stock.shift * 1000\n" \
	"local seen = stock.fence - stock.ahead\n" \
	"if stock.us < seen - 1e6 then -- the clock was set back: the stock's time goes on from where it was last " \
	"seen\n" \
	"stock.shift = stock.shift + math.ceil((seen - stock.us) / 1000)\n" \
	"stock.us = us + stock.shift * 1000\n" \
	"redis.call('ZREM', pool, '$full')\n" \
	"redis.call('ZADD', pool, -stock.shift, '$shift')\nend\n" \
	"stock.now = math.floor(stock.us / 1000)\n" \
	"return stock\nend\n" \
	"local function next_token(stock)\n" \
	"return math.max(stock.us + stock.ahead, stock.fence + 1)\nend\n" \
	"local function credit(pool, ids, units)\n" \
	"local names, back, gone, left = {}, {}, {}, {}\n" \
	"for i, id in ipairs(ids) do\n" \
	"local name = 'b' .. buyer_of(id)\n" \
	"if not back[name] then\n" \
	"names[#names + 1] = name\nend\n" \
	"back[name] = (back[name] or 0) + units[i]\nend\n" \
	"for i, has in ipairs(redis.call('ZMSCORE', pool, unpack(names))) do\n" \
	"has = (has or 0) - back[names[i]]\n" \
	"if has > 0 then\n" \
	"left[#left + 1] = has\n" \
	"left[#left + 1] = names[i]\n" \
	"else\n" \
	"gone[#gone + 1] = names[i]\nend\nend\n" \
	"if #gone > 0 then\n" \
	"redis.call('ZREM', pool, unpack(gone))\nend\n" \
	"if #left > 0 then\n" \
	"redis.call('ZADD', pool, unpack(left))\nend\nend\n" \
	"local function forget_orders(stock, most)\n" \
	"local before = stock.now - (redis.call('ZSCORE', stock.pool, '$remember') or REMEMBER)\n" \
	"for _, from in ipairs({ ENDED, CANCELLED }) do\n" \
	"local names = {}\n" \
	"for _, held in ipairs(redis.call('ZRANGEBYSCORE', stock.pool, from, string.format('(%.0f', from + before),\n" \
	"'LIMIT', 0, most)) do\n" \
	"local id = string.sub(held, 2)\n" \
	"names[#names + 1] = held\n" \
	"names[#names + 1] = 'w' .. id\n" \
	"names[#names + 1] = 'a' .. id\nend\n" \
	"if #names > 0 then\n" \
	"redis.call('ZREM', stock.pool, unpack(names))\nend\nend\nend\n" \
	"local function note_next(stock)\n" \
	"local first = redis.call('ZRANGEBYSCORE', stock.pool, HELD, '(1e13', 'WITHSCORES', 'LIMIT', 0, 1)[2]\n" \
	"stock.next = first and math.floor(first)\n" \
	"if first then\n" \
	"redis.call('ZADD', stock.pool, -stock.next, '$next')\n" \
	"else\n" \
	"redis.call('ZREM', stock.pool, '$next')\nend\nend\n" \
	"local function is_dusty(stock)\n" \
	"return stock.next and stock.next < stock.now\nend\n" \
	"local function sweep(stock, most)\n" \
	"most = math.min(most, stock.budget)\n" \
	"if not is_dusty(stock) or most <= 0 then\n" \
	"return\nend\n" \
	"local found = redis.call('ZRANGEBYSCORE', stock.pool, HELD,\n" \
	"string.format('(%.0f', stock.now), 'WITHSCORES', 'LIMIT', 0, most)\n" \
	"local ids, names, changes, freed = {}, {}, {}, 0\n" \
	"for i = 1, #found, 2 do\n" \
	"ids[#ids + 1] = string.sub(found[i], 2)\n" \
	"names[#names + 1] = 'w' .. ids[#ids]\n" \
	"changes[#changes + 1] = string.format('%.6f', ENDED + found[i + 1])\n" \
	"changes[#changes + 1] = found[i]\nend\n" \
	"if #names > 0 then\n" \
	"local units = redis.call('ZMSCORE', stock.pool, unpack(names))\n" \
	"for i = 1, #ids do\n" \
	"units[i] = units_of(units[i])\n" \
	"freed = freed + units[i]\nend\n" \
	"stock.free = stock.free + freed\n" \
	"redis.call('ZREM', stock.pool, '$full')\n" \
	"redis.call('ZADD', stock.pool, stock.free, '$free', unpack(changes))\n" \
	"credit(stock.pool, ids, units)\n" \
	"forget_orders(stock, #names)\nend\n" \
	"stock.budget = stock.budget - #names\n" \
	"if #names < most then\n" \
	"note_next(stock)\nend\nend\n" \
	"local function make_room(stock, units)\n" \
	"if units > stock.free then\n" \
	"sweep(stock, CHUNK)\nend\n" \
	"local enough = units <= stock.free\n" \
	"return enough, not enough and is_dusty(stock)\nend\n" \
	"local function is_allowed(stock, buyer, units, limit)\n" \
	"if not limit then\n" \
	"return true\nend\n" \
	"local has = tonumber(redis.call('ZSCORE', stock.pool, 'b' .. buyer) or 0)\n" \
	"if has > 0 and has + units > limit and is_dusty(stock) then\n" \
	"sweep(stock, CHUNK)\n" \
	"has = tonumber(redis.call('ZSCORE', stock.pool, 'b' .. buyer) or 0)\nend\n" \
	"local may = has + units <= limit\n" \
	"return may, has, not may and has > 0 and is_dusty(stock)\nend\n" \
	"local function put_back(stock, id, units, state)\n" \
	"stock.free = stock.free + units\n" \
	"redis.call('ZREM', stock.pool, '$full')\n" \
	"redis.call('ZADD', stock.pool, stock.free, '$free', state, 'h' .. id)\n" \
	"credit(stock.pool, {id}, {units})\nend\n" \
	"local function order_of(stock, id)\n" \
	"local score, units, products = unpack(redis.call('ZMSCORE', stock.pool, 'h' .. id, 'w' .. id, 'a' .. id))\n" \
	"score, units = tonumber(score or 0), units_of(units)\n" \
	"if score > 0 and score < SOLD and score < stock.now then\n" \
	"put_back(stock, id, units, string.format('%.6f', ENDED + score))\n" \
	"score = ENDED + score\nend\n" \
	"return score, units, products or ''\nend\n" \
	"local function take(stock, id, units, ttl, was, products)\n" \
	"local generation, ends = was > 0 and (generation_of(was) + 1) % 64 or 0, stock.now + ttl\n" \
	"stock.fence, stock.free = next_token(stock), stock.free - units\n" \
	"redis.call('ZADD', stock.pool, stock.free, '$free', -stock.fence, '$fence', state_at(0, ends, generation),\n" \
	"'h' .. id)\n" \
	"redis.call('ZINCRBY', stock.pool, units, 'b' .. buyer_of(id))\n" \
	"if units ~= 1 then\n" \
	"redis.call('ZADD', stock.pool, units, 'w' .. id)\n" \
	"elseif was > 0 then\n" \
	"redis.call('ZREM', stock.pool, 'w' .. id)\nend\n" \
	"if products ~= '' then\n" \
	"redis.call('ZADD', stock.pool, products, 'a' .. id)\n" \
	"elseif was > 0 then\n" \
	"redis.call('ZREM', stock.pool, 'a' .. id)\nend\n" \
	"if not stock.next or ends < stock.next then\n" \
	"stock.next = ends\n" \
	"redis.call('ZADD', stock.pool, -ends, '$next')\nend\n" \
	"return generation\nend\n" \
	DLOCK_LUA_STOCK_QUEUE

#define DLOCK_LUA_STOCK_QUEUE \
	"local function least(stock)\n" \
	"local first = redis.call('ZRANGEBYSCORE', stock.pool, WANTS, WANTS + 1e9, 'WITHSCORES', 'LIMIT', 0, 1)[2]\n" \
	"return first and first - WANTS or math.huge\nend\n" \
	"local function first_strict(stock)\n" \
	"local first = redis.call('ZRANGEBYSCORE', stock.pool, STRICT, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]\n" \
	"return first and first - STRICT + WAITS or math.huge\nend\n" \
	"local function lets_pass(stock)\n" \
	"return not stock.queue or stock.free < least(stock) and first_strict(stock) == math.huge\nend\n" \
	"local function first_waiters(stock, most)\n" \
	"return redis.call('ZRANGEBYSCORE', stock.pool, WAITS, string.format('(%.0f', STRICT), 'LIMIT', 0, most)\nend\n" \
	"local function names_of(waiter)\n" \
	"local name = string.sub(waiter, 2)\n" \
	"return 'q' .. name, 's' .. name, 'u' .. name, 'v' .. name\nend\n" \
	"local function is_settled(score)\n" \
	"return score > 0 and score < ENDED or score >= CANCELLED and score * 64 % 1 == 0\nend\n" \
	"local function ask_anew(stock, id, score)\n" \
	"if score >= CANCELLED and is_settled(score) then\n" \
	"redis.call('ZADD', stock.pool, string.format('%.7f', score + 1 / 128), 'h' .. id)\nend\nend\n" \
	"local function gives_signs(stock, sign)\n" \
	"return stock.now - math.floor(-(sign or 0) / 1000) < STALE\nend\n" \
	"local function listens(inbox)\n" \
	"local listeners = redis.pcall('PUBSUB', 'NUMSUB', inbox)\n" \
	"return listeners.err or listeners[2] > 0\nend\n" \
	"local function tell(id, inbox, sign, fence)\n" \
	"local receivers = redis.pcall('PUBLISH', inbox, string.format('%s %.0f %.0f', id, -(sign or 0) % 1000, " \
	"fence))\n" \
	"return type(receivers) ~= 'table' and receivers or nil\nend\n" \
	"local function serve_waiter(stock, waiter, me, ttl)\n" \
	"local units, limit, strict, several, id, inbox = string.match(waiter, '^.(%d+) (%d*) (s?)(m?) (%S+) (%S*)$')\n" \
	"local place, signs = names_of(waiter)\n" \
	"local ticket, sign = unpack(redis.call('ZMSCORE', stock.pool, place, signs))\n" \
	"if not ticket then\n" \
	"return true\nend\n" \
	"local mine, score = place == me, order_of(stock, id)\n" \
	"local live = mine or gives_signs(stock, sign)\n" \
	"units, limit = tonumber(units), tonumber(limit)\n" \
	"local may = live and not is_settled(score) and stock.closed == 0\n" \
	"and units <= stock.all - stock.sold\n" \
	"and is_allowed(stock, buyer_of(id), units, limit)\n" \
	"if may and not make_room(stock, units + stock.kept) then\n" \
	"if mine or strict == '' or listens(inbox) then\n" \
	"return false, strict ~= ''\nend\n" \
	"live, may = false, false\nend\n" \
	"if live and not mine then\n" \
	"local receivers = tell(id, inbox, sign, may and several == '' and next_token(stock) or 0)\n" \
	"if not receivers then\n" \
	"return false, strict ~= ''\nend\n" \
	"may = may and receivers > 0\nend\n" \
	"if may and several ~= '' then\n" \
	"stock.kept, stock.turn = stock.kept + units, stock.turn or mine\n" \
	"return false, strict ~= ''\nend\n" \
	"redis.call('ZREM', stock.pool, names_of(waiter))\n" \
	"stock.left = true\n" \
	"if may then\n" \
	"local generation = take(stock, id, units, mine and ttl or GRACE, score, '')\n" \
	"if mine then\n" \
	"stock.mine, stock.generation = stock.fence, generation\nend\nend\n" \
	"return true\nend\n" \
	"local function serve_all(stock, waiters, me, ttl)\n" \
	"for _, waiter in ipairs(waiters) do\n" \
	"local _, blocked = serve_waiter(stock, waiter, me, ttl)\n" \
	"if blocked then\n" \
	"return true\nend\nend\nend\n" \
	"local function next_fitting(stock, last)\n" \
	"local fitting, upto = {}, string.format('%.0f', math.min(last, STRICT - 1))\n" \
	"for from = stock.scan, stock.scan + FAR - 1, PAGE do\n" \
	"local waiters = redis.call('ZRANGEBYSCORE', stock.pool, WAITS, upto, 'LIMIT', from, PAGE)\n" \
	"for _, waiter in ipairs(waiters) do\n" \
	"if tonumber(string.match(waiter, '^.(%d+)')) <= stock.free and #fitting < stock.scan then\n" \
	"fitting[#fitting + 1] = waiter\nend\nend\n" \
	"if #waiters < PAGE or #fitting == stock.scan then\n" \
	"break\nend\nend\n" \
	"return fitting\nend\n" \
	"local function fitting_by_units(stock, last)\n" \
	"local waiters = redis.call('ZRANGEBYSCORE', stock.pool, WANTS + 1, WANTS + stock.free, 'LIMIT', 0, " \
	"stock.scan)\n" \
	"local tickets = {}\n" \
	"for i, waiter in ipairs(waiters) do\n" \
	"tickets[waiter] = tonumber(redis.call('ZSCORE', stock.pool, (names_of(waiter))) or 0)\nend\n" \
	"table.sort(waiters, function(a, b) return tickets[a] < tickets[b] end)\n" \
	"while #waiters > 0 and tickets[waiters[#waiters]] > last do\n" \
	"table.remove(waiters)\nend\n" \
	"return waiters\nend\n" \
	"local function fitting(stock)\n" \
	"local last = first_strict(stock)\n" \
	"local waiters = next_fitting(stock, last)\n" \
	"return #waiters > 0 and waiters or fitting_by_units(stock, last)\nend\n" \
	"local function drop_dead_strict(stock, me)\n" \
	"for _, waiter in ipairs(redis.call('ZRANGEBYSCORE', stock.pool, STRICT, '+inf', 'LIMIT', 0, stock.scan)) do\n" \
	"local place, signs = names_of(waiter)\n" \
	"if place == me or gives_signs(stock, redis.call('ZSCORE', stock.pool, signs))\n" \
	"and listens(string.match(waiter, '(%S*)$')) then\n" \
	"return\nend\n" \
	"redis.call('ZREM', stock.pool, names_of(waiter))\n" \
	"stock.left = true\nend\nend\n" \
	"local function may_come(stock)\n" \
	"return reserved_units(stock) > 0 and stock.next and math.max(0, stock.next - stock.now) + 1\n" \
	"or stock.kept > 0 and GRACE or -1\nend\n" \
	"local function note_queue(stock)\n" \
	"if stock.queue and #first_waiters(stock, 1) == 0 then\n" \
	"redis.call('ZREM', stock.pool, '$queue')\n" \
	"stock.queue = nil\nend\nend\n" \
	"local function serve(stock, tells, me, ttl)\n" \
	"if not stock.queue or stock.more then\n" \
	"return\nend\n" \
	"if tells or stock.closed > 0 then\n" \
	"local from = stock.closed > 0 and WANTS or WANTS + stock.all - stock.sold + 1\n" \
	"serve_all(stock, redis.call('ZRANGEBYSCORE', stock.pool, from, WANTS + 1e9, 'LIMIT', 0, stock.scan))\nend\n" \
	"if least(stock) <= stock.free or stock.free > 0 and first_strict(stock) < math.huge then\n" \
	"local before = stock.left\n" \
	"stock.left, stock.kept = false, 0\n" \
	"local blocked = serve_all(stock, first_waiters(stock, stock.scan), me, ttl)\n" \
	"if not blocked then\n" \
	"local left = stock.left\n" \
	"drop_dead_strict(stock, me)\n" \
	"if not left and stock.kept == 0 and least(stock) <= stock.free then\n" \
	"serve_all(stock, fitting(stock), me, ttl)\nend\nend\n" \
	"stock.left = stock.left or before\n" \
	"if stock.left and stock.kept == 0 and least(stock) <= stock.free then\n" \
	"local waiter = first_waiters(stock, 1)[1]\n" \
	"local id, inbox = string.match(waiter, '(%S+) (%S*)$')\n" \
	"local _, signs = names_of(waiter)\n" \
	"tell(id, inbox, redis.call('ZSCORE', stock.pool, signs), 0)\n" \
	"stock.more = true\nend\nend\n" \
	"if stock.left then\n" \
	"note_queue(stock)\nend\nend\n" \
	"local function serve_each(stocks, reply)\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"serve(stock)\nend\n" \
	"return reply\nend\n"

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
	"local epoch, guard = KEYS[5], ARGV[3]\n" \
	DLOCK_LUA_SETTLED \
	"local done, reply = false, queued\n" \
	"if queued == 0 then\n" \
	"done, reply = pcall(next_token)\n" \
	"if done then\n" \
	"return reply\nend\nend\n" \
	DLOCK_LUA_CONTEND

#define DLOCK_LUA_BREAK \
	DLOCK_LUA_ID \
	DLOCK_LUA_FENCING \
	DLOCK_LUA_HANDOVER \
	"local lock, queue = KEYS[1], KEYS[3]\n" \
	"local holder = redis.call('GET', lock)\n" \
	"if not holder or id_of(holder) ~= ARGV[1] then\n" \
	"return -1\nend\n" \
	"if ARGV[3] == '1' then\n" \
	"local grant = ARGV[4] ~= '0'\n" \
	"if not grant then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"if not serve(lock, queue, KEYS[4], grant and KEYS[2], nil, false, take_first(queue, grant)) and grant then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"wake(queue, KEYS[4])\n" \
	"return 0\nend\n" \
	"local left = redis.call('PTTL', lock)\n" \
	"if left == -1 then\n" \
	"return -2\n" \
	"elseif string.find(holder, 'broken:', 1, true) then\n" \
	"return left\nend\n" \
	"redis.call('SET', lock, (string.match(holder, '^9999999999:') or '') .. 'broken:' .. ARGV[1] .. ':' .. " \
	"ARGV[2],\n" \
	"'PX', math.max(left, 1))\n" \
	"return left\n"

#define DLOCK_LUA_CHECK \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PTTL', KEYS[1])\nend\n" \
	"return 0\n"

#define DLOCK_LUA_DESCRIBE \
	DLOCK_LUA_NOTE_SEEN \
	"local held, ttl, id, text = KEYS[2], tonumber(ARGV[3]), ARGV[1], ARGV[2]\n" \
	"local time = redis.call('TIME')\n" \
	"local now = time[1] * 1000 + math.floor(time[2] / 1000)\n" \
	"note_seen(KEYS[3], KEYS[1], now, 2 * ttl)\n" \
	"if ARGV[4] ~= '1' then\n" \
	"redis.call('SET', held, id .. ' ' .. text, 'PX', 2 * ttl)\n" \
	"else\n" \
	"redis.call('HSET', held, id, string.format('%.0f', now + 2 * ttl) .. ' ' .. text)\n" \
	"if redis.call('PTTL', held) < 2 * ttl then\n" \
	"redis.call('PEXPIRE', held, 2 * ttl)\nend\n" \
	"local count = redis.pcall('HLEN', held)\n" \
	"if type(count) == 'number' and count % 64 == 0 then\n" \
	"local all = redis.pcall('HGETALL', held)\n" \
	"for i = 2, #all, 2 do\n" \
	"if tonumber(string.match(all[i], '^%d+') or 0) < now then\n" \
	"redis.pcall('HDEL', held, all[i - 1])\nend\nend\nend\nend\n"

#define DLOCK_LUA_DROP \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\nend\n" \
	"return redis.call('DEL', KEYS[1])\n"

#define DLOCK_LUA_EPOCH_OF \
	"if ARGV[5] == '1' then\n" \
	"local server = redis.call('HGET', KEYS[2], 'server')\n" \
	"local opened = redis.call('HGET', KEYS[2], ARGV[3])\n" \
	"if server and (not opened or opened == ARGV[4])\n" \
	"and string.find(redis.call('INFO', 'replication'), '\\nmaster_replid:' .. server, 1, true) then\n" \
	"redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])\n" \
	"return 0\nend\nend\n" \
	DLOCK_LUA_EPOCH \
	"local counts = ARGV[2] ~= '-'\n" \
	"local left, id, settles, waited = check_epoch(KEYS[1], ARGV[1], counts, 'full')\n" \
	"local slots = string.match(redis.call('CLUSTER', 'NODES'), 'myself[^\\n]- connected([^\\n]*)')\n" \
	"local epoch = string.match(redis.call('CLUSTER', 'INFO'), 'cluster_current_epoch:(%d+)')\n" \
	"local attached = attached_until_now()\n" \
	"local state = redis.sha1hex(id .. ' ' .. (counts and full(attached) or '') .. ' ' .. epoch .. ' ' .. slots)\n" \
	"if redis.call('HGET', KEYS[2], 'server') ~= id then\n" \
	"redis.call('DEL', KEYS[2])\nend\n" \
	"local noted, since = string.match(redis.call('HGET', KEYS[2], 'state') or '', '^(%x+) (%d+)$')\n" \
	"local now = time()\n" \
	"local opened = redis.call('HGET', KEYS[2], ARGV[3])\n" \
	"if noted ~= state or tonumber(since) > now or opened and opened ~= ARGV[4] then\n" \
	"since = now\nend\n" \
	"redis.call('HSET', KEYS[2], 'server', id, 'state', string.format('%s %.0f', state, since), ARGV[3], ARGV[4])\n" \
	"if left >= 0 then\n" \
	"left = math.max(left, math.min(since + waited - now, tonumber(waited)))\nend\n" \
	"return {left, id, settles, waited, attached}\n"

#define DLOCK_LUA_EXCHANGE \
	DLOCK_LUA_SWAP \
	"return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])\n"

#define DLOCK_LUA_EXCHANGE_REPLICATED \
	DLOCK_LUA_EPOCH \
	"local unsettled, replid, settles = check_epoch(KEYS[3], ARGV[4], ARGV[5] ~= '-')\n" \
	"if unsettled ~= 0 then\n" \
	"return {2, unsettled, replid, settles}\nend\n" \
	DLOCK_LUA_SWAP \
	"return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])\n"

#define DLOCK_LUA_EXTEND \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2])\nend\n" \
	"return 0\n"

#define DLOCK_LUA_INSPECT \
	DLOCK_LUA_ID \
	"local STALE = 3000000\n" \
	"local holder = redis.pcall('GET', KEYS[1])\n" \
	"if type(holder) == 'table' then\n" \
	"return holder -- another program's key, of another type\nend\n" \
	"local time = redis.pcall('TIME')\n" \
	"local now = time.err and '0' or time[1] .. string.format('%06d', time[2])\n" \
	"local id = holder and id_of(holder) or ''\n" \
	"local said = holder and redis.pcall('GET', KEYS[4])\n" \
	"said = type(said) == 'string' and string.sub(said, 1, 24) == id and string.sub(said, 26) or ''\n" \
	"if holder and string.find(holder, 'broken:', 1, true) then\n" \
	"said = 'broken ' .. (string.match(holder, 'broken:[^:]*:(.*)') or '?')\nend\n" \
	"local waiting, reply = redis.call('ZCARD', KEYS[2]), {now, id, holder and redis.call('PTTL', KEYS[1]) or 0, " \
	"said, 0}\n" \
	"local names = waiting > 0 and tonumber(ARGV[1]) > 0 and redis.call('ZRANGE', KEYS[2], 0, ARGV[1] - 1) or {}\n" \
	"for _, name in ipairs(names) do\n" \
	"local sign, about = string.match(redis.call('HGET', KEYS[3], name) or '', '^(%d+) %d+ %d+ %S* ?(.*)$')\n" \
	"if sign and (now == '0' or now - sign < STALE) then\n" \
	"reply[#reply + 1] = id_of(name)\n" \
	"reply[#reply + 1] = about\n" \
	"else\n" \
	"waiting = waiting - 1\nend\nend\n" \
	"reply[5] = waiting\n" \
	"return reply\n"

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
	"local grant = ARGV[2] ~= '0'\n" \
	"if not holder then\n" \
	"if not serve(KEYS[1], KEYS[3], KEYS[4], grant and KEYS[2], nil, false, take_first(KEYS[3], grant)) then\n" \
	"redis.call('DEL', KEYS[1])\nend\nend\n" \
	"wake(KEYS[3], KEYS[4])\n" \
	"end)\n" \
	"if not done then\n" \
	"if holder == false then\n" \
	"free(KEYS[1])\nend\n" \
	"return failure(problem)\nend\n" \
	"return holder == ARGV[1] and 1 or 0\n"

#define DLOCK_LUA_PERMITS_ACQUIRE \
	"local sweeps, own = false, tonumber(ARGV[9])\n" \
	"if ARGV[2] == '1' then\n" \
	"local pool, time = KEYS[1], redis.pcall('TIME')\n" \
	"local queue, used, fence, lasts = unpack(redis.call('ZMSCORE', pool, '$queue', '$used', '$fence', '$until'))\n" \
	"if not time.err and not queue and used and lasts and used + 1 <= tonumber(ARGV[3]) then\n" \
	"local us, ttl = time[1] * 1000000 + time[2], tonumber(ARGV[4])\n" \
	"local token, ends = math.max(us, 1 - fence), math.floor(us / 1000) + ttl\n" \
	"sweeps = token % 16 == 0\n" \
	"if us >= 1e15 and ends <= -lasts and not sweeps then\n" \
	"if redis.call('ZADD', pool, used + 1, '$used', -token, '$fence', ends, 'h' .. ARGV[1]) > 0 then\n" \
	"return {1, token, 1, ttl}\nend\n" \
	"redis.call('ZADD', pool, used, '$used')\n" \
	"return {1, token, tonumber(redis.call('ZSCORE', pool, 'w' .. ARGV[1]) or 1), ttl}\nend\nend\nend\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	"local unsettled, replid, settles = 0\n" \
	DLOCK_LUA_PERMITS_CONTEND

#define DLOCK_LUA_PERMITS_ACQUIRE_REPLICATED \
	DLOCK_LUA_EPOCH \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	"local own, sweeps, unsettled, replid, settles = tonumber(ARGV[11]), false,\n" \
	"check_epoch(KEYS[2], ARGV[9], ARGV[10] ~= '-')\n" \
	DLOCK_LUA_PERMITS_CONTEND

#define DLOCK_LUA_PERMITS_BREAK \
	DLOCK_LUA_ID \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	"local pool = KEYS[1]\n" \
	"local now = math.floor(clock(pool) / 1000)\n" \
	"local holders = redis.call('ZRANGEBYSCORE', pool, string.format('%.0f', now), string.format('(%.0f', WAITS),\n" \
	"'WITHSCORES')\n" \
	"for i = 1, #holders, 2 do\n" \
	"local name = string.sub(holders[i], 2)\n" \
	"if id_of(name) == ARGV[1] then\n" \
	"if ARGV[3] ~= '1' and string.sub(name, 1, 7) == 'broken:' then\n" \
	"return holders[i + 1] - now\nend\n" \
	"local permits, used = redis.call('ZSCORE', pool, 'w' .. name), redis.call('ZSCORE', pool, '$used')\n" \
	"redis.call('ZREM', pool, holders[i], 'w' .. name)\n" \
	"if ARGV[3] == '1' then\n" \
	"redis.call('ZADD', pool, used - (permits or 1), '$used')\n" \
	"return 0\nend\n" \
	"local other = 'broken:' .. ARGV[1] .. ':' .. ARGV[2]\n" \
	"local ends, before = holders[i + 1], redis.call('ZSCORE', pool, 'h' .. other)\n" \
	"if before then\n" \
	"ends = math.max(ends, before)\n" \
	"permits = (permits or 1) + (redis.call('ZSCORE', pool, 'w' .. other) or 1)\nend\n" \
	"redis.call('ZADD', pool, ends, 'h' .. other)\n" \
	"if permits then\n" \
	"redis.call('ZADD', pool, permits, 'w' .. other)\nend\n" \
	"return ends - now\nend\nend\n" \
	"return -1\n"

#define DLOCK_LUA_PERMITS_CHECK \
	DLOCK_LUA_PERMITS_CLOCK \
	"local ends, permits = unpack(redis.call('ZMSCORE', KEYS[1], 'h' .. ARGV[1], 'w' .. ARGV[1]))\n" \
	"if not ends then\n" \
	"return {-1, 0}\nend\n" \
	"return {math.max(0, ends - math.floor(clock(KEYS[1]) / 1000)), tonumber(permits or 1)}\n"

#define DLOCK_LUA_PERMITS_COUNTS \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	"local pool = KEYS[1]\n" \
	"local all, used = tonumber(ARGV[1]), tonumber(redis.call('ZSCORE', pool, '$used') or 0)\n" \
	"local over = 0\n" \
	"local ids = redis.call('ZRANGEBYSCORE', pool, HELD, string.format('(%.0f', math.floor(clock(pool) / 1000)))\n" \
	"for first = 1, #ids, 1000 do\n" \
	"local names = {}\n" \
	"for i = first, math.min(first + 999, #ids) do\n" \
	"names[#names + 1] = 'w' .. string.sub(ids[i], 2)\nend\n" \
	"for _, permits in ipairs(redis.call('ZMSCORE', pool, unpack(names))) do\n" \
	"over = over + (permits or 1)\nend\nend\n" \
	"return {all, all - used + over, used - over, redis.call('ZCOUNT', pool, WAITS, '+inf')}\n"

#define DLOCK_LUA_PERMITS_DOWNGRADE \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local replicated = false\n" \
	"local function is_unsettled()\n" \
	"return false\nend\n" \
	DLOCK_LUA_PERMITS_BECOME_READER

#define DLOCK_LUA_PERMITS_DOWNGRADE_REPLICATED \
	DLOCK_LUA_EPOCH \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local replicated = true\n" \
	"local function is_unsettled()\n" \
	"return check_epoch(KEYS[2], ARGV[3]) ~= 0\nend\n" \
	DLOCK_LUA_PERMITS_BECOME_READER

#define DLOCK_LUA_PERMITS_DROP \
	"local pool, held = KEYS[1], 'h' .. ARGV[1]\n" \
	"local ends, permits, used = unpack(redis.call('ZMSCORE', pool, held, 'w' .. ARGV[1], '$used'))\n" \
	"if not ends then\n" \
	"return 0\nend\n" \
	"redis.call('ZREM', pool, held, 'w' .. ARGV[1])\n" \
	"redis.call('ZADD', pool, used - (permits or 1), '$used')\n" \
	"return 1\n"

#define DLOCK_LUA_PERMITS_EXCHANGE \
	DLOCK_LUA_PERMITS_CLOCK \
	"local pool = KEYS[1]\n" \
	"local n = redis.call('ZMSCORE', pool, 'h' .. ARGV[1], 'h' .. ARGV[2], 'w' .. ARGV[1], 'w' .. ARGV[2], " \
	"'$fence')\n" \
	"local now = clock(pool)\n" \
	"local ends, permits = tonumber(n[1] or n[2] or 0), n[1] and n[3] or n[4]\n" \
	"local left, fence = ends - math.floor(now / 1000), math.max(now, 1 - (n[5] or 0))\n" \
	"if left < 1 then\n" \
	"return {0}\nend\n" \
	"if n[1] then\n" \
	"redis.call('ZREM', pool, 'h' .. ARGV[1], 'w' .. ARGV[1])\nend\n" \
	"redis.call('ZADD', pool, -fence, '$fence', ends, 'h' .. ARGV[2])\n" \
	"if permits then\n" \
	"redis.call('ZADD', pool, permits, 'w' .. ARGV[2])\nend\n" \
	"return {1, fence, left, tonumber(permits or 1)}\n"

#define DLOCK_LUA_PERMITS_EXCHANGE_REPLICATED \
	DLOCK_LUA_EPOCH \
	"local unsettled, replid, settles = check_epoch(KEYS[2], ARGV[3], ARGV[4] ~= '-')\n" \
	"if unsettled ~= 0 then\n" \
	"return {2, unsettled, replid, settles}\nend\n" \
	"local used, cap = unpack(redis.call('ZMSCORE', KEYS[1], '$used', '$cap'))\n" \
	"if used and tonumber(used) > tonumber(cap or ARGV[5]) then\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"if not make_room(read(KEYS[1], clock(KEYS[1])), 0, cap or ARGV[5]) then\n" \
	"return {0}\nend\nend\n" \
	DLOCK_LUA_PERMITS_EXCHANGE

#define DLOCK_LUA_PERMITS_INSPECT \
	DLOCK_LUA_ID \
	DLOCK_LUA_PERMITS_POOL \
	"local pool, most = KEYS[1], ARGV[1]\n" \
	"local time = redis.pcall('TIME')\n" \
	"local us = time.err and 0 or time[1] * 1000000 + time[2]\n" \
	"local now, reply = math.floor(us / 1000), {string.format('%.0f', us), 0, 0}\n" \
	"local function add(kind, name, left, permits, said)\n" \
	"for _, word in ipairs({kind, id_of(name), left, permits, said}) do\n" \
	"reply[#reply + 1] = word\nend\nend\n" \
	"local range = string.format('(%.0f', WAITS)\n" \
	"local holders = redis.call('ZRANGEBYSCORE', pool, string.format('%.0f', math.max(now, HELD)), range, " \
	"'WITHSCORES',\n" \
	"'LIMIT', 0, most)\n" \
	"reply[2] = redis.call('ZCOUNT', pool, string.format('%.0f', math.max(now, HELD)), range)\n" \
	"for i = 1, #holders, 2 do\n" \
	"local name = string.sub(holders[i], 2)\n" \
	"local broken = string.match(name, '^broken:[^:]*:(.*)$')\n" \
	"local said = not broken and redis.pcall('HGET', KEYS[2], id_of(name))\n" \
	"said = broken and 'broken ' .. broken or type(said) == 'string' and string.match(said, '^%d+ (.*)$') or ''\n" \
	"add('h', name, us > 0 and math.floor(holders[i + 1] - now) or -1, tonumber(redis.call('ZSCORE', pool, 'w' .. " \
	"name)\n" \
	"or 1), said)\nend\n" \
	"local queue = tonumber(redis.call('ZSCORE', pool, '$queue') or 0)\n" \
	"local waiting = redis.call('ZCOUNT', pool, WAITS, '+inf')\n" \
	"local readers = redis.call('ZRANGEBYSCORE', pool, WAITS, string.format('(%.0f', ALONE), 'LIMIT', 0, most)\n" \
	"local writers = queue <= PHASES and redis.call('ZRANGEBYSCORE', pool, string.format('%.0f', ALONE), '+inf', " \
	"'LIMIT', 0,\n" \
	"most) or {}\n" \
	"local names = {}\n" \
	"if queue < PHASES or #writers == 0 then\n" \
	"for _, list in ipairs({readers, writers}) do\n" \
	"for _, name in ipairs(list) do names[#names + 1] = name end\nend\n" \
	"else\n" \
	"names[1] = table.remove(writers, 1)\n" \
	"for _, list in ipairs({readers, writers}) do\n" \
	"for _, name in ipairs(list) do names[#names + 1] = name end\nend\nend\n" \
	"for i = 1, math.min(#names, tonumber(most)) do\n" \
	"local sign = redis.call('ZSCORE', pool, 's' .. string.sub(names[i], 2))\n" \
	"local permits, id, said = string.match(names[i], '^q(%d+) %d+ (%S+) %S* ?(.*)$')\n" \
	"if permits and sign and (us == 0 or now - math.floor(-sign / 1000) < STALE) then\n" \
	"add('q', id, 0, tonumber(permits), said)\n" \
	"else\n" \
	"waiting = waiting - 1\nend\nend\n" \
	"reply[3] = waiting\n" \
	"return reply\n"

#define DLOCK_LUA_PERMITS_KEEP \
	DLOCK_LUA_PERMITS_CLOCK \
	"local pool, held, ttl = KEYS[1], 'h' .. ARGV[1], tonumber(ARGV[2])\n" \
	"local ends, lasts, permits = unpack(redis.call('ZMSCORE', pool, held, '$until', 'w' .. ARGV[1]))\n" \
	"if not ends or tonumber(permits or 1) < tonumber(ARGV[4]) then\n" \
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
	"redis.call('ZREM', KEYS[1], waiter_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4]))\n" \
	"serve(read(KEYS[1], clock(KEYS[1])))\n" \
	"return redis.call('ZSCORE', KEYS[1], 'h' .. ARGV[1]) and 1 or 0\n"

#define DLOCK_LUA_PERMITS_RELEASE \
	"local pool, held = KEYS[1], 'h' .. ARGV[1]\n" \
	"if not ARGV[2] then\n" \
	"local queue, used, permits = unpack(redis.call('ZMSCORE', pool, '$queue', '$used', 'w' .. ARGV[1]))\n" \
	"if not queue then\n" \
	"if redis.call('ZREM', pool, held, permits and 'w' .. ARGV[1] or held) == 0 then\n" \
	"return 0\nend\n" \
	"redis.call('ZADD', pool, used - (permits or 1), '$used')\n" \
	"return 1\nend\nend\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"if ARGV[2] then\n" \
	"redis.call('ZREM', pool, waiter_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4]))\nend\n" \
	"local state = read(pool, clock(pool))\n" \
	"local ends, permits = unpack(redis.call('ZMSCORE', pool, held, 'w' .. ARGV[1]))\n" \
	"if ends then\n" \
	"drop(state, { ARGV[1] }, { permits })\nend\n" \
	"local granted = serve(state)\n" \
	"return ends and (granted and 2 or 1) or 0\n"

#define DLOCK_LUA_PERMITS_RELEASE_REPLICATED \
	DLOCK_LUA_EPOCH \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local pool, id = KEYS[1], ARGV[1]\n" \
	"local state = read(pool, clock(pool))\n" \
	"state.replicated = true\n" \
	"local ends, permits = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))\n" \
	"local had = ends\n" \
	"if ARGV[3] then\n" \
	"redis.call('ZREM', pool, waiter_of(id, ARGV[3], ARGV[4], ARGV[5]))\nend\n" \
	"if had then\n" \
	"drop(state, { id }, { permits })\nend\n" \
	"if state.queue ~= 0 and check_epoch(KEYS[2], ARGV[2]) ~= 0 then\n" \
	"note_queue(state, false)\n" \
	"elseif serve(state) and had then\n" \
	"return 2\nend\n" \
	"return had and 1 or 0\n"

#define DLOCK_LUA_PERMITS_RENEW \
	DLOCK_LUA_PERMITS_CLOCK \
	"local pool, held, ttl = KEYS[1], 'h' .. ARGV[1], tonumber(ARGV[2])\n" \
	"local n = redis.call('ZMSCORE', pool, held, '$until')\n" \
	"if not n[1] then\n" \
	"return 0\nend\n" \
	"local ends, last = math.floor(clock(pool) / 1000) + ttl, -(n[2] or 0)\n" \
	"if last < ends then\n" \
	"last = ends + math.min(ttl, 60000)\nend\n" \
	"redis.call('PEXPIREAT', pool, last)\n" \
	"redis.call('ZADD', pool, 'XX', -last, '$until')\n" \
	"redis.call('ZADD', pool, 'XX', ARGV[3] == '1' and math.max(ends, n[1]) or ends, held)\n" \
	"return 1\n"

#define DLOCK_LUA_PERMITS_RESTORE \
	DLOCK_LUA_EPOCH \
	DLOCK_LUA_FORGED \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	"local pool, id, ttl, permits = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[5])\n" \
	"local state, ends, had = read(pool, clock(pool)), unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))\n" \
	"had = ends and tonumber(had or 1) or 0\n" \
	"local function write()\n" \
	"redis.call('SET', KEYS[2], redis.call('GET', KEYS[2]) or '')\nend\n" \
	"if had < permits and check_epoch(KEYS[2], ARGV[4]) == 0 then\n" \
	"write()\n" \
	"return 0\nend\n" \
	"state.fence = math.max(state.fence, tonumber(ARGV[3]))\n" \
	"if ttl == 0 then\n" \
	"if ends then\n" \
	"drop(state, { id }, { had })\n" \
	"else\n" \
	"write()\nend\n" \
	"return 1\nend\n" \
	"local at = math.max(state.now + ttl, ends or 0)\n" \
	"if had >= permits then\n" \
	"redis.call('ZADD', pool, -state.fence, '$fence', at, 'h' .. id)\n" \
	"write()\n" \
	"else\n" \
	"hold(pool, id, permits, state.used - had, state.fence, at)\nend\n" \
	"keep(state, at)\n" \
	"return 1\n"

#define DLOCK_LUA_PERMITS_UNCHANGED \
	"local pool, id = KEYS[1], ARGV[1]\n" \
	"local ends, permits, used = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id, '$used'))\n" \
	"if not ends then\n" \
	"return 0\nend\n" \
	"local epoch = KEYS[2]\n" \
	DLOCK_LUA_ATTACHED \
	"local old = ARGV[3] or ''\n" \
	"if old == '-' then\n" \
	"redis.call('ZREM', pool, 'w' .. id)\n" \
	"redis.call('ZADD', pool, used - (permits or 1) + 1, '$used')\n" \
	"return {unsettled, replid, settles}\nend\n" \
	"redis.call('ZREM', pool, 'h' .. id, 'w' .. id)\n" \
	"if old == '' then\n" \
	"redis.call('ZADD', pool, used - (permits or 1), '$used')\n" \
	"elseif permits then\n" \
	"redis.call('ZADD', pool, ends, 'h' .. old, permits, 'w' .. old)\n" \
	"else\n" \
	"redis.call('ZADD', pool, ends, 'h' .. old)\nend\n" \
	"return {unsettled, replid, settles}\n"

#define DLOCK_LUA_PERMITS_UPGRADE \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local replicated = false\n" \
	DLOCK_LUA_PERMITS_BECOME_WRITER

#define DLOCK_LUA_PERMITS_UPGRADE_REPLICATED \
	DLOCK_LUA_EPOCH \
	"local unsettled, replid, settles = check_epoch(KEYS[2], ARGV[4], ARGV[5] ~= '-')\n" \
	"if unsettled ~= 0 then\n" \
	"return {0, unsettled, -1, '0', 0, unsettled, replid, settles}\nend\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_PERMITS_POOL \
	DLOCK_LUA_PERMITS_QUEUE \
	"local used = tonumber(redis.call('ZSCORE', KEYS[1], '$used') or 0)\n" \
	"if used > ALL and not make_room(read(KEYS[1], clock(KEYS[1])), 0, ALL) then\n" \
	"return {0, -1, -1, '0', 0}\nend\n" \
	"local replicated = true\n" \
	DLOCK_LUA_PERMITS_BECOME_WRITER

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
	"local queued = grant and redis.pcall('ZPOPMIN', queue) or redis.pcall('ZRANGE', queue, 0, 0, 'WITHSCORES')\n" \
	"if not queued[1] then\n" \
	"local deleted = redis.call('DEL', lock)\n" \
	"return queued.err and queued or deleted\nend\n" \
	DLOCK_LUA_FENCING \
	DLOCK_LUA_HANDOVER \
	"local done, told = pcall(function()\n" \
	"if not grant then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"local next = serve(lock, queue, KEYS[4], grant and KEYS[2], ARGV[3], false, queued[1], queued[2])\n" \
	"if grant and not next then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"wake(queue, KEYS[4])\n" \
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
	"if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('GET', KEYS[1]) ~= ARGV[1] " \
	"then\n" \
	"return 0\nend\n" \
	"raise_fence(KEYS[2], ARGV[3], last)\n" \
	"return 1\n"

#define DLOCK_LUA_RESTORE \
	DLOCK_LUA_EPOCH \
	DLOCK_LUA_FORGED \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	"local lock, ttl = KEYS[1], tonumber(ARGV[2])\n" \
	"local holder = redis.call('GET', lock)\n" \
	"redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1)\n" \
	"local lost = holder and holder ~= ARGV[1] or not holder and check_epoch(KEYS[3], ARGV[4]) == 0\n" \
	"if lost or ttl == 0 then\n" \
	"redis.call('SET', KEYS[3], redis.call('GET', KEYS[3]) or '')\nend\n" \
	"if lost then\n" \
	"return 0\nend\n" \
	"if ttl == 0 then\n" \
	"redis.call('DEL', lock)\n" \
	"return 1\nend\n" \
	"redis.call('SET', lock, ARGV[1], 'PX', string.format('%.0f', math.max(ttl, redis.call('PTTL', lock))))\n" \
	"raise_fence(KEYS[2], ARGV[3], redis.call('GET', KEYS[2]))\n" \
	"return 1\n"

#define DLOCK_LUA_SEEN \
	"local time = redis.call('TIME')\n" \
	"local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))\n" \
	"return redis.call('ZRANGEBYSCORE', KEYS[1], now, '+inf', 'LIMIT', 0, ARGV[1])\n"

#define DLOCK_LUA_SETTLE \
	DLOCK_LUA_EPOCH \
	DLOCK_LUA_FENCING \
	"local opened, longest, settles, _, _, _, seen, skew = read_epoch(KEYS[2])\n" \
	"local role = info('replication')\n" \
	"if opened ~= ARGV[1] or string.sub(settles, 1, 1) ~= '0' or field(role, 'master_replid') ~= opened then\n" \
	"return 0\nend\n" \
	"local guard = math.max(longest, ARGV[2])\n" \
	"local left, waited = tonumber(ARGV[4] or guard), tonumber(ARGV[5] or guard)\n" \
	"if settles .. '/' .. seen ~= ARGV[3] or waited < guard then\n" \
	"return 0\nend\n" \
	"local at = time() + left + 1\n" \
	"local until_now = attached_until_now()\n" \
	"local attached = ARGV[6] or until_now\n" \
	"local base = attached == until_now and field(role, 'master_repl_offset') or ''\n" \
	"local times = string.format('%.0f %.0f %.0f', guard, at, waited)\n" \
	"write_epoch(KEYS[2], opened, times, attached, base, seen, skew)\n" \
	DLOCK_LUA_SETTLED_FENCE \
	"raise_settled(KEYS[1], at)\n" \
	"return left + 1\n"

#define DLOCK_LUA_SETTLE_NOW \
	DLOCK_LUA_EPOCH \
	DLOCK_LUA_FENCING \
	"local MARGIN = 1000\n" \
	"local opened, longest, settles, waited, attached, base, seen, skew = read_epoch(KEYS[2])\n" \
	"local role = info('replication')\n" \
	"if opened ~= ARGV[1] or field(role, 'master_replid') ~= opened or attached_until_now() ~= ARGV[3] then\n" \
	"return 0\nend\n" \
	"local now, settled = time(), string.sub(settles, 1, 1) == '-'\n" \
	"local found = ARGV[5] == '-1' and '' or ARGV[5]\n" \
	"local carried = settled and now + settles > tonumber(longest) and '0' or skew\n" \
	"local together = carried ~= '' and found ~= '' and string.format('%.0f', carried + found) or ''\n" \
	"local knows = seen ~= '' and tonumber(ARGV[4]) >= 0 and tonumber(ARGV[4]) <= seen + 1\n" \
	"and tonumber(longest) <= tonumber(ARGV[2])\n" \
	"if knows and (settled or skew ~= '' and tonumber(skew) <= MARGIN) then\n" \
	"local offset = field(role, 'master_repl_offset')\n" \
	"local at = settled and settles or string.format('%.0f', -now)\n" \
	"write_epoch(KEYS[2], opened, longest, at, settled and waited or longest, ARGV[3], offset, offset, together)\n" \
	"if not settled then\n" \
	DLOCK_LUA_SETTLED_FENCE \
	"raise_settled(KEYS[1], now)\nend\n" \
	"return 1\nend\n" \
	"if settled or seen ~= '' or found == '' then\n" \
	"return 0\nend\n" \
	"if found ~= skew then\n" \
	"write_epoch(KEYS[2], opened, longest, settles, waited, attached, base, seen, found)\nend\n" \
	"return 2\n"

#define DLOCK_LUA_SEVERAL_ACQUIRE \
	"local n, fence = #KEYS - 1, KEYS[#KEYS]\n" \
	"local token, ttl, least = ARGV[1], ARGV[2], ARGV[3] or ''\n" \
	"local free_now, failed = redis.pcall('EXISTS', unpack(KEYS, 1, n)) == 0, nil\n" \
	"if free_now then\n" \
	"for i = 1, n, 3 do\n" \
	"local set = redis.pcall('SET', KEYS[i], token, 'PX', ttl)\n" \
	"failed = failed or set.err and set\nend\n" \
	"local counted = not failed and least == '' and redis.pcall('INCR', fence)\n" \
	"if type(counted) == 'number' and counted > 1 then\n" \
	"return counted\nend\nend\n" \
	DLOCK_LUA_FENCING \
	"local function next_token()\n" \
	"return tonumber(fencing_token(fence, (least == '' or least == '0') and clock() or least))\nend\n" \
	"local inbox, ticket, number, grant = ARGV[4] or '', ARGV[5] or '', ARGV[6], ARGV[7] ~= '0'\n" \
	"local me = (ARGV[8] or '') == '' and '*' .. token or ARGV[8]\n" \
	"local unsettled = 0\n" \
	DLOCK_LUA_SEVERAL_CONTEND

#define DLOCK_LUA_SEVERAL_ACQUIRE_REPLICATED \
	"local n, fence, epoch = #KEYS - 2, KEYS[#KEYS - 1], KEYS[#KEYS]\n" \
	"local token, ttl, guard = ARGV[1], ARGV[2], ARGV[3]\n" \
	"local free_now, failed, counted = false, nil, false\n" \
	"local function grant()\n" \
	"free_now = redis.pcall('EXISTS', unpack(KEYS, 1, n)) == 0\n" \
	"for i = 1, free_now and n or 0, 3 do\n" \
	"local set = redis.pcall('SET', KEYS[i], token, 'PX', ttl)\n" \
	"failed = failed or set.err and set\nend\n" \
	"counted = free_now and not failed and redis.pcall('INCR', fence)\nend\n" \
	DLOCK_LUA_SETTLED \
	"local inbox, ticket, number, grant, me = ARGV[5] or '', ARGV[6] or '', ARGV[7], true, '*' .. token\n" \
	DLOCK_LUA_SEVERAL_CONTEND

#define DLOCK_LUA_SEVERAL_EXCHANGE \
	DLOCK_LUA_SEVERAL_SWAP \
	"return swap_all(#KEYS - 1, KEYS[#KEYS], ARGV[1], ARGV[2], ARGV[3])\n"

#define DLOCK_LUA_SEVERAL_EXCHANGE_REPLICATED \
	DLOCK_LUA_EPOCH \
	"local unsettled, replid, settles = check_epoch(KEYS[#KEYS], ARGV[4], ARGV[5] ~= '-')\n" \
	"if unsettled ~= 0 then\n" \
	"return {2, unsettled, replid, settles}\nend\n" \
	DLOCK_LUA_SEVERAL_SWAP \
	"return swap_all(#KEYS - 2, KEYS[#KEYS - 1], ARGV[1], ARGV[2], ARGV[3])\n"

#define DLOCK_LUA_SEVERAL_KEEP \
	"local ttl, own = tonumber(ARGV[2]), 0\n" \
	"for _, lock in ipairs(KEYS) do\n" \
	"own = own + (redis.pcall('GET', lock) == ARGV[1] and 1 or 0)\nend\n" \
	"if own == #KEYS then\n" \
	"local least\n" \
	"for _, lock in ipairs(KEYS) do\n" \
	"local left = (ttl == 0 or ARGV[3] ~= '1') and redis.call('PTTL', lock) or 0\n" \
	"least = math.min(least or left, left)\n" \
	"if ttl > 0 and left < ttl then\n" \
	"redis.call('PEXPIRE', lock, ttl)\nend\nend\n" \
	"return ttl > 0 and 1 or least\nend\n" \
	"return 0\n"

#define DLOCK_LUA_SEVERAL_KEEP_REPLICATED \
	"local token, ttl, missing, foreign = ARGV[1], tonumber(ARGV[2]), nil, nil\n" \
	"for _, lock in ipairs(KEYS) do\n" \
	"local holder = redis.call('GET', lock)\n" \
	"if not holder then\n" \
	"missing = lock\n" \
	"elseif holder ~= token then\n" \
	"foreign = lock\nend\nend\n" \
	"if missing or foreign then\n" \
	"redis.call('SET', foreign or missing, '', foreign and 'NX' or 'XX', 'PX', 1)\n" \
	"return foreign and 0 or 2\nend\n" \
	"for _, lock in ipairs(ttl > 0 and KEYS or {}) do\n" \
	"redis.call('PEXPIRE', lock, ARGV[3] == '1' and ttl or math.max(ttl, redis.call('PTTL', lock)))\nend\n" \
	"return 1\n"

#define DLOCK_LUA_SEVERAL_LEAVE \
	DLOCK_LUA_FENCING \
	DLOCK_LUA_HANDOVER \
	"local problem\n" \
	"for i = 1, #KEYS - 1, 3 do\n" \
	"local lock, queue, waiters = KEYS[i], KEYS[i + 1], KEYS[i + 2]\n" \
	"local done, err = pcall(function()\n" \
	"forget(queue, waiters, ARGV[1])\n" \
	"if not value_of(lock) then\n" \
	"serve(lock, queue, waiters, nil, nil, false, take_first(queue, false))\nend\n" \
	"wake(queue, waiters)\n" \
	"end)\n" \
	"problem = problem or not done and err\nend\n" \
	"return problem and failure(problem) or 0\n"

#define DLOCK_LUA_SEVERAL_RAISE \
	DLOCK_LUA_FORGED \
	"if is_forged(ARGV[2]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	"local fence = KEYS[#KEYS]\n" \
	"for i = 1, #KEYS - 1, 3 do\n" \
	"if redis.call('GET', KEYS[i]) ~= ARGV[1] then\n" \
	"return 0\nend\nend\n" \
	"local last = redis.call('GET', fence)\n" \
	"raise_fence(fence, ARGV[2], last)\n" \
	"if ARGV[3] == '1' and tonumber(last or 0) >= tonumber(ARGV[2]) then\n" \
	"redis.call('SET', fence, last)\nend\n" \
	"return 1\n"

#define DLOCK_LUA_SEVERAL_RELEASE \
	"local n, token, locks = #KEYS - 1, ARGV[1], {}\n" \
	"for i = 1, n, 3 do\n" \
	"locks[#locks + 1] = KEYS[i]\nend\n" \
	"if ARGV[2] ~= '1' and redis.call('EXISTS', unpack(KEYS, 1, n)) == #locks then\n" \
	"local own = 0\n" \
	"for _, lock in ipairs(locks) do\n" \
	"own = own + (redis.pcall('GET', lock) == token and 1 or 0)\nend\n" \
	"if own == #locks then\n" \
	"redis.call('DEL', unpack(locks))\n" \
	"return 1\nend\nend\n" \
	DLOCK_LUA_FENCING \
	DLOCK_LUA_HANDOVER \
	"local grant, me = ARGV[3] ~= '0', ARGV[4]\n" \
	"local had, notified, problem = 0, false, nil\n" \
	"for i = 1, n, 3 do\n" \
	"local lock, queue, waiters = KEYS[i], KEYS[i + 1], KEYS[i + 2]\n" \
	"local done, err = pcall(function()\n" \
	"local holder, leaves = value_of(lock), ARGV[2] == '1'\n" \
	"if leaves then\n" \
	"forget(queue, waiters, '*' .. token)\nend\n" \
	"had = had + (holder == token and 1 or 0)\n" \
	"if holder == token or leaves and not holder then\n" \
	"if not grant then\n" \
	"redis.call('DEL', lock)\nend\n" \
	"local next = serve(lock, queue, waiters, grant and KEYS[#KEYS], me, false, take_first(queue, grant))\n" \
	"notified = notified or next\n" \
	"if grant and not next then\n" \
	"redis.call('DEL', lock)\nend\nend\n" \
	"wake(queue, waiters, me)\n" \
	"end)\n" \
	"if not done then\n" \
	"problem = problem or err\n" \
	"if redis.pcall('GET', lock) == token then\n" \
	"free(lock)\nend\nend\nend\n" \
	"if problem then\n" \
	"return failure(problem)\nend\n" \
	"return had < #locks and 0 or notified and 2 or 1\n"

#define DLOCK_LUA_SEVERAL_REPAIR \
	DLOCK_LUA_FORGED \
	DLOCK_LUA_FAILURE \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	"local fence, missing = KEYS[#KEYS], {}\n" \
	"local last = redis.call('GET', fence)\n" \
	"for i = 1, #KEYS - 1, 3 do\n" \
	"local holder = redis.call('GET', KEYS[i])\n" \
	"if holder and holder ~= ARGV[1] then\n" \
	"return 0\n" \
	"elseif not holder then\n" \
	"missing[#missing + 1] = KEYS[i]\nend\nend\n" \
	"local done, problem = pcall(function()\n" \
	"for i = 1, #KEYS - 1, 3 do\n" \
	"redis.call('SET', KEYS[i], ARGV[1], 'PX', math.max(tonumber(ARGV[2]), redis.call('PTTL', KEYS[i])))\nend\n" \
	"raise_fence(fence, ARGV[3], last)\n" \
	"end)\n" \
	"if done then\n" \
	"return 1\nend\n" \
	"for _, lock in ipairs(missing) do\n" \
	"redis.pcall('DEL', lock)\nend\n" \
	"return failure(problem)\n"

#define DLOCK_LUA_SEVERAL_RESTORE \
	DLOCK_LUA_EPOCH \
	DLOCK_LUA_FORGED \
	"if is_forged(ARGV[3]) then\n" \
	"return redis.error_reply(FORGED)\nend\n" \
	DLOCK_LUA_FAILURE \
	"local n, fence, epoch, ttl, missing, foreign = #KEYS - 2, KEYS[#KEYS - 1], KEYS[#KEYS], tonumber(ARGV[2]), " \
	"{}, false\n" \
	"for i = 1, n, 3 do\n" \
	"local holder = redis.call('GET', KEYS[i])\n" \
	"if not holder then\n" \
	"missing[#missing + 1] = KEYS[i]\nend\n" \
	"foreign = foreign or holder and holder ~= ARGV[1]\n" \
	"redis.call('SET', KEYS[i], '', holder and 'NX' or 'XX', 'PX', 1)\nend\n" \
	"local lost = foreign or missing[1] and check_epoch(epoch, ARGV[4]) == 0\n" \
	"if lost or ttl == 0 then\n" \
	"redis.call('SET', epoch, redis.call('GET', epoch) or '')\nend\n" \
	"if lost then\n" \
	"return 0\nend\n" \
	"local done, problem = pcall(function()\n" \
	"for i = 1, n, 3 do\n" \
	"local lock = KEYS[i]\n" \
	"if ttl == 0 then\n" \
	"redis.call('DEL', lock)\n" \
	"else\n" \
	"redis.call('SET', lock, ARGV[1], 'PX', string.format('%.0f', math.max(ttl, redis.call('PTTL', " \
	"lock))))\nend\nend\n" \
	"if ttl > 0 then\n" \
	"raise_fence(fence, ARGV[3], redis.call('GET', fence))\nend\n" \
	"end)\n" \
	"if done then\n" \
	"return 1\nend\n" \
	"for _, lock in ipairs(missing) do\n" \
	"redis.pcall('DEL', lock)\nend\n" \
	"return failure(problem)\n"

#define DLOCK_LUA_SEVERAL_UNCHANGED \
	"local n, epoch = #KEYS - 2, KEYS[#KEYS]\n" \
	"for i = 1, n, 3 do\n" \
	"if redis.call('GET', KEYS[i]) ~= ARGV[1] then\n" \
	"return 0\nend\nend\n" \
	DLOCK_LUA_ATTACHED \
	"local old = ARGV[3] or ''\n" \
	"for i = 1, n, 3 do\n" \
	"if old ~= '' then\n" \
	"redis.call('SET', KEYS[i], old, 'PX', math.max(1, redis.call('PTTL', KEYS[i])))\n" \
	"else\n" \
	"redis.call('DEL', KEYS[i])\nend\nend\n" \
	"return {unsettled, replid, settles}\n"

#define DLOCK_LUA_STOCK_BASKET \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local id, ttl, limit, inbox, ticket, products, us = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4],\n" \
	"tonumber(ARGV[5]), ARGV[8], clock(KEYS[1])\n" \
	"local waits, buyer, waited = inbox ~= '', buyer_of(id), false\n" \
	"local stocks, was = {}, 0\n" \
	"local function one_token()\n" \
	"local fence = 0\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"fence = math.max(fence, next_token(stock))\nend\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"local by = fence - next_token(stock)\n" \
	"if by > 1000 then\n" \
	"stock.ahead = stock.ahead + by\n" \
	"redis.call('ZADD', stock.pool, -stock.ahead, '$ahead', -stock.shift, '$shift')\nend\n" \
	"stock.fence = fence\n" \
	"redis.call('ZADD', stock.pool, -fence, '$fence')\nend\n" \
	"return fence\nend\n" \
	"local function enqueue(stock)\n" \
	"local place, signs, wish, strict = names_of(stock.waiter)\n" \
	"if ticket == 0 then\n" \
	"for _, other in ipairs(stocks) do\n" \
	"ask_anew(other, id, other.score)\nend\n" \
	"ticket = one_token()\nend\n" \
	"local added = redis.call('ZADD', stock.pool, 'LT', ticket, place, -stock.now * 1000 - ARGV[6] % 1000, signs,\n" \
	"WANTS + stock.wants, wish, -1, '$queue')\n" \
	"if ARGV[7] ~= '' then\n" \
	"redis.call('ZADD', stock.pool, 'LT', ticket + STRICT - WAITS, strict)\nend\n" \
	"stock.queue, waited = true, waited or added < 3\nend\n" \
	"local function leave(reply, at)\n" \
	"for i, stock in ipairs(stocks) do\n" \
	"if waits and i ~= at and stock.queue and redis.call('ZREM', stock.pool, names_of(stock.waiter)) > 0 then\n" \
	"stock.left = true\nend\n" \
	"if i ~= at then\n" \
	"serve(stock)\nend\n" \
	"if stock.left then\n" \
	"note_queue(stock)\nend\nend\n" \
	"return reply\nend\n" \
	"local function again()\n" \
	"return {-2, string.format('%.0f', ticket)}\nend\n" \
	"local function refused(stock, i)\n" \
	"local possible = stock.wants <= stock.all - stock.sold\n" \
	"is_allowed(stock, buyer, stock.wants, limit)\n" \
	"make_room(stock, stock.wants)\n" \
	"if waits and possible and stock.queue then\n" \
	"enqueue(stock)\nend\n" \
	"serve(stock, false, stock.waiter)\n" \
	"local may, has, unsure = is_allowed(stock, buyer, stock.wants, limit)\n" \
	"if not stock.known or stock.closed > 0 then\n" \
	"return {-5, stock.closed, i}\n" \
	"elseif not may then\n" \
	"return unsure and again() or {-1, has, i}\nend\n" \
	"local room, more = make_room(stock, stock.wants)\n" \
	"if not room or not (stock.turn or lets_pass(stock)) then\n" \
	"if more or waits and stock.more then\n" \
	"return again()\n" \
	"elseif not waits or not possible then\n" \
	"return {0, i}\nend\n" \
	"stock.lacks = true\nend\nend\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local stock = read(pool, us, #KEYS)\n" \
	"stocks[i], stock.wants = stock, tonumber(ARGV[8 + i])\n" \
	"stock.waiter = waits and string.format('q%s %s %sm %s %s', ARGV[8 + i], ARGV[3], ARGV[7], id, inbox)\nend\n" \
	"local reserved, bought, fence, left, ago = 0, 0, 0, math.huge, 0\n" \
	"for i, stock in ipairs(stocks) do\n" \
	"sweep(stock, 1)\n" \
	"local score, units, signature = order_of(stock, id)\n" \
	"stock.score, stock.units = score, units\n" \
	"if score > 0 and score < ENDED then\n" \
	"if signature ~= products or units ~= stock.wants then\n" \
	"return leave({-4, units, i, signature ~= products and 1 or 0})\n" \
	"elseif score < SOLD then\n" \
	"reserved, left = reserved + 1, math.min(left, math.floor(score) - stock.now)\n" \
	"else\n" \
	"bought, ago = bought + 1, math.max(ago, stock.now - math.floor(score % 1e13))\nend\n" \
	"elseif ticket > 0 and is_settled(score) then\n" \
	"return leave({-3})\nend\n" \
	"if score > 0 and (was == 0 or generation_of(score) > generation_of(was)) then\n" \
	"was = score\nend\nend\n" \
	"if reserved == #KEYS or bought == #KEYS then\n" \
	"fence = one_token()\n" \
	"return leave(bought > 0 and {2, fence, 0, ago, generation_of(was)} or {1, fence, 0, left, " \
	"generation_of(was)})\nend\n" \
	"local at\n" \
	"for i, stock in ipairs(stocks) do\n" \
	"local reply = bought > 0 and {-4, stock.units, i, 1} or not (stock.score > 0 and stock.score < ENDED)\n" \
	"and refused(stock, i)\n" \
	"if reply then\n" \
	"return reply[1] == -2 and reply or leave(reply)\nend\n" \
	"at = at or stock.lacks and i\nend\n" \
	"if at then\n" \
	"local stock = stocks[at]\n" \
	"enqueue(stock)\n" \
	"return leave({0, at, may_come(stock), redis.call('ZCOUNT', stock.pool, WAITS, string.format('(%.0f', " \
	"ticket)),\n" \
	"string.format('%.0f', ticket), waited and 0 or 1}, at)\nend\n" \
	"fence = one_token()\n" \
	"local generation\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"if stock.score > 0 and stock.score < SOLD then\n" \
	"put_back(stock, id, stock.units, state_at(ENDED, stock.now, 0))\nend\n" \
	"stock.fence = fence - 1\n" \
	"generation = take(stock, id, stock.wants, ttl, was, products)\nend\n" \
	"return leave({1, fence, 0, ttl, generation})\n"

#define DLOCK_LUA_STOCK_CANCEL \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local CANCELS = 100\n" \
	"local id, generation, products, us, stocks, reply, ago = ARGV[1], tonumber(ARGV[2]), ARGV[3], " \
	"clock(KEYS[1]), {}, 2, 0\n" \
	"local queued, found = false, false\n" \
	"local function take_out(stock)\n" \
	"for _, waiter in ipairs(first_waiters(stock, math.ceil(CANCELS / #KEYS))) do\n" \
	"local other, inbox = string.match(waiter, '(%S+) (%S*)$')\n" \
	"if other == id then\n" \
	"local _, signs = names_of(waiter)\n" \
	"tell(id, inbox, redis.call('ZSCORE', stock.pool, signs), 0)\n" \
	"redis.call('ZREM', stock.pool, names_of(waiter))\n" \
	"stock.left, found, reply = true, true, 1\nend\nend\nend\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"stocks[i] = read(pool, us, #KEYS)\n" \
	"queued = queued or stocks[i].queue\nend\n" \
	"for i, stock in ipairs(stocks) do\n" \
	"local signature\n" \
	"stock.score, stock.units, signature = order_of(stock, id)\n" \
	"local why = (stock.score == 0 and not queued and 0)\n" \
	"or (stock.score > 0 and signature ~= products and 5)\n" \
	"or (stock.score > 0 and generation and generation_of(stock.score) ~= generation and 4)\n" \
	"or (stock.score >= SOLD and stock.score < ENDED and 7)\n" \
	"if why then\n" \
	"return serve_each(stocks, {0, i, why})\nend\nend\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"if stock.queue then\n" \
	"take_out(stock)\nend\nend\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"local score, state = stock.score, state_at(CANCELLED, stock.now, generation_of(stock.score))\n" \
	"if score > 0 and score < SOLD then\n" \
	"put_back(stock, id, stock.units, state)\n" \
	"forget_orders(stock, 2)\n" \
	"reply = 1\n" \
	"elseif score < CANCELLED then\n" \
	"redis.call('ZADD', stock.pool, state, 'h' .. id)\n" \
	"if score == 0 and products ~= '' then\n" \
	"redis.call('ZADD', stock.pool, products, 'a' .. id)\nend\n" \
	"reply = reply == 1 and 1 or 3\n" \
	"else\n" \
	"ago = math.max(ago, stock.now - math.floor(score % 1e13))\nend\n" \
	"if found or score >= CANCELLED and score < REFUNDED and (stock.queue or not is_settled(score)) then\n" \
	"redis.call('ZADD', stock.pool, state, 'h' .. id)\n" \
	"elseif score >= REFUNDED and not is_settled(score) then\n" \
	"redis.call('ZADD', stock.pool, string.format('%.6f', score - 1 / 128), 'h' .. id)\nend\n" \
	"serve(stock)\n" \
	"if stock.left then\n" \
	"note_queue(stock)\nend\nend\n" \
	"return {reply, ago}\n"

#define DLOCK_LUA_STOCK_CHANGE \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local id, generation, products, limit, us, stocks, left = ARGV[1], tonumber(ARGV[2]), ARGV[3], " \
	"tonumber(ARGV[4]),\n" \
	"clock(KEYS[1]), {}, math.huge\n" \
	"local same = true\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local stock = read(pool, us, #KEYS)\n" \
	"stocks[i] = stock\n" \
	"stock.score, stock.units, stock.products = order_of(stock, id)\n" \
	"stock.delta = tonumber(ARGV[4 + i]) - stock.units\n" \
	"same = same and stock.delta == 0\nend\n" \
	"for i, stock in ipairs(stocks) do\n" \
	"local score, since = stock.score, stock.now - math.floor(stock.score % 1e13)\n" \
	"local why = (score == 0 and 0)\n" \
	"or (stock.products ~= products and 5)\n" \
	"or (generation and generation_of(score) ~= generation and 4)\n" \
	"or (score >= REFUNDED and 3)\n" \
	"or (score >= CANCELLED and 2)\n" \
	"or (score >= ENDED and 1)\n" \
	"or (score >= SOLD and 7)\n" \
	"if why and not (same and (why == 1 or why == 7)) then\n" \
	"return serve_each(stocks, {0, i, why, (why == 0 or why > 3) and 0 or since})\nend\n" \
	"if stock.delta > 0 then\n" \
	"is_allowed(stock, buyer_of(id), stock.delta, limit)\n" \
	"make_room(stock, stock.delta)\n" \
	"serve(stock)\n" \
	"local may, has, again = is_allowed(stock, buyer_of(id), stock.delta, limit)\n" \
	"local room, more = make_room(stock, stock.delta)\n" \
	"if not may then\n" \
	"return serve_each(stocks, again and {-2} or {0, i, 6, has})\n" \
	"elseif not room or not lets_pass(stock) then\n" \
	"return serve_each(stocks, more and {-2} or {0, i, 10, 0})\nend\nend\n" \
	"left = math.min(left, why and 0 or math.floor(score) - stock.now)\nend\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"local units = stock.units + stock.delta\n" \
	"if stock.delta ~= 0 then\n" \
	"stock.free = stock.free - stock.delta\n" \
	"redis.call('ZREM', stock.pool, '$full')\n" \
	"redis.call('ZADD', stock.pool, stock.free, '$free')\n" \
	"redis.call('ZINCRBY', stock.pool, stock.delta, 'b' .. buyer_of(id))\n" \
	"if units == 1 then\n" \
	"redis.call('ZREM', stock.pool, 'w' .. id)\n" \
	"else\n" \
	"redis.call('ZADD', stock.pool, units, 'w' .. id)\nend\n" \
	"serve(stock)\nend\nend\n" \
	"return same and serve_each(stocks, {2, left}) or {1, left}\n"

#define DLOCK_LUA_STOCK_CONFIRM \
	"local id, generation, products = ARGV[1], tonumber(ARGV[2]), ARGV[3]\n" \
	"if #KEYS == 1 then\n" \
	"local pool, held = KEYS[1], 'h' .. id\n" \
	"local score, units, sold, queue, shift, signature, fence, full =\n" \
	"unpack(redis.call('ZMSCORE', pool, held, 'w' .. id, '$sold', '$queue', '$shift', 'a' .. id, '$fence', " \
	"'$full'))\n" \
	"score = tonumber(score or 0)\n" \
	"local time = score > 0 and score < 1e13 and not queue and not shift and (signature or '') == products\n" \
	"and (not generation or math.floor(score % 1 * 64 + 0.5) == generation) and redis.pcall('TIME')\n" \
	"local now = time and not time.err and math.floor(time[1] * 1000 + time[2] / 1000)\n" \
	"if now and now <= score and now * 1000 > -fence - 1e6 then\n" \
	"sold = (sold or 0) + (units or 1)\n" \
	"if type(redis.pcall('ZADD', pool, sold, '$sold', 1e13 + now + score % 1, held)) == 'table' then\n" \
	"redis.call('PERSIST', pool)\n" \
	"redis.call('ZADD', pool, sold, '$sold', 1e13 + now + score % 1, held)\nend\n" \
	"if full and sold == tonumber(redis.call('ZSCORE', pool, '$stock')) then\n" \
	"redis.call('ZADD', pool, 0, '$full')\nend\n" \
	"return {1}\nend\nend\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local us, limit, stocks, reply, ago = clock(KEYS[1]), tonumber(ARGV[4]), {}, 2, 0\n" \
	"local function refused(stock, i, since)\n" \
	"if stock.closed > 1 then\n" \
	"return {0, i, 1, since}\nend\n" \
	"local room, again = make_room(stock, stock.units)\n" \
	"if not room then\n" \
	"return again and {-2} or {0, i, 1, since}\nend\n" \
	"local may, _, more = is_allowed(stock, buyer_of(id), stock.units, limit)\n" \
	"if not may then\n" \
	"return more and {-2} or {0, i, 6, since}\nend\nend\n" \
	"redis.call('PERSIST', KEYS[1])\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local stock, signature = read(pool, us, #KEYS), nil\n" \
	"stocks[i] = stock\n" \
	"stock.score, stock.units, signature = order_of(stock, id)\n" \
	"local since, refusal = stock.now - math.floor(stock.score % 1e13), nil\n" \
	"if stock.score == 0 then\n" \
	"refusal = {0, i, 0, 0}\n" \
	"elseif signature ~= products then\n" \
	"refusal = {0, i, 5, 0}\n" \
	"elseif generation and generation_of(stock.score) ~= generation then\n" \
	"refusal = {0, i, 4, 0}\n" \
	"elseif stock.score >= REFUNDED then\n" \
	"refusal = {0, i, 3, since}\n" \
	"elseif stock.score >= CANCELLED then\n" \
	"refusal = {0, i, 2, since}\n" \
	"elseif stock.score >= ENDED then\n" \
	"refusal = refused(stock, i, since)\n" \
	"elseif stock.score >= SOLD then\n" \
	"ago = math.max(ago, since)\nend\n" \
	"if refusal then\n" \
	"return refusal[1] == -2 and refusal or serve_each(stocks, refusal)\nend\nend\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"local score, units = stock.score, stock.units\n" \
	"if score < SOLD or score >= ENDED then\n" \
	"reply = (score >= ENDED or reply == 3) and 3 or 1\n" \
	"stock.free, stock.sold = stock.free - (score < SOLD and 0 or units), stock.sold + units\n" \
	"redis.call('ZADD', stock.pool, stock.free, '$free', stock.sold, '$sold', state_at(SOLD, stock.now,\n" \
	"generation_of(score)), 'h' .. id)\n" \
	"if score >= ENDED then\n" \
	"redis.call('ZINCRBY', stock.pool, units, 'b' .. buyer_of(id))\nend\n" \
	"serve(stock, true)\nend\nend\n" \
	"return {reply, ago}\n"

#define DLOCK_LUA_STOCK_COUNTS \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local all, us = {}, clock(KEYS[1])\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local stock = read(pool, us, #KEYS)\n" \
	"sweep(stock, CHUNK)\n" \
	"serve(stock)\n" \
	"all[i] = {stock.known and stock.closed + 1 or 0, stock.free, reserved_units(stock), stock.sold,\n" \
	"stock.queue and redis.call('ZCOUNT', pool, WAITS, string.format('(%.0f', STRICT)) or 0, is_dusty(stock) and " \
	"1\n" \
	"or 0}\nend\n" \
	"return all\n"

#define DLOCK_LUA_STOCK_EXTEND \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local id, generation, products, ttl, us, stocks, left, reply = ARGV[1], tonumber(ARGV[2]), ARGV[3],\n" \
	"tonumber(ARGV[4]), clock(KEYS[1]), {}, math.huge, 2\n" \
	"redis.call('PERSIST', KEYS[1])\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local stock, signature = read(pool, us, #KEYS), nil\n" \
	"stocks[i] = stock\n" \
	"stock.score, stock.units, signature = order_of(stock, id)\n" \
	"local score, since = stock.score, stock.now - math.floor(stock.score % 1e13)\n" \
	"local why = (score == 0 and 0)\n" \
	"or (signature ~= products and 5)\n" \
	"or (generation and generation_of(score) ~= generation and 4)\n" \
	"or (score >= REFUNDED and 3)\n" \
	"or (score >= CANCELLED and 2)\n" \
	"or (score >= ENDED and 1)\n" \
	"or (score >= SOLD and 7)\n" \
	"if why then\n" \
	"return serve_each(stocks, {0, i, why, (why == 0 or why > 3) and 0 or since})\nend\nend\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"local score = math.max(stock.score, stock.now + ttl + stock.score % 1)\n" \
	"if score > stock.score then\n" \
	"redis.call('ZADD', stock.pool, string.format('%.6f', score), 'h' .. id)\n" \
	"reply = 1\nend\n" \
	"left = math.min(left, math.floor(score) - stock.now)\nend\n" \
	"return {reply, left}\n"

#define DLOCK_LUA_STOCK_LEAVE \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local us, has = clock(KEYS[1]), 1\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local stock = read(pool, us, #KEYS)\n" \
	"redis.call('ZREM', pool, names_of(string.format('q%s %s %s%s %s %s', ARGV[5 + i], ARGV[2], ARGV[4], ARGV[5],\n" \
	"ARGV[1], ARGV[3])))\n" \
	"stock.left = true\n" \
	"order_of(stock, ARGV[1])\n" \
	"serve(stock)\n" \
	"note_queue(stock)\n" \
	"local score = order_of(stock, ARGV[1])\n" \
	"has = score > 0 and score < ENDED and has or 0\nend\n" \
	"return has\n"

#define DLOCK_LUA_STOCK_LINEAGE \
	"local known, settled_since, full_copies, partial, last = string.match(redis.call('GET', KEYS[1]) or '',\n" \
	"'^(%x+) 1 (%d+) %d+ (%d+) (%d+) (%d+) ')\n" \
	"local says = known and redis.pcall('INFO', 'replication')\n" \
	"if type(says) == 'string' and string.find(says, '\\nmaster_replid:' .. known, 1, true)\n" \
	"and string.match(says, '\\nmaster_repl_offset:(%d+)') - last <= 262144\n" \
	"and string.find(redis.call('INFO', 'stats'),\n" \
	"'\\nsync_full:' .. full_copies .. '\\r\\nsync_partial_ok:' .. partial .. '\\r', 1, true) then\n" \
	"return {1, tonumber(settled_since)}\nend\n" \
	DLOCK_LUA_EPOCH \
	"local FINAL = 10000\n" \
	"local id, state, since, before, attached, seen, nodes = string.match(redis.call('GET', KEYS[1]) or '',\n" \
	"'^(%x+) ([01]) (%d+) (%d+) (%d+ %d+) (%d+) ([%x,]*)$')\n" \
	"local role, until_now = info('replication'), attached_until_now()\n" \
	"local replid, offset = field(role, 'master_replid'), tonumber(string.match(role, " \
	"'\\nmaster_repl_offset:(%d+)'))\n" \
	"local function note()\n" \
	"redis.call('SET', KEYS[1], string.format('%s %s %.0f %.0f %s %.0f %s', replid, state, since, before, " \
	"attached, seen,\n" \
	"nodes))\nend\n" \
	"local function open(lost)\n" \
	"local now = time()\n" \
	"before = lost and now or since\n" \
	"state, since, attached = '0', now, until_now\n" \
	"if lost then\n" \
	"seen, nodes = 0, ''\nend\n" \
	"note()\nend\n" \
	"if not id then\n" \
	"if ARGV[1] == '2' then\n" \
	"open(true)\n" \
	"elseif ARGV[1] == '1' then\n" \
	"state, since, before, attached, seen, nodes = '0', 0, 0, until_now, 0, ''\n" \
	"note()\n" \
	"else\n" \
	"return {2, 0}\nend\n" \
	"elseif id ~= replid then\n" \
	"open(state == '0' or id ~= field(role, 'master_replid2'))\n" \
	"elseif state == '1' and attached ~= until_now then\n" \
	"open(false)\n" \
	"elseif state == '0' and attached ~= until_now then\n" \
	"local lost = before == since\n" \
	"since, attached = time(), until_now\n" \
	"before = lost and since or before\n" \
	"note()\n" \
	"elseif state == '1' and offset - seen > FAR then\n" \
	"seen = offset\n" \
	"note()\nend\n" \
	"if state == '1' or ARGV[2] ~= until_now then\n" \
	"return {tonumber(state), tonumber(since)}\nend\n" \
	"local following, all, intact = {}, 0, 0\n" \
	"for node, first in string.gmatch(ARGV[3], '(%x+):(%d+)') do\n" \
	"all = all + 1\n" \
	"following[all] = node .. ','\n" \
	"if string.find(nodes, node, 1, true) and tonumber(first) <= seen + 1 then\n" \
	"intact = intact + 1\nend\nend\n" \
	"local enough, now = tonumber(ARGV[4]), time()\n" \
	"local shown = intact >= enough\n" \
	"if shown or all >= enough and (before == since or now - since >= FINAL or now < tonumber(since)) then\n" \
	"state, since, before, attached, seen, nodes = '1', shown and before or since, 0, until_now, offset,\n" \
	"table.concat(following)\n" \
	"note()\nend\n" \
	"return {tonumber(state), tonumber(since)}\n"

#define DLOCK_LUA_STOCK_ORDERS \
	DLOCK_LUA_PERMITS_CLOCK \
	"local LOOKS = 250\n" \
	"local pool, last, buyer, most = KEYS[1], ARGV[3], ARGV[4], tonumber(ARGV[5])\n" \
	"local page, now = {}, math.floor(clock(pool) / 1000) - (redis.call('ZSCORE', pool, '$shift') or 0)\n" \
	"local found = redis.call('ZRANGEBYSCORE', pool, ARGV[1], '(' .. ARGV[2], 'WITHSCORES', 'LIMIT', 0, LOOKS)\n" \
	"local from = tonumber(ARGV[1])\n" \
	"local place\n" \
	"local function is_behind(id)\n" \
	"for i = 1, #id do\n" \
	"local a, b = string.byte(id, i), string.byte(last, i)\n" \
	"if a ~= b then\n" \
	"return not b or a > b\nend\nend\n" \
	"return false\nend\n" \
	"for i = 1, #found, 2 do\n" \
	"local held, score = found[i], found[i + 1]\n" \
	"local id = string.sub(held, 2)\n" \
	"if last == '' or tonumber(score) > from or is_behind(id) then\n" \
	"if buyer == '' or string.sub(id, 1, #buyer + 1) == buyer .. '/' then\n" \
	"page[#page + 1] = {id, score, tonumber(redis.call('ZSCORE', pool, 'w' .. id) or 1), math.floor(score) - " \
	"now}\nend\nend\n" \
	"place = {score, id}\n" \
	"if #page == most then\n" \
	"break\nend\nend\n" \
	"if place and (#page == most or #found == 2 * LOOKS) then\n" \
	"page[#page + 1] = place\nend\n" \
	"return page\n"

#define DLOCK_LUA_STOCK_REFUND \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local id, generation, products, us, stocks, ago = ARGV[1], tonumber(ARGV[2]), ARGV[3], clock(KEYS[1]), {}, 0\n" \
	"local made = ARGV[5] ~= '' and 'r' .. id .. '/' .. ARGV[6]\n" \
	"local before = made and redis.call('ZSCORE', KEYS[1], made)\n" \
	"if before then\n" \
	"return {3, tonumber(before)}\nend\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local stock, signature = read(pool, us, #KEYS), nil\n" \
	"stocks[i] = stock\n" \
	"stock.score, stock.units, signature = order_of(stock, id)\n" \
	"stock.back = tonumber(ARGV[5]) or stock.units\n" \
	"local why = (stock.score == 0 and 0)\n" \
	"or (signature ~= products and 5)\n" \
	"or (generation and generation_of(stock.score) ~= generation and 4)\n" \
	"or ((stock.score < SOLD or stock.score >= ENDED and (stock.score < REFUNDED or made)) and 8)\n" \
	"or (stock.back > stock.units and 9)\n" \
	"if why then\n" \
	"return serve_each(stocks, {0, i, why, stock.units})\n" \
	"elseif stock.score >= REFUNDED then\n" \
	"ago = math.max(ago, stock.now - math.floor(stock.score % 1e13))\nend\nend\n" \
	"local reply, left = 2, ago\n" \
	"for _, stock in ipairs(stocks) do\n" \
	"if stock.score < ENDED then\n" \
	"reply, left = 1, stock.units - stock.back\n" \
	"stock.sold = stock.sold - stock.back\n" \
	"if ARGV[4] == '1' then\n" \
	"stock.free = stock.free + stock.back\n" \
	"else\n" \
	"stock.all = stock.all - stock.back\nend\n" \
	"redis.call('ZREM', stock.pool, '$full')\n" \
	"redis.call('ZADD', stock.pool, stock.sold, '$sold', stock.all, '$stock', stock.free, '$free')\n" \
	"if left == 0 then\n" \
	"redis.call('ZADD', stock.pool, state_at(REFUNDED, stock.now, generation_of(stock.score)), 'h' .. id)\n" \
	"elseif left == 1 then\n" \
	"redis.call('ZREM', stock.pool, 'w' .. id)\n" \
	"else\n" \
	"redis.call('ZADD', stock.pool, left, 'w' .. id)\nend\n" \
	"if made then\n" \
	"redis.call('ZADD', stock.pool, stock.back, made)\nend\n" \
	"credit(stock.pool, {id}, {stock.back})\n" \
	"serve(stock)\nend\nend\n" \
	"return {reply, left}\n"

#define DLOCK_LUA_STOCK_RESERVE \
	"local pool, held, time, us = KEYS[1], 'h' .. ARGV[1], nil, nil\n" \
	"if not ARGV[5] then\n" \
	"local n = redis.call('ZMSCORE', pool, '$full', held)\n" \
	"local full = n[1]\n" \
	"if full and not n[2] then\n" \
	"if full == '0' then\n" \
	"return 0\nend\n" \
	"time = redis.pcall('TIME')\n" \
	"us = not time.err and time[1] * 1000000 + time[2]\n" \
	"local ends = math.floor(-full / 64)\n" \
	"if us and us < ends * 1000 and us > (ends - 2 ^ (-full % 64) - 1000) * 1000 then\n" \
	"return 0\nend\nend\nend\n" \
	"local wants, limit, buyer = tonumber(ARGV[2]), tonumber(ARGV[4]), string.match(ARGV[1], '^(.*)/')\n" \
	"local had, queue, free, fence, next, shift, closed, has =\n" \
	"unpack(redis.call('ZMSCORE', pool, held, '$queue', '$free', '$fence', '$next', '$shift', '$closed', 'b' .. " \
	"buyer))\n" \
	"if not had and not queue and not closed and not shift and free then\n" \
	"time = time or redis.pcall('TIME')\n" \
	"us = not time.err and time[1] * 1000000 + time[2]\n" \
	"local now = us and math.floor(us / 1000)\n" \
	"if us and us >= 1e15 and us > -(fence or 0) and (not next or -next >= now) and wants <= tonumber(free)\n" \
	"and (not limit or (has or 0) + wants <= limit) then\n" \
	"local ends = now + ARGV[3]\n" \
	"if not next or ends < -next then\n" \
	"redis.call('ZADD', pool, -ends, '$next')\nend\n" \
	"if wants == 1 then\n" \
	"redis.call('ZADD', pool, free - 1, '$free', -us, '$fence', ends, held, (has or 0) + 1, 'b' .. buyer)\n" \
	"else\n" \
	"redis.call('ZADD', pool, free - wants, '$free', -us, '$fence', ends, held, (has or 0) + wants, 'b' .. buyer,\n" \
	"wants, 'w' .. ARGV[1])\nend\n" \
	"return {1, us, wants, tonumber(ARGV[3]), 0}\nend\nend\n" \
	"return (function()\n" \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local id, ttl, inbox, ticket, nobody_passes = ARGV[1], tonumber(ARGV[3]), ARGV[5] ~= '' and ARGV[5],\n" \
	"tonumber(ARGV[6] or '') or 0, ARGV[8] or ''\n" \
	"local stock = read(pool, us or clock(pool), 1)\n" \
	"local waiter = inbox and string.format('q%s %s %s %s %s', ARGV[2], ARGV[4], nobody_passes, id, inbox)\n" \
	"local was, new = 0, false\n" \
	"sweep(stock, AMORTISED)\n" \
	"local function settled()\n" \
	"local score, units, products = order_of(stock, id)\n" \
	"was = score\n" \
	"if score > 0 and score < ENDED then\n" \
	"if units ~= wants or products ~= '' then\n" \
	"return {-4, units, products ~= '' and 1 or 0}\nend\n" \
	"stock.fence = next_token(stock)\n" \
	"if score < SOLD and ticket > 0 then\n" \
	"score = math.max(score, stock.now + ttl + score % 1)\nend\n" \
	"redis.call('ZADD', pool, -stock.fence, '$fence', string.format('%.6f', score), held)\n" \
	"local time = math.floor(score % 1e13) - stock.now\n" \
	"return score < SOLD and {1, stock.fence, units, time, generation_of(score)} or {2, stock.fence, units, " \
	"-time,\n" \
	"generation_of(score)}\n" \
	"elseif ticket > 0 and is_settled(score) then\n" \
	"return {-3}\n" \
	"elseif not stock.known or stock.closed > 0 then\n" \
	"return {-5, stock.closed}\nend\n" \
	"local may, has, again = is_allowed(stock, buyer, wants, limit)\n" \
	"if not may then\n" \
	"return again and {-2, string.format('%.0f', ticket)} or {-1, has}\nend\nend\n" \
	"local function leave(reply)\n" \
	"if waiter then\n" \
	"redis.call('ZREM', pool, names_of(waiter))\n" \
	"stock.left = true\nend\n" \
	"serve(stock)\n" \
	"if stock.left then\n" \
	"note_queue(stock)\nend\n" \
	"return reply\nend\n" \
	"local function enqueue()\n" \
	"local place, signs, wish, strict = names_of(waiter)\n" \
	"if ticket == 0 then\n" \
	"ask_anew(stock, id, was)\n" \
	"stock.fence = next_token(stock)\n" \
	"ticket = stock.fence\nend\n" \
	"local added = redis.call('ZADD', pool, 'LT', ticket, place, -stock.now * 1000 - ARGV[7] % 1000, signs,\n" \
	"WANTS + wants, wish, -1, '$queue', -stock.fence, '$fence')\n" \
	"if nobody_passes ~= '' then\n" \
	"redis.call('ZADD', pool, 'LT', ticket + STRICT - WAITS, strict)\nend\n" \
	"stock.queue, new = true, added > 2\nend\n" \
	"local function full_until()\n" \
	"if reserved_units(stock) == 0 or not stock.next then\n" \
	"return 0\nend\n" \
	"local _, bits = math.frexp(stock.next - stock.now + 1)\n" \
	"return -64 * (stock.now + 2 ^ (bits - 1)) - (bits - 1)\nend\n" \
	"local reply = settled()\n" \
	"if reply then\n" \
	"return reply[1] == -2 and reply or leave(reply)\nend\n" \
	"local possible = wants <= stock.all - stock.sold\n" \
	"local room, again = make_room(stock, wants)\n" \
	"if waiter and possible and (stock.queue or not room) then\n" \
	"enqueue()\nend\n" \
	"serve(stock, false, waiter, ttl)\n" \
	"if stock.mine then\n" \
	"return {1, stock.mine, wants, ttl, stock.generation}\n" \
	"elseif stock.left then\n" \
	"reply = settled()\n" \
	"if reply then\n" \
	"return leave(reply)\nend\nend\n" \
	"room, again = make_room(stock, wants)\n" \
	"if room and lets_pass(stock) then\n" \
	"local generation = take(stock, id, wants, ttl, was, '')\n" \
	"return leave({1, stock.fence, wants, ttl, generation})\n" \
	"elseif again or waiter and stock.more then\n" \
	"return {-2, string.format('%.0f', ticket)}\n" \
	"elseif not waiter or not possible then\n" \
	"if stock.free == 0 and stock.shift == 0 and not is_dusty(stock) and stock.known then\n" \
	"redis.call('ZADD', pool, full_until(), '$full')\nend\n" \
	"return waiter and leave({0, -1, -1, '0', 0}) or 0\nend\n" \
	"local place = redis.call('ZSCORE', pool, waiter)\n" \
	"return {0, may_come(stock), redis.call('ZCOUNT', pool, WAITS, '(' .. place), string.format('%.0f', place),\n" \
	"new and 1 or 0}\n" \
	"end)()\n"

#define DLOCK_LUA_STOCK_RESTOCK \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local MOST = 999999999\n" \
	"local pool, change, name = KEYS[1], tonumber(ARGV[1]), 'r' .. ARGV[2]\n" \
	"local stock = read(pool, clock(pool), 1)\n" \
	"local made = redis.call('ZSCORE', pool, name)\n" \
	"if made then\n" \
	"return {tonumber(made), stock.all}\nend\n" \
	"if change < 0 then\n" \
	"local _, again = make_room(stock, -change)\n" \
	"if again then\n" \
	"return {'again'}\nend\n" \
	"change = math.max(change, -math.max(0, stock.free))\n" \
	"else\n" \
	"change = math.max(0, math.min(change, MOST - stock.all))\nend\n" \
	"stock.all, stock.free = stock.all + change, stock.free + change\n" \
	"redis.call('ZREM', pool, '$full')\n" \
	"redis.call('ZADD', pool, stock.all, '$stock', stock.free, '$free', change, name)\n" \
	"if ARGV[3] == '0' then\n" \
	"redis.call('ZREM', pool, '$remember')\n" \
	"else\n" \
	"redis.call('ZADD', pool, ARGV[3], '$remember')\nend\n" \
	"redis.call('PERSIST', pool)\n" \
	"serve(stock, change < 0)\n" \
	"return {change, stock.all}\n"

#define DLOCK_LUA_STOCK_SALE \
	DLOCK_LUA_PERMITS_CLOCK \
	DLOCK_LUA_STOCK_POOL \
	"local stock, state = read(KEYS[1], clock(KEYS[1]), 1), tonumber(ARGV[1])\n" \
	"if stock.closed == 2 or not stock.known then\n" \
	"return stock.known and 2 or 3\nend\n" \
	"stock.closed = state\n" \
	"redis.call('ZREM', KEYS[1], state == 0 and '$closed' or '$full')\n" \
	"if state > 0 then\n" \
	"redis.call('ZADD', KEYS[1], state, '$closed')\nend\n" \
	"serve(stock)\n" \
	"return state\n"

#define DLOCK_LUA_STOCK_STATUS \
	DLOCK_LUA_PERMITS_CLOCK \
	"local all, us = {}, clock(KEYS[1])\n" \
	"for i, pool in ipairs(KEYS) do\n" \
	"local score, units, products, shift = unpack(redis.call('ZMSCORE', pool, 'h' .. ARGV[1], 'w' .. ARGV[1],\n" \
	"'a' .. ARGV[1], '$shift'))\n" \
	"score = tonumber(score or 0)\n" \
	"local now = math.floor(us / 1000) - (shift or 0)\n" \
	"local state = (score == 0 and 0) or (score < 1e13 and (score >= now and 1 or 2)) or ({ 3, 2, 4,\n" \
	"5 })[math.floor(score / 1e13)]\n" \
	"all[i] = {state, tonumber(units or (score > 0 and 1 or 0)), score > 0 and math.abs(math.floor(score % 1e13) " \
	"- now)\n" \
	"or 0,\n" \
	"math.floor(score % 1 * 64), products or '', math.floor(score % 1e13)}\nend\n" \
	"return all\n"

#define DLOCK_LUA_UNCHANGED \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\nend\n" \
	"local epoch = KEYS[2]\n" \
	DLOCK_LUA_ATTACHED \
	"local old = ARGV[3] or ''\n" \
	"if old ~= '' then\n" \
	"redis.call('SET', KEYS[1], old, 'PX', math.max(1, redis.call('PTTL', KEYS[1])))\n" \
	"else\n" \
	"redis.call('DEL', KEYS[1])\nend\n" \
	"return {unsettled, replid, settles}\n"
