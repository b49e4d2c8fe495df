<?php
/* Whether this kind of server can store locks at all. Examined before the other subjects. */
declare(strict_types=1);

namespace Dlock\Doctor;

const LEAST_REDIS = '5.0.0';
const LEAST_REDIS_OF_PERMITS = '6.2.0';

Subjects::add('redis role', can_keep_locks(...), ['cluster', 'replica', 'sentinel', 'version']);

function can_keep_locks(RedisServer $server): bool
{
    $least = $server->plan->isOfPermits() ? LEAST_REDIS_OF_PERMITS : LEAST_REDIS;
    $info = $server->info + ['redis_mode' => '', 'cluster_enabled' => '0', 'role' => 'master', 'redis_version' => $least];
    if ($info['redis_mode'] === 'sentinel') {
        $server->unusable('sentinel', 'is a Sentinel.', 'It keeps no data, so no locks.',
            'Name it in a specification for Sentinels, sentinel://…/SERVICE, or give the address of a server.');
    } elseif ($info['cluster_enabled'] === '1' && $server->spec['discovery'] !== 'cluster') {
        $server->unusable('cluster', 'is a node of a Redis Cluster.', 'It has some of the hash slots, and refuses all other keys.',
            'Give the nodes as cluster://…, for DistributedLock; RedLock needs servers without cluster mode.');
    } elseif ($info['role'] !== 'master' && !$server->isReplica) {
        $server->unusable('replica', "is a replica of $info[master_host]:$info[master_port].",
            'It refuses writes. If it accepted them, no other client would see its locks.', 'Give the address of the master.');
    } elseif (version_compare($info['redis_version'], $least, '<')) {
        $server->unusable('version', "is Redis $info[redis_version].",
            ($server->plan->isOfPermits() ? "The scripts of Dlock\\{$server->plan->class} need" : 'The scripts of dlock need') . " Redis $least or later.", 'Upgrade it.');
    } else {
        return true;
    }
    return false;
}
