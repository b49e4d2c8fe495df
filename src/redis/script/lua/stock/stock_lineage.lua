-- May this master have forgotten answers of an earlier master about stocks? For locks a guard makes up for that. A sale
-- does not expire, so clients are told instead.
--
-- keys: lineage
-- args: begin:count? attached:text? nodes:text? enough:count?
-- The lineage is one key for all stocks of a server, or of a cluster's slot: "replid state since before attached seen
-- nodes":
--   replid    of the master that it was opened for
--   state     0: the nodes are to be asked; 1: they have answered
--   since     sales that were confirmed until then may be missing, in ms; 0: none are
--   before    of state 0: the same, if the nodes show that this master has what the one before had
--   attached  how often replicas had attached by then (epoch.lua)
--   seen      the replication offset at which a master was seen to have all that was confirmed since `since`
--   nodes     the nodes that followed it then: the first 16 digits of each run ID, with a comma after it
--
-- If one of these nodes has been nowhere else since, its backlog begins before `seen`, as with locks (settle_now.lua).
-- A restarted node does not count, because it may have old data: it has another run ID.
--
-- begin: 1: if there is no lineage, it begins, because no stock is there yet; 2: it begins, and stocks are there
-- already. attached, nodes: what the nodes have said (wire/survey.h). enough: of this number of nodes, at least one has
-- each answer that was confirmed.
-- Replies {state, since}; {2, 0}: there is none. Cost: O(1), three commands, two of them INFO. Neither can be left out.
-- Only the replication ID tells this master from another one that has its data. Only the counts tell whether a replica
-- has come back to it. One INFO of both, which came with Redis 7.0, takes longer than two.
-- The common case ends here: even defining what follows costs time.
local known, settled_since, full_copies, partial, last = string.match(redis.call('GET', KEYS[1]) or '',
	'^(%x+) 1 (%d+) %d+ (%d+) (%d+) (%d+) ')
local says = known and redis.pcall('INFO', 'replication')
if type(says) == 'string' and string.find(says, '\nmaster_replid:' .. known, 1, true)
	-- FAR of epoch.lua: `seen` has to be updated beyond that
	and string.match(says, '\nmaster_repl_offset:(%d+)') - last <= 262144
	and string.find(redis.call('INFO', 'stats'),
		'\nsync_full:' .. full_copies .. '\r\nsync_partial_ok:' .. partial .. '\r', 1, true) then
	return {1, tonumber(settled_since)}
end

--#include epoch.lua
local FINAL = 10000 -- ms after which nodes that have not shown it will not

local id, state, since, before, attached, seen, nodes = string.match(redis.call('GET', KEYS[1]) or '',
	'^(%x+) ([01]) (%d+) (%d+) (%d+ %d+) (%d+) ([%x,]*)$')
local role, until_now = info('replication'), attached_until_now()
local replid, offset = field(role, 'master_replid'), tonumber(string.match(role, '\nmaster_repl_offset:(%d+)'))

local function note()
	redis.call('SET', KEYS[1], string.format('%s %s %.0f %.0f %s %.0f %s', replid, state, since, before, attached, seen,
		nodes))
end

local function open(lost)
	local now = time()
	before = lost and now or since
	state, since, attached = '0', now, until_now
	if lost then
		seen, nodes = 0, ''
	end
	note()
end

if not id then
	if ARGV[1] == '2' then
		open(true)
	elseif ARGV[1] == '1' then
		state, since, before, attached, seen, nodes = '0', 0, 0, until_now, 0, ''
		note()
	else
		return {2, 0}
	end
elseif id ~= replid then
	open(state == '0' or id ~= field(role, 'master_replid2'))
elseif state == '1' and attached ~= until_now then
	open(false)
elseif state == '0' and attached ~= until_now then
	-- A replica that has come meanwhile may have confirmed what another master sold until now. The same holds if no
	-- client has reached the nodes since the first stock was created
	local lost = before == since
	since, attached = time(), until_now
	before = lost and since or before
	note()
elseif state == '1' and offset - seen > FAR then
	seen = offset
	note()
end
if state == '1' or ARGV[2] ~= until_now then
	return {tonumber(state), tonumber(since)}
end

local following, all, intact = {}, 0, 0
for node, first in string.gmatch(ARGV[3], '(%x+):(%d+)') do
	all = all + 1
	following[all] = node .. ','
	if string.find(nodes, node, 1, true) and tonumber(first) <= seen + 1 then
		intact = intact + 1
	end
end
local enough, now = tonumber(ARGV[4]), time()
local shown = intact >= enough
if shown or all >= enough and (before == since or now - since >= FINAL or now < tonumber(since)) then
	state, since, before, attached, seen, nodes = '1', shown and before or since, 0, until_now, offset,
		table.concat(following)
	note()
end
return {tonumber(state), tonumber(since)}
