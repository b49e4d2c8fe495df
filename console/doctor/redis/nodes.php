<?php
declare(strict_types=1);

namespace Dlock\Doctor;

const SLOTS = 16384;

Subjects::add('redis cluster', find_by_nodes(...), ['one-of-many', 'password', 'refuses', 'rights', 'slots', 'unreachable', 'unseen']);
Subjects::add(RedisServer::class, examine_open_slots(...), ['open-slots']);
Subjects::add(RedisService::class, examine_spare_replicas(...), ['replica-migration']);

/** The hash slot of a key. */
function key_slot(string $key): int
{
    if (preg_match('/^[^{]*\{([^}]+)\}/', $key, $found)) {
        $key = $found[1];
    }
    $crc = 0;
    foreach (unpack('C*', $key) as $byte) {
        $crc ^= $byte << 8;
        for ($bit = 0; $bit < 8; $bit++) {
            $crc = $crc & 0x8000 ? ($crc << 1 ^ 0x1021) & 0xffff : $crc << 1;
        }
    }
    return $crc % SLOTS;
}

/** Asks the nodes that the specification names for all other nodes. */
function find_by_nodes(RedisService $service): void
{
    $known = [];
    foreach ($service->spec['seeds'] as $seed) {
        $label = server_at($service->spec, $seed['host'], $seed['port'])['label'];
        try {
            $connection = $service->ask($seed);
            $slots = slots_of($connection->items(0, 'CLUSTER', 'SLOTS'));
            if ($slots) {
                $known = $known ?: [$slots, $connection, $seed['host']];
            } else {
                $service->unusable('slots', $label, 'knows of no hash slots.', 'It is in no cluster, or not yet: see CLUSTER INFO.');
            }
        } catch (Trouble $e) {
            $service->unusable('unreachable', $label, "cannot be reached: {$e->getMessage()}.", 'Is this node running, on this address, and does a firewall let this host through?');
        } catch (Refusal $e) {
            if ($e->isAboutLogin()) {
                $service->unusable('password', $label, "refuses the login: {$e->getMessage()}.", 'Set user and password of the specification right.');
            } elseif ($e->isAboutRights()) {
                $service->unusable('rights', $label, 'the user has no right to CLUSTER SLOTS.', 'Give the user +cluster|slots on each node.');
            } else {
                $service->unusable('refuses', $label, "refuses: {$e->getMessage()}.", 'Is it a node of a cluster? For a server of its own the scheme is redis://.');
            }
        }
    }
    if ($known) {
        $service->plan->report->soften('The other nodes are asked.');
        add_nodes($service, ...$known);
    }
}

/** Returns the rows if they are of CLUSTER SLOTS, and throws otherwise. */
function slots_of(array $rows): array
{
    foreach ($rows as $row) {
        $is_row = is_array($row) && count($row) > 2 && is_int($row[0]) && is_int($row[1]);
        foreach ($is_row ? array_slice($row, 2) : [null] as $node) {
            $is_row = $is_row && is_array($node) && is_int($node[1] ?? null) && (is_string($node[0]) || $node[0] === null) && is_string($node[2] ?? '');
        }
        $is_row || throw RedisConnection::oddity();
    }
    return $rows;
}

/** @param list<array> $slots of CLUSTER SLOTS: first, last, master, replicas */
function add_nodes(RedisService $service, array $slots, RedisConnection $connection, string $host): void
{
    $ranges = $masters = [];
    $covered = 0;
    foreach ($slots as $row) {
        [$first, $last, $master] = $row;
        $covered += $last - $first + 1;
        $ranges[$master[2] ?? "$master[0]:$master[1]"][] = [$first, $last];
        $masters[$master[2] ?? "$master[0]:$master[1]"] = array_slice($row, 2);
    }
    $at = fn (array $node) => [in_array($node[0], [null, '', '?'], true) ? $host : $node[0], (int) $node[1]];
    $all = count_nodes($service, $connection);
    foreach ($masters as $id => $nodes) {
        $master = $service->found(...[...$at($nodes[0]), array_map($at, array_slice($nodes, 1))]);
        $master->slots = $ranges[$id];
        $master->nodes = max($master->nodes, $all[$id] ?? 0);
    }
    if ($covered < SLOTS) {
        $service->problem('slots', $service->spec['label'], SLOTS - $covered . ' of its ' . SLOTS . ' hash slots have no master.',
            'Locks in them cannot be acquired; with cluster-require-full-coverage no lock at all.', 'See redis-cli --cluster check, --cluster fix.');
    }
    if (count($service->spec['seeds']) === 1 && count($masters) > 1) {
        $service->warning('one-of-many', $service->spec['label'], 'the specification names one node of several.',
            'While that one is down, a new process finds no master.', 'Name one node of each shard at least.');
    }
}

/**
 * The number of nodes of each shard, by the ID of its master, including nodes that are down. @return array<string, int>
 */
function count_nodes(RedisService $service, RedisConnection $connection): array
{
    $all = [];
    try {
        foreach (explode("\n", trim($connection->text('CLUSTER', 'NODES'))) as $line) {
            [$id, , $flags, $master] = explode(' ', $line) + ['', '', '', ''];
            $id = $master === '-' ? $id : $master;
            $all[$id] = ($all[$id] ?? 0) + 1;
        }
    } catch (Refusal) {
        $service->note('unseen', $service->spec['label'], 'could not be seen: replicas that are down (CLUSTER NODES).',
            'Whether replicas= is enough for them stays unknown.', 'Run this again with a user that has +cluster|nodes.');
    }
    return $all;
}

/** Slots that are moving: only the two masters of a move know it. */
function examine_open_slots(RedisServer $server): void
{
    if ($server->spec['discovery'] !== 'cluster') {
        return;
    }
    try {
        preg_match('/^.*\bmyself\b.*$/m', $server->redis->text('CLUSTER', 'NODES'), $own);
    } catch (Refusal) {
        return; // count_nodes() reports it
    }
    preg_match_all('/\[(\d+)-[<>]-/', $own[0] ?? '', $open);
    if ($count = count($open[1])) {
        $server->warning('open-slots', 'has ' . ($count === 1 ? 'a slot that is' : "$count slots that are") . ' on the way: ' . implode(', ', array_slice($open[1], 0, 5)) . ($count > 5 ? ', …' : '') . '.',
            'No lock in it can be acquired until it has arrived (TRYAGAIN, or without the right to ASKING: MOVED).', 'If nothing is being moved there, finish it: redis-cli --cluster fix.');
    }
}

/** Replicas that may move here from other shards, and then confirm. */
function examine_spare_replicas(RedisService $service): void
{
    $needed = $service->spec['replicas'];
    $barriers = [];
    foreach ($service->spec['discovery'] === 'cluster' && $needed > 0 ? [...$service->masters, ...$service->replicas] : [] as $server) {
        if ($server->usable && $server->config('cluster-allow-replica-migration') === 'yes') {
            $barriers[] = (int) $server->config('cluster-migration-barrier');
        }
    }
    if (!$barriers) {
        return;
    }
    $spares = array_map(fn (RedisServer $master) => max(0, $master->nodes - 1 - min($barriers)), $service->masters);
    $most = 0;
    foreach ($service->masters as $i => $master) {
        $all = $master->nodes + array_sum($spares) - $spares[$i];
        $most = 2 * $needed >= $master->nodes - 1 ? max($most, $all) : $most; // otherwise there is a finding already
    }
    if (2 * $needed < $most - 1) {
        $service->warning('replica-migration', $service->spec['label'], "replicas may come from other shards (cluster-allow-replica-migration yes): one shard can have $most servers, and "
            . plural($needed, 'replica') . " must acknowledge a lock (replicas=$needed).",
            'A replica that came acknowledges locks, too. So two holders are possible: different replicas can acknowledge those of a partitioned master and of the promoted one.',
            'Set cluster-allow-replica-migration no on all nodes, or replicas=' . intdiv($most, 2) . ' in all programs.');
    }
}
