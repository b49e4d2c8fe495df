--TEST--
A signal handler drops the section's object while synchronized() waits: the section still runs with its own object
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'pcntl_async_signals', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

final class Section
{
    public function __construct(private string $what)
    {
    }

    public function run(): void
    {
        echo get_class($this), " $this->what runs\n";
    }

    public function __destruct()
    {
        echo get_class($this), " $this->what is destroyed\n";
    }
}

final class Another // fills the memory of the dropped object
{
    private string $what = 'of the handler';
}

pcntl_async_signals(true);
foreach (renewed_locks() as $name => $locks) {
    $resource = unique($name);
    $holder = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
        $lease = $locks->manager()->acquire($resource, 10);
        $say(null);
        $locks->waitUntilQueued($resource, 1);
        posix_kill(posix_getppid(), SIGUSR1);
        $hear();
        return $lease->release();
    });
    $holder->hear();
    $section = new Section($name);
    $callable = [&$section, 'run'];
    pcntl_signal(SIGUSR1, function () use (&$section, &$another, $holder) {
        $section = null;
        $another = new Another();
        $holder->say(null);
    });
    $locks->manager()->synchronized($resource, $callable, 30);
    same(true, $holder->result(), "$name: the holder");
    unset($section, $callable, $another);
}
echo "done\n";
?>
--EXPECT--
Section DistributedLock runs
Section DistributedLock is destroyed
Section RedLock runs
Section RedLock is destroyed
done
