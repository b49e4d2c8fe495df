<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('redis sentinel', find_by_sentinels(...), ['disagree', 'few-sentinels', 'one-of-many', 'password', 'priority', 'quorum', 'rights', 'service', 'unreachable', 'unseen']);

function find_by_sentinels(RedisService $service): void
{
    $sentinels = new Sentinels($service);
    $sentinels->ask();
    if ($sentinels->named) {
        $sentinels->look();
    }
}

/** The pairs of a list, as Sentinels return them. @return array<string, string> */
function pairs(array $list): array
{
    if (count($list) % 2 !== 0 || $list !== array_filter($list, is_string(...))) {
        throw RedisConnection::oddity();
    }
    return array_combine(array_column(array_chunk($list, 2), 0), array_column(array_chunk($list, 2), 1));
}

final class Sentinels
{
    /** The master's address, by the Sentinel that names it. @var array<string, string> */
    public array $named = [];
    /** The first Sentinel that names the same master as most Sentinels. */
    private ?RedisConnection $good = null;

    public function __construct(private readonly RedisService $service)
    {
    }

    /** Asks each Sentinel for the master's address. */
    public function ask(): void
    {
        $spec = $this->service->spec;
        $connections = [];
        foreach ($spec['seeds'] as $seed) {
            $label = server_at($spec, $seed['host'], $seed['port'])['label'];
            try {
                $connection = $this->service->ask($seed, $spec['sentinel']);
                $address = $connection->cmd('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', $spec['service']);
                if ($address !== null && (!is_array($address) || array_map(is_string(...), $address) !== [true, true])) {
                    throw RedisConnection::oddity();
                }
                if ($address === null) {
                    $this->service->unusable('service', $label, "knows no service $spec[service].", 'Give the name that its configuration has (sentinel monitor).');
                    continue;
                }
                $this->named[$label] = implode(' ', $address);
                $connections[$label] = $connection;
            } catch (Trouble $e) {
                $this->service->unusable('unreachable', $label, "cannot be reached: {$e->getMessage()}.", 'Is this Sentinel running, on this address, and does a firewall let this host through?');
            } catch (Refusal $e) {
                if ($e->isAboutLogin()) {
                    $this->service->unusable('password', $label, "refuses the login: {$e->getMessage()}.", 'Set sentinel_user and sentinel_password right.');
                } else {
                    $this->service->unusable('rights', $label, "refuses: {$e->getMessage()}.", 'Is it a Sentinel? A user there needs +sentinel|get-master-addr-by-name.');
                }
            }
        }
        if ($this->named) {
            $this->service->plan->report->soften('The other Sentinels are asked.');
        }
        $this->compare($connections);
    }

    /** @param array<string, RedisConnection> $connections */
    private function compare(array $connections): void
    {
        $votes = array_count_values($this->named);
        arsort($votes);
        if (count($votes) > 1) {
            $this->service->warning('disagree', implode(', ', array_keys($this->named)),
                'do not name the same master: ' . implode(', ', array_map(fn ($address) => strtr($address, ' ', ':'), array_keys($votes))) . '.',
                'A failover is under way, or one of them is partitioned or monitors another master of that name.', 'Look again in a minute; then see SENTINEL MASTERS of each.');
        }
        foreach ($connections as $label => $connection) {
            $this->good ??= $this->named[$label] === array_key_first($votes) ? $connection : null;
        }
    }

    /** Reads what that Sentinel knows of the service. */
    public function look(): void
    {
        $name = $this->service->spec['service'];
        [$host, $port] = $this->good->items(2, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', $name);
        $replicas = [];
        $info = null;
        try {
            $info = pairs($this->good->items(0, 'SENTINEL', 'MASTER', $name));
            $replicas = array_map(pairs(...), $this->good->items(0, 'SENTINEL', 'REPLICAS', $name));
        } catch (Refusal) {
            $this->service->note('unseen', key($this->named), 'could not be seen: what this Sentinel knows (SENTINEL MASTER, SENTINEL REPLICAS).',
                'How many replicas and Sentinels there are, and how soon they act, stays unknown.', 'Run this again with a user that has +sentinel there.');
        }
        $master = $this->service->found($host, (int) $port, array_map(fn (array $replica) => [$replica['ip'], (int) $replica['port']], $replicas));
        if ($info === null) {
            $master->nodes = 0;
            return;
        }
        $this->service->detection = $info['down-after-milliseconds'] / 1000;
        $this->service->setting = 'down-after-milliseconds';
        $this->count(1 + (int) $info['num-other-sentinels'], (int) $info['quorum']);
        $this->comparePriorities($replicas);
    }

    private function count(int $all, int $quorum): void
    {
        $name = $this->service->spec['service'];
        if ($all < 3) {
            $this->service->warning('few-sentinels', $name, $all === 1 ? 'one Sentinel watches over it.' : 'two Sentinels watch over it.',
                $all === 1 ? 'While it is down, or wrong, there is no failover, or one without need.' : 'While one of them is down there is no failover: a majority has to agree.',
                'Have three, on hosts of their own.');
        }
        if ($quorum > $all || ($all > 2 && ($quorum === $all || $quorum === 1))) {
            $this->service->warning('quorum', $name, "its quorum is $quorum, of $all Sentinels.", $quorum === 1
                ? 'A partitioned one begins a failover without need, and no lock is granted for the guard.' : 'Unless all of them see that the master is down, there is no failover.',
                'Set the quorum to ' . (intdiv($all, 2) + 1) . ' (SENTINEL SET).');
        }
        if (count($this->service->spec['seeds']) === 1 && $all > 1) {
            $this->service->warning('one-of-many', $name, "the specification names one of its $all Sentinels.",
                'While that one is down, a new process finds no master, and no process the next one.', 'Name them all.');
        }
    }

    /** @param list<array<string, string>> $replicas */
    private function comparePriorities(array $replicas): void
    {
        $priorities = array_unique(array_column($replicas, 'slave-priority'));
        if (count($priorities) > 1 || in_array('0', $priorities, true)) {
            sort($priorities);
            $this->service->note('priority', $this->service->spec['service'], 'its replicas have replica-priority ' . implode(' and ', $priorities) . '.',
                'Those with the least are promoted first, and those with 0 never. All of them count as servers that replicas= must outvote.', 'It is well if that is meant so.');
        }
    }
}
