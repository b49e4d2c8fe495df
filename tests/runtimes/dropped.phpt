--TEST--
Runtimes: waiting fibers that are never resumed, although something still refers to them, do not keep others from their lock or time limit
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';

/** A process that holds the lock until it is told to release it. */
function holding(StrandKind $kind, string $resource): ForkedChild
{
    $child = fork_child(function (callable $say, callable $hear) use ($kind, $resource) {
        $lease = $kind->manager()->acquire($resource, timeout: 60, ttl: $kind->ttl(600));
        $say(true);
        $hear();
        return $lease->release();
    });
    at_end($child->kill(...));
    return $child;
}

foreach (strand_kinds(memory: false) as $name => $kind) {
    $manager = $kind->manager(); // starts a server of its own here, not in a child
    [$first, $second, $third] = array_map(unique(...), ["$name-1", "$name-2", "$name-3"]);
    $holders = array_map(fn (string $resource) => holding($kind, $resource), [$first, $second, $third]);
    array_map(fn (ForkedChild $holder) => $holder->hear(), $holders);
    Strands::install();
    Strands::$suspensions = 0;
    $dropped = [];
    foreach ([1, 2] as $number) { // the first one polls for all; the second one would replace it
        $dropped[] = Strands::spawn(fn () => $manager->acquire($first, timeout: 600, ttl: $kind->ttl(30)));
        Strands::run(fn () => Strands::$suspensions >= $number);
    }
    Strands::drop();
    $start = now();
    $late = 'not run';
    Strands::spawn(function () use ($manager, $third, &$late) {
        $late = $manager->tryAcquire($third, timeout: 1);
    });
    Strands::run();
    same(null, $late, "$name: the time limit");
    Strands::spawn(function () use ($name, $kind, $manager, $second) {
        same(true, $manager->acquire($second, timeout: 100, ttl: $kind->ttl(600))->release(), "$name: another lock");
    });
    Strands::spawn(function () use ($holders) {
        Strands::pause(0.5); // the other one waits by then
        $holders[1]->say('release');
    });
    Strands::run();
    holds(now() - $start < 55, "$name: before a minute was over, when any wait is looked at", now() - $start);
    Dlock\setWaiter(null);
    unset($dropped);
    array_map(fn (int $i) => $holders[$i]->say('release'), [0, 2]);
    same([true, true, true], array_map(fn (ForkedChild $holder) => $holder->result(), $holders), "$name: holders");
    $kind->waitUntilGone($first);
}
echo "done\n";
?>
--EXPECT--
done
