<?php
/* Tries with keys of its own what locks do, as the user of the specification. */
declare(strict_types=1);

namespace Dlock\Doctor;

/** Commands of the extension's scripts for locks. */
const COMMANDS_IN_SCRIPTS = ['set', 'get', 'getset', 'incr', 'del', 'exists', 'pexpire', 'pttl', 'time', 'zadd', 'zrem', 'zpopmin', 'zrange',
    'zrank', 'zscore', 'hset', 'hget', 'hdel', 'publish'];
/** Commands of its scripts for permits. */
const COMMANDS_IN_PERMITS_SCRIPTS = ['pexpireat', 'persist', 'pttl', 'time', 'zadd', 'zcount', 'zincrby', 'zmscore', 'zrangebyscore', 'zrem', 'zscore',
    'publish', 'pubsub'];
/** dlock also works without these. */
const MESSAGES = ['publish', 'subscribe', 'the channels dlock:inbox:*'];
/** Further commands if replicas confirm; the second list is that of scripts for permits. */
const CONFIRMING_COMMANDS = ['cluster', 'info'];
const CONFIRMING_PERMITS_COMMANDS = ['get', 'info', 'set'];
/** In a cluster, also these. */
const CLUSTER_PERMITS_COMMANDS = ['del', 'hget', 'hset'];
const COMMANDS_SENT = ['evalsha', 'eval', 'subscribe'];

/** The beginning of the next two scripts. */
const HELPERS = <<<'LUA'
    local refused = {}
    local function try(...)
        local reply = redis.pcall(...)
        if type(reply) == 'table' and reply.err then
            refused[#refused + 1] = {string.lower((...)), reply.err}
            return false
        end
        return true
    end
    local function try_time(key)
        if not try('time') and type(redis.pcall('PEXPIRETIME', key)) == 'table' then
            refused[#refused + 1] = {'pexpiretime', refused[#refused][2]}
        end
    end
    local function try_confirming()
        if ARGV[2] == '1' then
            try('info', 'replication')
        end
        if ARGV[3] == '1' then
            try('cluster', 'nodes')
            try('cluster', 'info')
        end
    end

    LUA;

/**
 * All commands of the scripts in one script, to test a script's rights. It deletes first: what it cannot delete, it
 * does not create.
 */
const ALL_COMMANDS = <<<'LUA'
    local lock, queue, waiters = KEYS[1], KEYS[2], KEYS[3]
    local removable = try('del', lock, queue, waiters)
    try('pexpire', lock, 1000)
    try('get', lock)
    try('exists', queue)
    try('pttl', lock)
    try_time(lock)
    try('zrem', queue, 'w')
    try('zpopmin', queue)
    try('zrange', queue, 0, 0)
    try('zrank', queue, 'w')
    try('zscore', queue, 'w')
    try('hget', waiters, 'w')
    try('hdel', waiters, 'w')
    try('publish', ARGV[1], '')
    try_confirming()
    if removable then
        try('set', lock, '1', 'NX', 'PX', 1000)
        try('getset', lock, '1')
        try('incr', lock)
        try('zadd', queue, 'NX', 1, 'w')
        try('hset', waiters, 'w', '1')
        redis.call('del', lock, queue, waiters)
    end
    return refused
    LUA;

/** The same for permits, which are in one key. */
const ALL_COMMANDS_OF_PERMITS = <<<'LUA'
    local pool = KEYS[1]
    local removable = try('zrem', pool, 'w')
    try('zmscore', pool, 'w', 'x')
    try('zscore', pool, 'w')
    try('zcount', pool, 0, 0)
    try('zrangebyscore', pool, 0, 0)
    try('pexpireat', pool, '9000000000000')
    try('persist', pool)
    try('pttl', pool)
    try_time(pool)
    try('publish', ARGV[1], '')
    try('pubsub', 'numsub', ARGV[1])
    if ARGV[2] == '1' then
        try('get', pool)
        try('set', pool, '1', 'XX')
    end
    if ARGV[3] == '1' then
        try('hget', KEYS[2], 'x')
        if try('del', KEYS[2]) then
            try('hset', KEYS[2], 'x', '1')
            redis.call('del', KEYS[2])
        end
    end
    try_confirming()
    if removable then
        try('zadd', pool, 1, 'w')
        try('zincrby', pool, 1, 'w')
        redis.call('zrem', pool, 'w')
    end
    return refused
    LUA;

Subjects::add(RedisServer::class, examine_rights(...), ['balancer', 'rights']);

function examine_rights(RedisServer $server): void
{
    $resource = resource_at($server);
    if ($resource !== null) {
        (new Rights($server, $server->plan->prefix . $resource))->examine();
    }
}

final class Rights
{
    /** @var list<string> */
    private array $missing = [];
    private readonly string $channel;

    public function __construct(private readonly RedisServer $server, private readonly string $lock)
    {
        $this->channel = 'dlock:inbox:doctor-' . bin2hex(random_bytes(8));
    }

    /**
     * The keys of a lock, or of permits, each with its name for messages. @return array<string, array{string, string}>
     */
    private function keys(): array
    {
        $plan = $this->server->plan;
        $tag = $this->server->slots ? tag_of(key_slot($this->lock)) : null;
        $own = fn (string $name) => $tag === null ? ["the key dlock:$name", "dlock:$name"] : ["the keys dlock:$name:*", "dlock:$name:{{$tag}}"];
        $of_lock = fn (string $name) => ["the keys dlock:$name:*", $tag === null ? "dlock:$name:{{$this->lock}}" : "dlock:$name:{{$tag}}:$this->lock"];
        return ['lock' => ["the keys $plan->prefix*", $this->lock]]
            + ($plan->isOfPermits() ? [] : ['fence' => $own('fence'), 'queue' => $of_lock('queue'), 'waiters' => $of_lock('waiters')])
            + ($this->server->spec['replicas'] > 0 ? ['era' => $own('era')] : []);
    }

    public function examine(): void
    {
        $prefix = $this->server->plan->prefix;
        $confirmed = $this->server->spec['replicas'] > 0;
        $keys = $this->keys();
        $eval = $this->attempt('eval', 'EVAL', 'return 1', 0);
        $this->attempt('evalsha', 'EVALSHA', str_repeat('0', 40), 0);
        foreach ($eval ? $keys : [] as [$what, $key]) {
            $eval = $this->attempt($what, 'EVAL', 'return 1', 1, $key) && $eval;
        }
        if ($eval) {
            $noted = $this->server->plan->isOfPermits() && $confirmed && $this->server->slots ? [$keys['era'][1] . ':doctor'] : [];
            $this->tryCommands([...array_column(array_intersect_key($keys, ['lock' => 0, 'queue' => 0, 'waiters' => 0]), 1), ...$noted], $confirmed);
        }
        $confirmed && $this->attempt('wait', 'WAIT', 0, 1);
        $this->server->slots && $this->attempt('asking', 'ASKING');
        $this->trySubscription();
        if (in_array('cluster', $this->missing, true)) {
            $this->missing = array_diff($this->missing, ['cluster']);
            $this->server->warning('rights', 'the user has no right to cluster|nodes and cluster|info in scripts.',
                'The first lock in each slot that was never used waits for the guard.', 'Give the user +cluster|nodes +cluster|info on each node.');
        }
        if (in_array('pubsub', $this->missing, true)) {
            $this->missing = array_diff($this->missing, ['pubsub']);
            $this->server->warning('rights', 'the user has no right to pubsub|numsub in scripts.',
                'A process that died while it waited is noticed after 3 s, not at once.', 'Give the user +pubsub|numsub.');
        }
        $time = array_search('pexpiretime', $this->missing, true); // missing only if time is, too
        // An epoch needs the time itself.
        if (in_array('time', $this->missing, true) && $time === false && !$confirmed) {
            $this->missing = array_diff($this->missing, ['time']);
            $this->server->warning('rights', 'the user has no right to time, only to pexpiretime.',
                'Fencing tokens are made of when a key ends. They still rise; a lock that has to look at the clock takes up to four commands more.',
                'Give it +time if you can.');
        } elseif ($time !== false) {
            unset($this->missing[$time]);
        }
        if ($this->missing && !array_diff($this->missing, MESSAGES)) {
            $this->server->warning('rights', 'the user has no right to ' . implode(', ', $this->missing) . '.',
                'Locks are not handed over: waiters look at intervals of some 100 ms, and get the lock in any order.',
                'Give it +publish +subscribe &dlock:inbox:* if you can, and restart what has locks: a process finds this out once.');
        } elseif ($this->missing) {
            $this->tell($prefix);
        }
    }

    private function tell(string $prefix): void
    {
        $permits = $this->server->plan->isOfPermits();
        $rights = implode(' ', array_map(fn ($command) => $command === 'pubsub' ? '+pubsub|numsub' : "+$command", [...COMMANDS_SENT, ...match (true) {
                !$permits => COMMANDS_IN_SCRIPTS,
                $this->server->spec['replicas'] > 0 => [...COMMANDS_IN_PERMITS_SCRIPTS, ...CONFIRMING_PERMITS_COMMANDS,
                    ...($this->server->slots ? CLUSTER_PERMITS_COMMANDS : [])],
                default => COMMANDS_IN_PERMITS_SCRIPTS,
            }]));
        $this->server->unusable('rights', 'the user has no right to ' . implode(', ', $this->missing) . '.',
            'Without all of them a lock cannot be acquired, waited for or handed over.', 'A user needs: '
            . "~$prefix* " . ($permits && $this->server->spec['replicas'] === 0 ? '' : '~dlock:* ') . "&dlock:inbox:* $rights" . ($this->server->plan->class === 'RedLock' || $this->server->spec['replicas'] > 0 ? ' +info' : '')
            . ($this->server->spec['replicas'] > 0 ? ' +wait' : '') . ($this->server->slots ? ' +asking +cluster|slots +cluster|nodes +cluster|info' : '')
            . ($this->server->spec['database'] ? ' +select' : '')
            . '; a command that was renamed or switched off has to be there by its name.'
            . ($prefix === '' ? ' Where your locks have a prefix, name it: --prefix=Lock:, for example.' : ''));
    }

    /** May the user send this? An unknown script does not matter. */
    private function attempt(string $what, string|int ...$words): bool
    {
        try {
            $this->server->redis->cmd(...$words);
        } catch (Refusal $e) {
            if ($e->isAboutRights()) {
                $this->missing[] = $what;
                return false;
            }
            if (!str_starts_with($e->getMessage(), 'NOSCRIPT')) {
                $this->server->refuses($e);
                return false;
            }
        }
        return true;
    }

    /** @param list<string> $keys */
    private function tryCommands(array $keys, bool $confirmed): void
    {
        try {
            $script = HELPERS . ($this->server->plan->isOfPermits() ? ALL_COMMANDS_OF_PERMITS : ALL_COMMANDS);
            $refused = $this->server->redis->cmd('EVAL', $script, count($keys), ...$keys, ...[$this->channel, $confirmed ? '1' : '0', $confirmed && $this->server->slots ? '1' : '0']);
        } catch (Refusal $e) {
            $this->server->refuses($e);
            return;
        }
        $told = false;
        foreach (is_array($refused) ? $refused : throw RedisConnection::oddity() as $pair) {
            [$command, $text] = is_array($pair) && count($pair) === 2 ? $pair : throw RedisConnection::oddity();
            $refusal = new Refusal($text);
            if ($refusal->isAboutRights()) {
                $this->missing[] = $command === 'publish' && str_contains($text, 'channel') ? 'the channels dlock:inbox:*' : $command;
            } elseif (!$told) {
                $told = true;
                $this->server->refuses($refusal);
            }
        }
        if (in_array('del', $this->missing, true)) {
            $this->missing[] = 'perhaps set, getset, incr, zadd, hset (not tried without del)';
        } elseif ($this->server->plan->isOfPermits() && in_array('zrem', $this->missing, true)) {
            $this->missing[] = 'perhaps zadd, zincrby (not tried without zrem)';
        }
    }

    /** Subscribes over a connection of its own, as waiters do. */
    private function trySubscription(): void
    {
        $inbox = new RedisConnection($this->server->spec);
        try {
            $inbox->logIn();
            $this->compareServers($inbox);
            $inbox->cmd('SUBSCRIBE', $this->channel);
        } catch (Refusal $e) {
            $what = str_contains($e->getMessage(), 'channel') ? 'the channels dlock:inbox:*' : 'subscribe';
            if (!$e->isAboutRights()) {
                $this->server->refuses($e);
            } elseif (!in_array($what, $this->missing, true)) {
                $this->missing[] = $what;
            }
        }
    }

    /** Do two connections end at the same server? */
    private function compareServers(RedisConnection $inbox): void
    {
        if (!isset($this->server->info['run_id'])) {
            return;
        }
        preg_match('/^run_id:(\w+)/m', $inbox->text('INFO', 'server'), $found);
        if ($found && $found[1] !== $this->server->info['run_id']) {
            $this->server->problem('balancer', 'two connections to it ended at two different servers.',
                'A process that gets to the other server finds the same lock free.',
                'Give the address of one server, not of what distributes connections.');
        }
    }
}

/**
 * The name of a lock that no other client has. At a node of a cluster, it is always in the same slot; null: the node
 * has no slot for this prefix.
 */
function resource_at(RedisServer $server): ?string
{
    $random = bin2hex(random_bytes(8));
    if (!$server->slots) {
        return "dlock-doctor:$random";
    }
    for ($i = 0; $i < 2000; $i++) { // if the prefix has a hash tag, all names are in its slot
        $slot = key_slot("{$server->plan->prefix}dlock-doctor:{{$i}}:$random");
        foreach ($server->slots as [$first, $last]) {
            if ($slot >= $first && $slot <= $last) {
                return "dlock-doctor:{{$i}}:$random";
            }
        }
    }
    return null;
}

/** The hash tag that dlock's own keys have for a slot, as in src/redis/script/slot.c. */
function tag_of(int $slot): string
{
    $letters = array_map(strval(...), [...range('a', 'z'), ...range('A', 'Z'), ...range('0', '9')]);
    // The slot of three letters is the XOR of the slots of each letter, followed by zero bytes.
    [$first, $second, $third] = array_map(fn (string $zeros) => array_combine($letters, array_map(fn (string $letter) => key_slot($letter . $zeros), $letters)), ["\0\0", "\0", '']);
    foreach ($first as $a => $of_a) {
        foreach ($second as $b => $of_b) {
            $c = array_search($slot ^ $of_a ^ $of_b, $third, true);
            if ($c !== false) {
                return "$a$b$c";
            }
        }
    }
    throw new \LogicException("no tag for slot $slot");
}
