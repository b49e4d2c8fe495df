--TEST--
Logs and error reports of a Lease show no token: json_encode(), var_dump(), print_r(), var_export(), (array), traces
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

function shown_by(callable $do): string
{
    ob_start();
    $do();
    return ob_get_clean();
}

function iterated(object $object): array
{
    $all = [];
    foreach ($object as $name => $value) {
        $all[$name] = $value;
    }
    return $all;
}

function fail_with(Dlock\Lease $lease): never
{
    throw new LogicException('failed');
}

foreach ([new DistributedLock(redis_server()), new RedLock(redis_servers(3)), new DistributedLock('memory://')] as $manager) {
    $name = $manager::class;
    $lease = $manager->acquire($resource = unique('shown'), timeout: 0);
    $token = $lease->token;
    same(['resource' => $resource, 'resources' => [$resource], 'fencingToken' => $lease->fencingToken, 'permits' => 1], json_decode(json_encode($lease), true), "$name: json_encode()");
    $e = thrown_by(fn () => fail_with($lease));
    $texts = [
        'json_encode()' => json_encode([$lease, $manager]),
        'var_dump()' => shown_by(fn () => var_dump($lease, $manager)),
        'print_r()' => print_r([$lease, $manager], true),
        'var_export()' => var_export($lease, true),
        '(array)' => json_encode((array) $lease),
        'a trace' => $e . print_r($e->getTrace(), true),
    ];
    foreach ($texts as $way => $text) {
        holds(!str_contains($text, $token), "$name: $way", $text);
        holds(str_contains($text, $way === 'a trace' ? 'Lease' : $resource), "$name: $way shows the rest", $text);
    }
    unset($e);
    // Code that names the properties reads them, on each version of PHP.
    same([$token, $token], [get_object_vars($lease)['token'], iterated($lease)['token']], "$name: get_object_vars(), foreach");
    same([$token, true], [$lease->token, $lease->release()], "$name: the token can be read");
}
echo "done\n";
?>
--EXPECT--
done
