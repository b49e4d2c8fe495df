<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('zookeeper', examine_zookeeper(...), ['unreachable', 'unseen']);

/** The servers that a specification names. */
final class Ensemble
{
    /** The servers that can be used. @var list<ZooKeeperServer> */
    public readonly array $usable;

    /** @param list<ZooKeeperServer> $servers */
    public function __construct(public readonly array $servers, public readonly Plan $plan)
    {
        $this->usable = array_values(array_filter($servers, fn (ZooKeeperServer $server) => $server->usable));
    }
}

function examine_zookeeper(Plan $plan): void
{
    $servers = array_map(fn (array $spec) => new ZooKeeperServer($spec['label'], $plan), $plan->servers);
    foreach ($servers as $server) {
        $server->examine();
    }
    $ensemble = new Ensemble($servers, $plan);
    if ($ensemble->usable) {
        $plan->report->soften('The others do: clients go there, after an attempt in vain.');
    }
    foreach (Subjects::of(Ensemble::class) as $examine) {
        $examine($ensemble);
    }
    $leader = current(array_filter($servers, fn (ZooKeeperServer $server) => $server->mode === 'leader'));
    $n = count($servers);
    $plan->summarise($n > 1 ? "$n servers" : $servers[0]->label, 'ZooKeeper', $servers, $leader ? ", led by $leader->label" : '');
}
