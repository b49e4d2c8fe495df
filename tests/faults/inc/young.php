<?php
declare(strict_types=1);

require_once __DIR__ . '/crew.php';
require_once __DIR__ . '/faults.php';
require_once __DIR__ . '/servers.php';
require_once __DIR__ . '/setting.php';

/**
 * The first seconds of a set of servers, again and again. All servers start together, empty, and clients come at once.
 * Clients acquire locks only on a quorum, because a stranger has them on one server. Another server restarts without
 * its data.
 */
final class YoungSets implements Faults
{
    private const ROUND = 5.0;
    private const STRANGER = 'a client of no interest';

    private readonly Chance $chance;
    /** The server where a stranger has locks; the server that restarts. */
    private int $taken, $restarted;
    /** @var list<int> when it restarts */
    private array $restarts = [];
    private int $end = 0;

    public function __construct(int $seed, private readonly RedisServers $servers, private readonly Crew $crew, private readonly Journal $journal)
    {
        $this->chance = new Chance($seed, 'young');
    }

    public function tick(): void
    {
        if (nanoseconds() >= $this->end) {
            $this->begin();
        }
        if ($this->restarts && nanoseconds() >= $this->restarts[0]) {
            array_shift($this->restarts);
            $from = nanoseconds();
            $this->restart([$this->restarted]);
            $this->journal->write('fault', ['kind' => 'server restart without data in a young set', 'target' => $this->restarted, 't0' => $from, 't1' => nanoseconds()]);
        }
        $this->chance->happens(0.05) && $this->take(Setting::RESOURCES[$this->chance->below(count(Setting::RESOURCES))]);
    }

    public function stop(): void
    {
    }

    /** Ends all clients first, so that no holder is left when all servers forget. */
    private function begin(): void
    {
        $this->crew->end();
        $this->restart(range(0, $this->servers->count() - 1));
        $this->taken = $this->chance->below($this->servers->count());
        $this->restarted = ($this->taken + 1 + $this->chance->below($this->servers->count() - 1)) % $this->servers->count();
        $now = nanoseconds();
        $this->end = $now + (int) (self::ROUND * 1e9);
        $this->restarts = array_map(fn (float $after) => $now + (int) ($after * 1e9), [$this->chance->between(0.4, 1.8), $this->chance->between(2.2, 4.0)]);
        array_map($this->take(...), Setting::RESOURCES);
    }

    /** A stranger acquires a lock on one server for a while. */
    private function take(string $resource): void
    {
        $this->servers->servers[$this->taken]->tell('SET', Setting::PREFIX . $resource, self::STRANGER, 'NX', 'PX', (int) $this->chance->between(200, 1500));
    }

    /** @param list<int> $which */
    private function restart(array $which): void
    {
        foreach ($which as $server) {
            $this->servers->kill($server);
            $this->servers->servers[$server]->forget();
        }
        array_map($this->servers->start(...), $which);
        foreach ($which as $server) {
            $this->servers->servers[$server]->waitUntilReady();
        }
    }
}
