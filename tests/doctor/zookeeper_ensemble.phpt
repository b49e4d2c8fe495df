--TEST--
dlock-doctor is quiet about a good ensemble, and reports a bad size, members that are down or not named, and what is hidden
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/doctor.inc';

/**
 * Starts the first $running members of an ensemble of $n, which show what ZooKeeper shows by default.
 * @return array{list<string>, list<resource>} addresses, processes
 */
function ensemble(int $n, int $running): array
{
    $port = fn () => random_int(10240, 32000);
    for (;;) {
        $lines = [];
        $ports = array_map($port, range(1, $n));
        for ($i = 1; $i <= $n; $i++) {
            $lines[] = "server.$i=127.0.0.1:{$port()}:{$port()}";
        }
        $processes = $logs = [];
        for ($i = 1; $i <= $running; $i++) {
            $dir = temporary_directory();
            mkdir("$dir/data");
            file_put_contents("$dir/data/myid", (string) $i);
            file_put_contents("$dir/zoo.cfg", implode("\n", ["dataDir=$dir/data", 'clientPortAddress=127.0.0.1', "clientPort={$ports[$i - 1]}", 'tickTime=500',
                'initLimit=50', 'syncLimit=25', 'admin.enableServer=false', ...$lines, '']));
            $processes[] = start_server(['java', '-Xms32m', '-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData',
                '-Dzookeeper.forceSync=no', '-Dzookeeper.preAllocSize=1024', '-Dzookeeper.jmx.log4j.disable=true', '-Djava.net.preferIPv4Stack=true',
                '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-Dzookeeper.fastleader.maxNotificationInterval=1000', '-cp', '/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar',
                'org.apache.zookeeper.server.quorum.QuorumPeerMain', "$dir/zoo.cfg"], $logs[] = "$dir/log");
        }
        $addresses = array_map(fn (int $port) => "127.0.0.1:$port", array_slice($ports, 0, $running));
        $state = wait_for(function () use ($addresses, $processes, $logs) {
            foreach ($processes as $i => $process) { // another process may have a port
                if (!proc_get_status($process)['running'] || str_contains((string) file_get_contents($logs[$i]), 'BindException')) {
                    return 'ended';
                }
            }
            foreach ($addresses as $address) {
                if (thrown_by(fn () => zk_raw($address)->close())) {
                    return '';
                }
            }
            return 'ready';
        }, 90, 'an ensemble');
        if ($state === 'ready') {
            return [$addresses, $processes];
        }
        array_map(stop(...), $processes);
    }
}

/** @param resource $process */
function stop($process): void
{
    proc_terminate($process, SIGKILL);
    proc_close($process);
}

// Three servers, which show none of their settings.
[$addresses, $processes] = ensemble(3, 3);
$hosts = implode(',', $addresses);
$texts = finds(['unseen' => 'note'], [$hosts, '--workers=10'], 'three');
holds(str_contains($texts['unseen'] ?? '', 'tickTime, maxClientCnxns (60 by default) (conf)'), 'what is not shown', $texts);
finds([], [$hosts, '--ignore=unseen'], 'three, not told of what is not shown');
$run = new DoctorRun([$hosts, '--ignore=unseen']);
holds((bool) preg_match('/^All is well: ZkLock on 3 servers, ZooKeeper [\d.]+, led by 127.0.0.1:\d+, round trips/', $run->output), 'one line', $run->output);
finds(['unseen' => 'note', 'one-of-many' => 'warning'], [$addresses[1]], 'one of three');
finds(['unseen' => 'note'], ["$addresses[0],$addresses[2]"], 'two of three');

// Two servers, and members of two ensembles.
[$two, $pair] = ensemble(2, 2);
finds(['few-servers' => 'warning'], [implode(',', $two), '--ignore=unseen'], 'two');
finds(['not-one-ensemble' => 'problem'], ["$addresses[0],$two[1]", '--ignore=unseen'], 'two ensembles');
finds(['not-one-ensemble' => 'problem'], [zk_hosts() . ",$two[1]", '--ignore=unseen'], 'one by itself and one of an ensemble');
array_map(stop(...), $pair);

// Members that are down.
stop($processes[0]);
wait_for(fn () => !thrown_by(fn () => zk_raw("$addresses[1],$addresses[2]")->close()), 60, 'the others to go on');
finds(['unseen' => 'note', 'unreachable' => 'warning'], [$hosts], 'one is down');
stop($processes[1]);
wait_for(fn () => str_contains(zk_ask('srvr', $addresses[2]), 'not currently serving'), 60, 'the last one to know');
$texts = finds(['unreachable' => 'problem'], [$hosts], 'two are down');
holds(str_contains($texts['unreachable'] ?? '', "$addresses[2] no session there: it is not serving requests, since its ensemble has no majority"), 'two are down', $texts);
stop($processes[2]);

[$addresses, $processes] = ensemble(4, 3);
finds(['even-servers' => 'note'], [implode(',', $addresses), '--ignore=unseen'], 'four');
array_map(stop(...), $processes);
echo "done\n";
?>
--EXPECT--
done
