<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** One Redis server, with a connection that is logged in. */
final class RedisServer extends Server
{
    public readonly RedisConnection $redis;
    /** What INFO returns; empty if the user may not call it. @var array<string, string> */
    public array $info = [];
    /** Seconds by which its clock is ahead of this host's, and the possible error. */
    public ?float $ahead = null;
    public float $doubt = 0;
    /** What could not be seen. @var array<string> */
    public array $unseen = [];
    /** The number of servers with this master, itself included, by Sentinels or the cluster. 0: unknown. */
    public int $nodes = 0;
    /** The slots that it has in a cluster: first and last. @var list<array{int, int}> */
    public array $slots = [];

    /** @param array<string, mixed> $spec see Dlock\describe_server() */
    public function __construct(#[\SensitiveParameter] public readonly array $spec, Plan $plan, public readonly bool $isReplica = false)
    {
        parent::__construct($spec['label'], $plan);
    }

    public function examine(): void
    {
        try {
            if (!$this->open() || !$this->readInfo()) {
                return;
            }
            foreach (Subjects::of('redis role') as $canKeepLocks) {
                if (!$canKeepLocks($this)) {
                    return;
                }
            }
            $this->usable = true;
            $this->askForAge();
            foreach (Subjects::of($this->isReplica ? 'redis replica' : self::class) as $examine) {
                $examine($this);
            }
        } catch (Trouble $e) {
            $this->unusable('unreachable', $e->getMessage() . '.', 'Locks cannot be acquired there.',
                'See to the server and to what is between here and there.');
        }
        if ($this->unseen) {
            $this->note('unseen', 'could not be seen: ' . implode(', ', $this->unseen) . '.',
                'What may be wrong with it stays unknown.',
                'Run this again with a user that has +info +config|get +pubsub|numsub.');
        }
    }

    /** A problem of a replica matters once the replica is promoted. */
    public function problem(string $id, string $seen, string $why, string $do): void
    {
        if ($this->isReplica) {
            $this->warning($id, $seen, "It is a replica, and may be promoted. Then: $why", $do);
        } else {
            parent::problem($id, $seen, $why, $do);
        }
    }

    public function unusable(string $id, string $seen, string $why, string $do): void
    {
        if ($this->isReplica) {
            $this->problem($id, $seen, $why, $do);
        } else {
            parent::unusable($id, $seen, $why, $do);
        }
    }

    public function config(string $name): ?string
    {
        try {
            $pair = $this->redis->items(0, 'CONFIG', 'GET', $name);
            return $pair === [] || is_string($pair[1] ?? null) ? $pair[1] ?? null : throw RedisConnection::oddity();
        } catch (Refusal) {
            $this->unseen['config'] = 'settings (CONFIG GET)';
            return null;
        }
    }

    /** Reports that it refuses a command for another reason than the user's rights. */
    public function refuses(Refusal $e): void
    {
        $this->unusable('refuses', 'refuses commands: ' . strtok($e->getMessage(), "\n"),
            'Locks cannot be acquired there as long as that is so.',
            match (strtok($e->getMessage(), ' ')) {
                'LOADING' => 'It is loading its data; try again.',
                'READONLY' => 'It is a replica: give the address of the master.',
                'BUSY' => 'A script of another program has been running for too long; see SCRIPT KILL.',
                'OOM' => 'Its memory is full: raise maxmemory, or give locks a server of their own.',
                'MISCONF' => 'It cannot save its data: fix that, or see stop-writes-on-bgsave-error.',
                'NOREPLICAS' => 'Too few replicas are connected: see min-replicas-to-write.',
                default => 'The text is what the server said.',
            });
    }

    private function open(): bool
    {
        try {
            $this->redis = new RedisConnection($this->spec);
        } catch (Trouble $e) {
            $this->unusable('unreachable', 'cannot be reached: ' . $e->getMessage() . '.',
                'Locks cannot be acquired there.',
                'Is it running, on this address, and does a firewall let this host through?');
            return false;
        }
        $database = $this->spec['database'];
        try {
            $this->redis->logIn();
            $database === 0 || $this->redis->cmd('SELECT', $database);
            return true;
        } catch (Refusal $e) {
            $login = $e->isAboutLogin() || preg_match('/\bAUTH\b/', $e->getMessage());
            $right = $e->isAboutRights();
            $this->unusable($login ? 'password' : ($right ? 'rights' : 'refuses'),
                "refuses the login: {$e->getMessage()}",
                'Locks cannot be acquired there.', match (true) {
                    (bool) $login => "Set user and password of the server's specification right.",
                    $right => 'Give the user +select, or use database 0.',
                    $database !== 0 => "Is there such a database? It is $database in the specification.",
                    default => 'The text is what the server said.',
                });
            return false;
        }
    }

    /** False: to continue is of no use. */
    private function readInfo(): bool
    {
        try {
            preg_match_all('/^(\w+):(.*?)\r?$/m', $this->redis->text('INFO'), $found);
            $this->info = array_combine($found[1], $found[2]);
            $this->version = $this->info['redis_version'] ?? null;
            return true;
        } catch (Refusal $e) {
            if ($e->isAboutLogin()) {
                $this->unusable('password', 'wants a password.', 'Locks cannot be acquired there.',
                    "Put the password into the server's specification.");
            } elseif (!$e->isAboutRights()) {
                $this->refuses($e);
            }
            $this->unseen = $e->isAboutRights() ? ['version, role, memory, persistence, replicas (INFO)'] : [];
            return $e->isAboutRights();
        }
    }

    private function askForAge(): void
    {
        if ($this->info === [] && $this->plan->class === 'RedLock' && setting('restart_guard') > 0) {
            $this->unusable('rights', 'the user may not use INFO.',
                'RedLock asks each server how long it has been up; '
                . 'one that does not say has no vote.', 'Give the user +info.');
        }
    }
}
