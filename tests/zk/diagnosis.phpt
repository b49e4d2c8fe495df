--TEST--
ZkLock finds out why a connection is missing when that costs no lease: its thread must probe as soon as there is a connection
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

// A relay that closes its connections when it is told to, and from then on accepts others and answers nothing. It
// reports connections over which nothing was sent either: the client library says at once who it is.
$relay = php_child('
    $listener = stream_socket_server("tcp://127.0.0.1:0");
    echo stream_socket_get_name($listener, false), "\n";
    $streams = [STDIN, $listener, $near = stream_socket_accept($listener, 60), $far = stream_socket_client("tcp://$argv[1]")];
    $heard = [];
    for ($open = true;;) {
        $read = $streams;
        $write = $except = null;
        stream_select($read, $write, $except, null);
        foreach ($read as $stream) {
            if ($stream === STDIN) {
                if (fgets(STDIN) === false) {
                    exit;
                }
                fclose($near);
                fclose($far);
                $streams = [STDIN, $listener];
                continue 2;
            }
            if ($stream === $listener) {
                $streams[] = $new = stream_socket_accept($listener);
                $heard[(int) $new] = false;
                continue;
            }
            $bytes = @fread($stream, 65536);
            if ($stream === $near || $stream === $far) {
                fwrite($stream === $near ? $far : $near, $bytes);
            } elseif ($bytes !== false && $bytes !== "") {
                $heard[(int) $stream] = true;
            } else {
                echo $heard[(int) $stream] ? "" : "has said nothing\n";
                unset($streams[array_search($stream, $streams, true)]);
                fclose($stream);
            }
        }
    }
', [zk_hosts()]);
$hosts = $relay->readLine();
$lock = new ZkLock($hosts, sessionTimeout: 6);
$lease = $lock->acquire(unique(), 0);
// Right after the answer to a probe the remaining time is longest.
for ($left = $lease->remaining(); ($now = $lease->remaining()) <= $left; $left = $now);
$relay->writeLine('close');
wait_for(fn () => $lease->state() !== Dlock\LeaseState::Held, 60, 'the end of the connection');
same('has said nothing', $relay->readLine(), 'a connection is tried by hand');
same(Dlock\LeaseState::Lost, $lease->state(), 'the lease by then');
fails(Dlock\ConnectionException::class, "ZooKeeper at $hosts: no connection for * s ($hosts: accepts connections but opens no session)",
    fn () => $lock->lock(unique('other'), 0));
echo "done\n";
?>
--EXPECT--
done
