<?php
declare(strict_types=1);

require_once __DIR__ . '/servers.php';
require_once __DIR__ . '/crew.php';
require_once __DIR__ . '/faults.php';
require_once __DIR__ . '/forgetting.php';
require_once __DIR__ . '/memcached.php';
require_once __DIR__ . '/network.php';
require_once __DIR__ . '/replicated_faults.php';
require_once __DIR__ . '/setting.php';

/**
 * Injects faults by a seed: what, where, how long, and after what time. A calm follows each storm, so that work
 * continues.
 */
final class Nemesis implements Faults
{
    private readonly Chance $chance;
    /** @var array<string, array{float|int, callable, 2?: int, 3?: float}> kind => [weight, function that begins it and
     * returns what ends it, how many times longer than other kinds it lasts, or how long in seconds] */
    private readonly array $kinds;
    /** @var list<array{at: int, what: string, undo: callable, entry: array}> */
    private array $active = [];
    /** @var array<string, true> what is under a fault now: another fault must not end it early */
    private array $busy = [];
    private int $next;
    private readonly int $start;

    /**
     * @param ?string $special a kind of fault that is off by default
     * @param bool $alone that kind only
     * @param array{interval: float, storm: float, calm: float} $weather
     * @param float $stretch how many times longer faults last, if lease times are longer
     */
    public function __construct(int $seed, private readonly Servers $servers, private readonly Crew $crew, private readonly int $clients,
        private readonly Journal $journal, ?string $special, bool $alone, private readonly array $weather,
        private readonly float $stretch = 1.0)
    {
        $this->chance = new Chance($seed, 'nemesis');
        $this->kinds = ($alone ? [] : $this->kinds()) + array_intersect_key($this->specials(), [$special ?? '' => 0]);
        $this->start = nanoseconds();
        $this->next = $this->start + (int) 1.5e9;
    }

    public function tick(): void
    {
        $now = nanoseconds();
        foreach ($this->active as $i => $fault) {
            if ($now >= $fault['at']) {
                unset($this->active[$i]);
                $this->end($fault);
            }
        }
        if ($now >= $this->next) {
            $this->inject();
            $this->next = $now + (int) ($this->chance->between(0.1, 1.9) * $this->weather['interval'] * 1e9);
            ['storm' => $storm, 'calm' => $calm] = $this->weather;
            $phase = fmod(($this->next - $this->start) / 1e9, $storm + $calm);
            if ($phase > $storm) {
                $this->next += (int) (($storm + $calm - $phase) * 1e9);
            }
        }
    }

    public function stop(): void
    {
        foreach ($this->active as $fault) {
            $this->end($fault);
        }
        $this->active = [];
    }

    private function inject(): void
    {
        // Always the same number of choices, whether they are used or not, so that timing does not change later
        // choices.
        $kind = $this->chance->weighted(array_map(fn (array $kind) => $kind[0], $this->kinds));
        $place = $this->chance->fraction();
        $length = $this->chance->fraction();
        $detail = $this->chance->fraction();
        // Up to more than the longest lease.
        $seconds = (0.05 + 2.7 * $length ** 2) * $this->stretch * ($this->kinds[$kind][2] ?? 1);
        $seconds = $this->kinds[$kind][3] ?? $seconds;
        $target = str_starts_with($kind, 'client') ? (int) ($place * $this->clients) : (int) ($place * $this->servers->count());
        if ($kind === 'client kill' || $kind === 'client group kill') {
            $target = 1 + (int) ($place * ($this->clients - 1)); // not the steady client
        }
        $what = (str_starts_with($kind, 'client') ? 'client ' : (str_starts_with($kind, 'link') ? 'link ' : 'server ')) . $target;
        if (isset($this->busy[$what])) {
            return;
        }
        $entry = ['kind' => $kind, 'target' => $target, 't0' => nanoseconds()];
        if (str_starts_with($kind, 'client')) {
            $entry['name'] = $this->crew->name($target);
        }
        $undo = $this->kinds[$kind][1]($target, $seconds, $detail);
        if ($undo === null) {
            return; // not possible now
        }
        $this->busy[$what] = true;
        $this->active[] = ['at' => nanoseconds() + (int) ($seconds * 1e9), 'what' => $what, 'undo' => $undo, 'entry' => $entry];
    }

    private function end(array $fault): void
    {
        $fault['undo']();
        unset($this->busy[$fault['what']]);
        $this->journal->write('fault', $fault['entry'] + ['t1' => nanoseconds()]);
    }

    private function kinds(): array
    {
        $kinds = [
            'client kill' => [1.5, fn (int $i) => $this->toClient($i, SIGKILL, false)],
            'client group kill' => [0.5, fn (int $i) => $this->toClient($i, SIGKILL, true)],
            'client stop' => [4, fn (int $i) => $this->stopClient($i, false)],
            'client group stop' => [1.5, fn (int $i) => $this->stopClient($i, true)],
            'client interrupt' => [1.5, fn (int $i) => $this->toClient($i, SIGUSR1, false)],
            'link cut' => [2, fn (int $i) => $this->link($i, ['cut' => true])],
            'link swallow reply and cut' => [3, fn (int $i) => $this->link($i, ['swallow' => true])],
            'link partition' => [2, fn (int $i, float $s, float $d) => $this->link($i, ['up' => false, 'down' => false], $d < 0.5)],
            'link partition one-way, requests' => [2, fn (int $i, float $s, float $d) => $this->link($i, ['up' => false], $d < 0.5)],
            'link partition one-way, replies' => [2, fn (int $i, float $s, float $d) => $this->link($i, ['down' => false], $d < 0.5)],
            'link delay' => [1.5, fn (int $i, float $s, float $d) => $this->link($i, ['delay' => [0.0, 0.02 + 0.3 * $d]])],
            'server kill and restart' => [1.5, fn (int $i) => $this->killServer($i, false)],
            'server stop' => [2, fn (int $i) => $this->stopServer($i)],
        ];
        $names = [
            // For longer than any call may be late, and while connections have to be opened.
            'link name hangs' => [0.7, fn (int $i) => $this->name($i, true), 1, Setting::MARGIN + 2.0],
            'link name not known' => [1, fn (int $i) => $this->name($i, false)],
        ];
        if ($this->servers instanceof RedisServers || $this->servers instanceof ReplicatedServers) {
            $redis = fn (int $i): RedisProcess => $this->servers->servers[$i];
            $say = function (int $i, string|int ...$words) use ($redis) {
                $redis($i)->tell(...$words);
                return fn () => null;
            };
            $kinds += [
                // Longer than a grant lasts.
                'link partition of inboxes' => [2, fn (int $i, float $s, float $d) => $this->link($i, ['down' => false, 'only' => 'inbox'], $d < 0.7), 2],
                'link partition of inboxes, clients stop' => [2, fn (int $i, float $s, float $d) => $this->lateGrants($i, $d), 1, Setting::GRANT_OVER + 0.25],
                'server slow' => [1, fn (int $i, float $s) => $say($i, 'DEBUG', 'SLEEP', sprintf('%.3f', $s / 2))],
                'server CLIENT KILL normal' => [1, fn (int $i) => $say($i, 'CLIENT', 'KILL', 'TYPE', 'normal')],
                'server CLIENT KILL pubsub' => [1, fn (int $i) => $say($i, 'CLIENT', 'KILL', 'TYPE', 'pubsub')],
                'server SCRIPT FLUSH' => [1, fn (int $i) => $say($i, 'SCRIPT', 'FLUSH')],
                'server tiny output buffer' => [1, function (int $i) use ($redis, $say) {
                    $say($i, 'CONFIG', 'SET', 'client-output-buffer-limit', 'pubsub 1 1 1');
                    return fn () => $say($i, 'CONFIG', 'SET', 'client-output-buffer-limit', 'pubsub 33554432 8388608 60');
                }],
            ];
        }
        if ($this->servers instanceof RedisServers) {
            $kinds += [
                ...$names,
                'server forgets who waits' => [1, function (int $i, float $s, float $d) {
                    (new Forgetting($this->servers))->waiters($i, $d);
                    return fn () => null;
                }],
                'server clock back' => [0.5, function (int $i, float $s, float $d) use ($redis) {
                    $redis($i)->setClockBack(0.1 + 0.9 * $d);
                    return fn () => null;
                }],
            ];
            if ($this->servers->permits !== null) {
                unset($kinds['server forgets who waits']); // holders are in the same key as waiters
            }
            if ($this->servers->count() > 1) {
                // Not always do enough servers have one key, so it looks for one a few times.
                $kinds['server forgets a spare key'] = [3, fn () => (new Forgetting($this->servers))->spareKey(0.1) ? fn () => null : null];
            }
        } elseif ($this->servers instanceof ZooKeeperServers) {
            $leader = fn (callable $do) => fn (int $i, float $s) => ($found = $this->servers->leader()) === null ? null : $do($found);
            $kinds += [
                'leader kill and restart' => [1, $leader(fn (int $i) => $this->killServer($i, false))],
                'leader stop' => [1.5, $leader(fn (int $i) => $this->stopServer($i))],
            ];
        } elseif ($this->servers instanceof ReplicatedServers) {
            $replicated = new ReplicatedFaults($this->servers, $this->killServer(...), $this->stopServer(...));
            return $replicated->kinds() + array_map(fn (array $kind) => [$kind[0] / 2] + $kind, $kinds);
        } else {
            $kinds += $names;
            unset($kinds['server kill and restart']); // memcached forgets all locks
        }
        if (Network::mayLosePackets()) {
            $network = new Network();
            $lose = fn (bool $requests, bool $replies) => fn (int $i) => $network->lose([$this->servers->port($i)], $requests, $replies);
            $kinds += [
                'server packets lost' => [1.5, $lose(true, true)],
                'server packets lost one-way, requests' => [1, $lose(true, false)],
                'server packets lost one-way, replies' => [1, $lose(false, true)],
            ];
            if ($this->servers instanceof ZooKeeperServers) {
                $kinds['leader packets lost'] = [1, $leader(fn (int $i) => $network->lose([$this->servers->port($i), ...$this->servers->peerPorts($i)], true, true))];
            }
        }
        return $kinds;
    }

    /** Faults that some classes do not survive. */
    private function specials(): array
    {
        // If there are several servers, only a minority forgets.
        $minority = max(1, intdiv($this->servers->count() - 1, 2));
        return [
            'server restart without data' => [1, fn (int $i) => $this->killServer($i % $minority, true)],
            'server forgets a needed key' => [1, fn (int $i) => (new Forgetting($this->servers))->neededKey(1.5, $i) ? fn () => null : null],
            'server fail-over' => [1, fn () => $this->servers->failOver()],
        ];
    }

    private function toClient(int $place, int $signal, bool $group): ?callable
    {
        if ($this->crew->name($place) === null) {
            return null;
        }
        $this->crew->signal($place, $signal, $group);
        return fn () => null;
    }

    private function stopClient(int $place, bool $group): ?callable
    {
        return $this->toClient($place, SIGSTOP, $group) ? fn () => $this->crew->signal($place, SIGCONT, $group) : null;
    }

    /** @param bool $late the relay delivers late what it held back; otherwise never */
    private function link(int $link, array $order, bool $late = true): callable
    {
        $this->servers->links()->order($link, $order);
        return function () use ($link, $late) {
            $late || $this->servers->links()->order($link, ['cut' => true]);
            $this->servers->links()->order($link);
        };
    }

    private function name(int $link, bool $known): callable
    {
        $this->servers->names()->trouble($link, $known ? 3600.0 : 0.0, $known);
        $this->servers->links()->order($link, ['cut' => true]);
        $this->servers->links()->order($link);
        return fn () => $this->servers->names()->end($link);
    }

    /**
     * Stops some clients until grants to them have expired. They learn of these grants only after their next request.
     */
    private function lateGrants(int $link, float $detail): callable
    {
        $this->servers->links()->order($link, ['down' => false, 'only' => 'inbox']);
        for ($place = 0; $place < $this->clients; $place++) {
            if (($place + (int) ($detail * 100)) % 2 === 0 && ($undo = $this->stopClient($place, false))) {
                $this->active[] = ['at' => nanoseconds() + (int) ((Setting::GRANT_OVER + 0.2) * 1e9), 'what' => '', 'undo' => $undo,
                    'entry' => ['kind' => 'client stop', 'target' => $place, 'name' => $this->crew->name($place), 't0' => nanoseconds()]];
            }
        }
        return fn () => $this->servers->links()->order($link);
    }

    private function killServer(int $server, bool $forget): ?callable
    {
        if (isset($this->busy["kill $server"])) {
            return null;
        }
        $this->busy["kill $server"] = true;
        $this->servers->signal($server, SIGCONT);
        $this->servers->kill($server);
        $forget && $this->servers->servers[$server]->forget();
        return function () use ($server) {
            unset($this->busy["kill $server"]);
            $this->servers->start($server);
        };
    }

    private function stopServer(int $server): callable
    {
        $this->servers->signal($server, SIGSTOP);
        return fn () => $this->servers->signal($server, SIGCONT);
    }
}
