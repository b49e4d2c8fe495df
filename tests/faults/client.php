<?php
/* One client: acquires locks, holds them in various ways, and logs its requests, their answers, and what it believed.
 *
 *   php client.php CONFIG      JSON: class, servers, record, dir, name, seed, kind ("steady", "busy", "sleepy"), work,
 *                              strands (how many clients the process has, each in a fiber)
 *
 * "steady" neither dies by itself nor ends: its descriptors, threads and memory are measured. SIGTERM ends the process
 * after the present operation. SIGUSR1 ends a wait by an exception. */
declare(strict_types=1);

require __DIR__ . '/inc/participant.php';
require __DIR__ . '/inc/record.php';

final class Client extends Participant
{
    private Locks $locks;
    private readonly Record $record;
    private int $permits = 1; // that it requests, or holds
    // Permits of the first request: it tells by which side to attach the lease, also after an upgrade or a downgrade.
    private int $side = 1;
    private int $last = 0; // the number of the last operation
    /**
     * @var ?array<string, int> values of the present lease's records; none: a record refused it, or it is not exclusive
     */
    private ?array $values = null;

    protected function begin(): void
    {
        $this->locks = new Locks($this->class, $this->config['servers']);
        $this->record = new Record($this->config['record']);
    }

    // ---- one critical section ----

    protected function turn(): void
    {
        $this->number = ++$this->last;
        $this->values = null;
        // New for each operation: otherwise the choices would depend on how often the previous one looked, which timing
        // decides.
        $this->chance = new Chance($this->config['seed'], "$this->name/$this->number");
        $one = $this->chance->oneOf(Setting::resources($this->class));
        $resource = Setting::hasSets($this->class) && $this->chance->happens(0.3) ? $this->several($one) : $one;
        Setting::hasPermits($this->class) && $this->permits = (int) $this->chance->weighted(Setting::permits($this->class));
        $this->side = $this->permits;
        $patience = $this->chance->weighted(['none' => 2, 'some' => 6, 'much' => 2]);
        $timeout = $patience === 'none' ? 0.0 : $this->chance->between(0.01, $patience === 'some' ? Setting::LONGEST_TIMEOUT / 3 : Setting::LONGEST_TIMEOUT);
        $ttl = !Setting::isOnZooKeeper($this->class) && $this->chance->happens(0.6) ? $this->chance->between($this->ttls['shortest'], $this->ttls['longest']) : null;
        $this->chance->happens(0.03) && $this->break($one);
        $way = $this->chance->weighted(['tryAcquire' => 5, 'acquire' => 3, 'synchronized' => 1] + (Setting::hasPermits($this->class) || is_array($resource) ? [] : ['lock' => 2]));
        $this->{"by" . ucfirst($way)}($resource, round($timeout, 3), $ttl === null ? null : round($ttl, 3));
    }

    /** Two to four locks at once. @return list<string> */
    private function several(string $one): array
    {
        $others = array_diff(Setting::resources($this->class), [$one]);
        for ($set = [$one], $count = (int) $this->chance->weighted([2 => 3, 3 => 2, 4 => 1]); count($set) < $count; $others = array_diff($others, $set)) {
            $set[] = $this->chance->oneOf(array_values($others));
        }
        return $set;
    }

    /**
     * As "dlock break" does it. The holder may continue until its lease ends; no other client holds the lock before.
     */
    private function break(string $resource): void
    {
        $started = nanoseconds();
        $done = $this->locks->takeFromHolder($resource, $this->chance->oneOf(...));
        if ($done !== null) {
            $this->journal->write('broke', ['n' => $this->number, 'r' => $resource, 't0' => $started, 't1' => nanoseconds(), 'done' => $done]);
        }
    }

    private function byTryAcquire(string|array $resource, float $timeout, ?float $ttl): void
    {
        $lease = $this->ask($resource, $timeout, $ttl, fn () => $this->locks->tryAcquire($resource, $this->permits, $timeout, $ttl));
        $lease && $this->hold($lease, $ttl);
    }

    private function byAcquire(string|array $resource, float $timeout, ?float $ttl): void
    {
        $lease = $this->ask($resource, $timeout, $ttl, fn () => $this->locks->acquire($resource, $this->permits, $timeout, $ttl));
        $lease && $this->hold($lease, $ttl);
    }

    private function bySynchronized(string|array $resource, float $timeout, ?float $ttl): void
    {
        $started = nanoseconds();
        $this->asked($resource, $timeout, $ttl);
        try {
            $this->waiting = true;
            $this->locks->synchronized($resource, $this->permits, function (Dlock\Lease $lease) use ($started) {
                $this->waiting = false;
                $this->answered($started, $lease);
                $this->work($lease, $this->chance->between(0, 0.03));
            }, $timeout, $ttl);
        } catch (Dlock\DlockException | Interrupted $e) {
            [$waited, $this->waiting] = [$this->waiting, false];
            // Otherwise it acquired the lock, and lost or kept it at the end.
            $waited && $this->answered($started, null, $e);
        } finally {
            $this->waiting = false;
        }
    }

    /**
     * As with the old classes: the client believes from the reply to lock() until it calls release(), if that returns
     * true.
     */
    private function byLock(string $resource, float $timeout, ?float $ttl): void
    {
        if ($this->class === 'RedLock') {
            $timeout = 20 * 0.1 + 20 * ($ttl ??= $this->ttls['default']); // attempts are counted, not time
            $lock = $this->ask($resource, $timeout, $ttl, fn () => $this->locks->manager->lock($resource, (int) ($ttl * 1000)));
        } else {
            $arguments = $this->class === 'ZkLock' ? [$resource, $timeout] : [$resource, $timeout, $ttl];
            $lock = $this->ask($resource, $timeout, $ttl, fn () => $this->locks->manager->lock(...$arguments));
        }
        if ($lock) {
            $this->pause($this->chance->between(0, 0.02));
            $this->release(fn () => is_array($lock) ? $this->locks->manager->unlock($lock) : $this->locks->manager->release($resource));
        }
    }

    private function ask(string|array $resource, float $timeout, ?float $ttl, callable $ask): mixed
    {
        $this->chance->happens(0.015) && $this->arrangeStop('client stop while it asks');
        $started = nanoseconds();
        $this->asked($resource, $timeout, $ttl);
        try {
            $this->waiting = true;
            $answer = $ask();
            $this->waiting = false;
            $this->answered($started, $answer);
            return $answer;
        } catch (Dlock\DlockException | Interrupted $e) {
            $this->waiting = false; // a signal must not interrupt the next line
            $this->answered($started, null, $e);
            return null;
        } finally {
            $this->waiting = false;
        }
    }

    /** @param string|list<string> $resource */
    private function asked(string|array $resource, float $timeout, ?float $ttl): void
    {
        $set = is_array($resource) && count($resource) > 1 ? ['pieces' => array_fill_keys($resource, 1)] : [];
        $this->journal->write('ask', ['n' => $this->number, 'r' => implode(', ', (array) $resource), 'permits' => $this->permits, 'of' => Setting::capacity($this->class),
            'timeout' => $timeout, 'ttl' => $ttl, 't0' => nanoseconds()] + $set);
    }

    private function answered(int $started, mixed $answer, ?Throwable $e = null): void
    {
        $ended = nanoseconds();
        $this->journal->write('got', ['n' => $this->number, 't0' => $started, 't1' => $ended, 'ok' => (bool) $answer,
            'fence' => $answer instanceof Dlock\Lease ? $answer->fencingToken : ($answer['fencingToken'] ?? null),
            'e' => $e ? $e::class . ': ' . substr($e->getMessage(), 0, 200) : null]);
    }

    // ---- a reader becomes the writer, and the writer a reader; the checker sees another lease ----

    private function upgrade(Dlock\Lease $lease): void
    {
        $timeout = $this->chance->happens(0.4) ? 0.0 : $this->chance->between(0.01, Setting::LONGEST_TIMEOUT / 3);
        $reader = $this->number;
        $held = null;
        [$this->number, $this->permits] = [++$this->last, Setting::capacity($this->class)];
        $upgraded = $this->ask($lease->resource, round($timeout, 3), null, function () use ($lease, $timeout, &$held) {
            $lease->upgrade($timeout);
            $held = nanoseconds();
            return $lease;
        });
        if ($upgraded) { // it was a reader until now
            $this->journal->write('held', ['n' => $reader, 't0' => $held, 't1' => $held, 'held' => true]);
        } else {
            [$this->number, $this->permits] = [$reader, 1];
        }
        $this->journal->write('upgrade', ['n' => $this->number, 'ok' => (bool) $upgraded]);
    }

    /** If the outcome is unknown, other clients may read. */
    private function downgrade(Dlock\Lease $lease): void
    {
        $started = nanoseconds();
        try {
            $lease->downgrade();
            $done = true;
        } catch (Dlock\DlockException) {
            $done = false;
        }
        $this->journal->write('released', ['n' => $this->number, 't0' => $started, 't1' => nanoseconds(), 'ok' => $done]);
        [$this->number, $this->permits, $this->values] = [++$this->last, 1, []];
        $this->asked($lease->resource, 0.0, null);
        $this->journal->write('got', ['n' => $this->number, 't0' => $started, 't1' => nanoseconds(), 'ok' => true, 'fence' => null, 'e' => null]);
        $this->journal->write('downgrade', ['n' => $this->number, 'ok' => $done]);
    }

    // ---- while it holds ----

    private function hold(Dlock\Lease $lease, ?float $ttl): void
    {
        $lease->isHeld() && $this->believes($lease);
        if (Setting::hasUpgrades($this->class) && $this->permits === 1 && $this->chance->happens(0.25)) {
            $this->upgrade($lease);
        }
        $this->chance->happens(0.015) && $this->arrangeStop('client stop while it holds');
        // With permits, other clients may hold some beside a client that holds for long.
        $length = $this->chance->weighted($this->config['lengths'] ?? ['none' => 4, 'short' => 8, 'long' => 0.4, 'too long' => 0.15]
            + (Setting::hasReplicas($this->class) ? ['over a fail-over' => Setting::hasPermits($this->class) ? 2 : 0.5] : []));
        $this->work($lease, match ($length) {
            'none' => 0.0,
            'short' => $this->chance->between(0, 0.03),
            'long' => $this->chance->between(0.1, 0.6),
            'over a fail-over' => $this->chance->between(1.0, 5.0),
            'too long' => ($ttl ?? $this->ttls['default']) * $this->chance->between(0.9, 1.4),
        });
        if (Setting::hasUpgrades($this->class) && $this->permits > 1 && $this->chance->happens(0.2)) {
            $this->downgrade($lease);
            $this->work($lease, $this->chance->between(0, 0.03));
        }
        $end = $this->chance->weighted(['release' => 14, 'destruct' => 3, 'fork' => 1.2] + (Setting::isOnZooKeeper($this->class) ? [] : ['hand on' => 1.5])
            + ($this->kind === 'steady' || $this->isChild || isset($this->config['strand']) ? [] : ['exit' => 0.5, 'kill' => 0.4, 'exec' => 0.4]));
        switch ($end) {
            case 'fork':
                $this->fork($lease);
                $this->work($lease, $this->chance->between(0, 0.1));
                // no break
            case 'release':
                $this->release($lease->release(...));
                break;
            case 'hand on':
                $this->handOn($lease);
                break;
            case 'destruct':
                break;
            case 'exit':
                $this->journal->write('end', ['t' => nanoseconds()]);
                exit(0);
            case 'kill':
                posix_kill(getmypid(), SIGKILL);
                // no break
            case 'exec':
                $this->record->close();
                $this->replace(__FILE__);
        }
    }

    /** Updates the records for a while, and checks the lease each time. Ends when the lease is lost. */
    private function work(Dlock\Lease $lease, float $seconds): void
    {
        $until = nanoseconds() + (int) ($seconds * 1e9);
        // The record orders holders by their tokens, so only an exclusive lease uses it.
        $values = $this->values ??= $this->permits === Setting::capacity($this->class) ? $this->open($lease) : [];
        $refreshes = $this->chance->happens(0.1);
        for ($i = 0; $this->believes($lease) && nanoseconds() < $until; $i++) {
            if ($values && $i % 3 === 0) {
                $values = $this->values = $this->update($lease, $values);
            }
            if ($refreshes && $i === 2) {
                $this->refresh($lease);
            }
            if ($this->kind === 'busy') {
                for ($k = 0, $sum = ''; $k < 200; $k++) {
                    $sum = md5($sum);
                }
                $i > 20 && $this->pause($this->chance->between(0.001, 0.01)); // other processes need the machine, too
            } else {
                $this->pause($this->chance->between(0.001, $seconds > 0.1 ? 0.05 : 0.01));
            }
        }
    }

    private function believes(Dlock\Lease $lease): bool
    {
        $before = nanoseconds();
        $held = $lease->isHeld();
        $this->journal->write('held', ['n' => $this->number, 't0' => $before, 't1' => nanoseconds(), 'held' => $held]);
        return $held;
    }

    /** @return array<string, int> none: a record refused */
    private function open(Dlock\Lease $lease): array
    {
        $values = [];
        foreach ($lease->resources as $resource) {
            $before = nanoseconds();
            $values[$resource] = $this->record->open($resource, $lease->fencingToken, "$this->name/$this->number");
            $this->journal->write('open', ['n' => $this->number, 't0' => $before, 't1' => nanoseconds(), 'value' => $values[$resource]]);
        }
        return min($values) < 0 ? [] : $values;
    }

    /** @param array<string, int> $values  @return array<string, int> the new values; none: a record refused */
    private function update(Dlock\Lease $lease, array $values): array
    {
        static $updates = 0;
        foreach ($values as $resource => $value) {
            $id = "$this->name/$this->number/" . ++$updates;
            $before = nanoseconds();
            $accepted = $this->record->update($resource, $lease->fencingToken, $id, $value + 1);
            $this->journal->write('update', ['n' => $this->number, 't0' => $before, 't1' => nanoseconds(), 'id' => $id, 'ok' => $accepted]);
            if (!$accepted) {
                return [];
            }
            $values[$resource]++;
        }
        return $values;
    }

    private function refresh(Dlock\Lease $lease): void
    {
        $before = nanoseconds();
        try {
            $lease->refresh();
            $result = 'ok';
        } catch (Dlock\DlockException $e) {
            $result = $e::class;
        }
        $this->journal->write('refresh', ['n' => $this->number, 't0' => $before, 't1' => nanoseconds(), 'result' => $result]);
    }

    private function release(callable $release): void
    {
        $before = nanoseconds();
        $this->journal->write('let', ['n' => $this->number, 't0' => $before]);
        try {
            $released = $release();
            $error = null;
        } catch (Dlock\DlockException $e) {
            $released = false;
            $error = $e::class . ': ' . substr($e->getMessage(), 0, 200);
        }
        $this->journal->write('released', ['n' => $this->number, 't0' => $before, 't1' => nanoseconds(), 'ok' => $released, 'e' => $error]);
    }

    // ---- children ----

    /** The child has a copy of the lease, which belongs to its parent. */
    private function fork(Dlock\Lease $lease): void
    {
        $what = $this->chance->weighted(['exit' => 3, 'release' => 2, 'locks' => 2, 'lives' => 1]);
        $child = pcntl_fork();
        if ($child !== 0) {
            $child > 0 && $this->children++;
            return;
        }
        $parent = "$this->name/$this->number";
        $this->becomeChild("f$this->number");
        if ($what === 'exit') {
            $this->journal->write('end', ['t' => nanoseconds()]);
            exit(0);
        }
        if ($what === 'release') {
            $held = $lease->isHeld();
            try {
                $released = $lease->release();
            } catch (Dlock\DlockException $e) {
                $released = $e::class;
            }
            $this->journal->write('child', ['parent' => $parent, 't' => nanoseconds(), 'held' => $held, 'released' => $released]);
            $this->journal->write('end', ['t' => nanoseconds()]);
            exit(0);
        }
        $this->run(nanoseconds() + (int) (($what === 'lives' ? 2 : 0.5) * 1e9));
        exit(0);
    }

    /**
     * A child attaches the lease by its handle. The handle may arrive twice, as from a queue that delivers at least
     * once.
     */
    private function handOn(Dlock\Lease $lease): void
    {
        $resource = $lease->resources;
        $times = $this->chance->weighted(['once' => 3, 'twice' => 2, 'again later' => 2]);
        try {
            $handle = $lease->detach();
        } catch (Dlock\DlockException) { // the lease was lost
            return;
        }
        $this->takeOver($resource, $handle, 'a', false);
        if ($times !== 'once') {
            $this->takeOver($resource, $handle, 'b', $times === 'again later');
        }
    }

    /** @param list<string> $resource */
    private function takeOver(array $resource, string $handle, string $letter, bool $later): void
    {
        $child = pcntl_fork();
        if ($child !== 0) {
            $child > 0 && $this->children++;
            return;
        }
        $this->becomeChild("h$this->number$letter");
        $this->chance = new Chance($this->config['seed'], "$this->name/$this->number");
        $this->values = null;
        if ($later || $this->chance->happens(0.3)) {
            $this->pause($this->chance->between(0, 0.8));
        }
        // The child is a new holder, with a token of its own.
        $lease = $this->ask($resource, 0.0, null, fn () => $this->locks->attach($handle, $this->side));
        $this->journal->write('attach', ['n' => $this->number, 't' => nanoseconds(), 'ok' => $lease !== null, 'again' => $letter !== 'a']);
        if ($lease) {
            $this->believes($lease);
            // Perhaps for longer than the lease lasts.
            $this->work($lease, $this->chance->between(0, $this->chance->happens(0.25) ? $this->ttls['longest'] : 0.6));
            $this->release($lease->release(...));
        }
        $this->journal->write('end', ['t' => nanoseconds()]);
        exit(0);
    }
}

$config = json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR);
if (isset($config['strands'])) {
    Strands::run($config['name'], $config['dir'], array_map(
        fn (int $i) => new Client(['name' => "$config[name]s$i", 'process' => $config['name'], 'strand' => $i] + $config), range(0, $config['strands'] - 1)));
} else {
    (new Client($config))->run();
}
