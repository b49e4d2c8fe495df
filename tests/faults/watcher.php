<?php
/* Logs when a server gets another role, until it is killed. Failovers are counted from that.
 *
 *   php watcher.php CONFIG      JSON: addresses, dir */
declare(strict_types=1);

require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/network.php';
require __DIR__ . '/../inc/topology.inc';

const ANSWER = 0.2;
const PERIOD = 50_000;

Network::mayLosePackets() && Partitions::pass();
['addresses' => $addresses, 'dir' => $dir] = json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR);
$journal = new Journal("$dir/history/watcher.jsonl");
$seen = [];
for (;; usleep(PERIOD)) {
    foreach ($addresses as $address) {
        try {
            $info = redis_info(new RedisRaw($address, null, 'default', ANSWER), 'replication');
        } catch (RuntimeException) {
            continue;
        }
        $role = $info['role'] ?? '';
        if (in_array($role, ['master', 'slave'], true) && $role !== ($seen[$address] ?? null)) {
            $journal->write('role', ['t' => nanoseconds(), 'server' => $address, 'role' => $role, 'before' => $seen[$address] ?? null, 'replid' => $info['master_replid']]);
            $seen[$address] = $role;
        }
    }
}
