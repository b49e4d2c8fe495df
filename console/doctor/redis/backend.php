<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('redis', examine_redis(...), ['password', 'refuses', 'rights', 'unreachable', 'unseen']);

/** The servers of one lock: a single one for DistributedLock. */
final class RedisSet
{
    /** How many make a majority. */
    public readonly int $quorum;

    /** @param list<RedisServer> $servers */
    public function __construct(public readonly array $servers, public readonly Plan $plan)
    {
        $this->quorum = intdiv(count($servers), 2) + 1;
    }
}

function examine_redis(Plan $plan): void
{
    $service = null;
    if ($plan->servers[0]['discovery'] === 'fixed') {
        $servers = array_map(fn (array $spec) => new RedisServer($spec, $plan), $plan->servers);
    } else {
        $service = new RedisService($plan->servers[0], $plan);
        foreach (Subjects::of("redis {$service->spec['discovery']}") as $find) {
            $find($service);
        }
        $servers = [...$service->masters, ...$service->replicas];
        $plan->resources = array_values(array_filter(array_map(resource_at(...), $service->masters))) ?: $plan->resources;
    }
    foreach ($servers as $server) {
        $server->examine();
    }
    foreach ($service ? Subjects::of(RedisService::class) : [] as $examine) {
        $examine($service);
    }
    $set = new RedisSet($servers, $plan);
    $n = count($servers);
    $good = count(array_filter($servers, fn (RedisServer $server) => $server->usable));
    if ($plan->class === 'RedLock' && $good >= $set->quorum) {
        $plan->report->soften("The other $good of $n make a majority as long as $set->quorum are left.");
    }
    foreach (Subjects::of(RedisSet::class) as $examine) {
        $examine($set);
    }
    $what = $service ? "{$service->spec['label']} (" . plural($n, 'server') . ')' : ($n > 1 ? "$n servers" : $servers[0]->label);
    $plan->summarise($what, 'Redis', $servers);
}
