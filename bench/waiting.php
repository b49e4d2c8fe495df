<?php
/* What processes send to the servers while they wait for a lock.
 *
 *   waiting.php WAY PROCESSES SECONDS     prints the commands that clients sent, per process and second and server
 */
declare(strict_types=1);

require_once __DIR__ . '/ways.php';
require_once __DIR__ . '/../tests/inc/zk.inc';

/** Counts what clients send to one Redis server. Commands that scripts call do not count. */
final class Monitor
{
    private RedisRaw $events;
    private RedisRaw $own;

    public function __construct(string $address)
    {
        $this->events = new RedisRaw($address, timeout: 60);
        $this->own = new RedisRaw($address, timeout: 60);
        $this->events->cmd('MONITOR');
    }

    /** How many commands came since this object was constructed. */
    public function count(): int
    {
        $mark = 'mark-' . bin2hex(random_bytes(8));
        $this->own->cmd('ECHO', $mark);
        for ($count = 0; !str_contains($event = $this->events->reply(), $mark); ) {
            $count += preg_match('/^\S+ \[\d+ lua\]/', $event) ? 0 : 1;
        }
        return $count;
    }
}

/** Requests that ZooKeeper has received, pings included. */
function zk_requests(): int
{
    return preg_match('/^zk_packets_received\s+(\d+)/m', zk_ask('mntr'), $found) ? (int) $found[1] : throw new RuntimeException('mntr');
}

function wait_and_count(string $way, int $seconds): float
{
    if ($way === 'ZkLock') {
        $before = zk_requests();
        sleep($seconds);
        return zk_requests() - $before - 1;
    }
    $servers = in_array($way, ['RedLock', 'Redlock class'], true) ? bench_redis() : [bench_redis()[0]];
    $monitors = array_map(fn ($address) => new Monitor($address), $servers);
    sleep($seconds);
    return array_sum(array_map(fn ($monitor) => $monitor->count(), $monitors)) / count($monitors);
}

[, $way, $processes, $seconds] = $argv;

/** Acquires the lock, or waits for it, until the process is killed. */
$process = fn () => fork_child(function (Closure $say, Closure $hear) use ($way, $seconds) {
    pcntl_alarm((int) $seconds + 60);
    $take = ways()[$way]();
    $say('connected');
    $give = $take(unique());
    $say('holding');
    $hear();
    $give();
});

$holder = $process();
$waiters = [];
try {
    foreach (['connected', 'holding'] as $word) {
        $holder->hear() === $word || throw new RuntimeException("$way: not $word");
    }
    for ($i = 0; $i < (int) $processes; $i++) {
        $waiters[] = $process();
    }
    foreach ($waiters as $waiter) {
        $waiter->hear();
    }
    usleep(1_000_000); // by now, all processes wait
    if ($way === 'ZkLock') { // it connects only when it acquires
        wait_for(fn () => count(zk_sessions(zk_hosts())) > (int) $processes, 60, 'sessions');
    }
    printf("%.3f\n", wait_and_count($way, (int) $seconds) / $processes / $seconds);
} finally {
    foreach ([...$waiters, $holder] as $child) {
        $child->kill();
    }
}
