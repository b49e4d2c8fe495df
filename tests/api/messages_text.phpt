--TEST--
Messages cut a name at a character; bytes that are not UTF-8, and NUL, become question marks
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$prefix = unique('text') . '-';
$names = [ // name => the message's form of it
    'a€b' => 'a€b',
    "a\0b" => 'a?b',
    "a\0c" => 'a?c',
    "a\xffb\xe2\x82" => 'a?b??',
    "\xc0\xaf\xed\xa0\x80" => '?????',
    str_repeat('x', 99) . '€uro' => str_repeat('x', 99),
    str_repeat('é', 100) => str_repeat('é', 50),
    str_repeat("\xf0\x9f\x98\x80", 100) => str_repeat("\xf0\x9f\x98\x80", 25),
];
foreach ([new DistributedLock(redis_server(), $prefix), new RedLock(redis_servers(3), prefix: $prefix), new DistributedLock('memory://'),
    new Dlock\Semaphore(1, redis_server(), $prefix)] as $manager) {
    $kind = $manager::class;
    foreach ($names as $name => $shown) {
        $lease = $manager->acquire((string) $name, timeout: 0);
        $messages = [
            'a timeout' => thrown_by(fn () => $manager->acquire((string) $name, timeout: 0))->getMessage(),
            'a deadlock' => thrown_by(fn () => $manager->acquire((string) $name, timeout: 1))->getMessage(),
        ];
        same(true, $lease->release(), "$kind: release()");
        $messages['a lease that is over'] = thrown_by(fn () => $lease->assertHeld())->getMessage();
        foreach ($messages as $what => $message) {
            holds(str_contains($message, "\"$shown\"") && json_encode($message) !== false, "$kind: $what", $message, $shown);
        }
    }
}
echo "done\n";
?>
--EXPECT--
done
