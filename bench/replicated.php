<?php
/* Servers with replicas, for the ways that need them: a master with one replica, and a cluster of three masters with
 * one replica each. They end with the object. */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/replicated.inc';

final class Replicated
{
    // As for the servers without replicas.
    private const CONFIG = ['save ""', 'appendonly no', 'repl-diskless-sync-delay 0'];

    private readonly ReplicatedRedis $master;
    private readonly ReplicatedRedis $replica;
    private readonly ClusterSet $cluster;

    public function __construct()
    {
        $this->master = new ReplicatedRedis(self::CONFIG);
        $this->replica = new ReplicatedRedis(self::CONFIG);
        $this->replica->follow($this->master);
        $this->cluster = new ClusterSet(config: self::CONFIG);
        putenv("DLOCK_BENCH_MASTER={$this->master->address()}");
        putenv('DLOCK_BENCH_CLUSTER=' . implode(',', array_map(fn ($server) => $server->address(), $this->cluster->servers)));
    }

    /** @return list<int> */
    public function pids(): array
    {
        return array_map(fn ($server) => $server->pid(), [$this->master, $this->replica, ...$this->cluster->servers]);
    }

    public function master(): string
    {
        return $this->master->address();
    }

    /** From now on, its clients and its replica use this address for the master. */
    public function go_to(string $address): void
    {
        $this->replica->raw()->cmd('REPLICAOF', ...explode(':', $address));
        wait_for(fn () => is_replica_in_sync($this->replica->raw()) && $this->replica->info('replication')['master_port'] === explode(':', $address)[1], 20, 'the replica');
        putenv("DLOCK_BENCH_MASTER=$address");
    }
}
