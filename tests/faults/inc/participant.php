<?php
/* What all client processes share: a journal, signals, children, and the check of what is left in the process. */
declare(strict_types=1);

require_once __DIR__ . '/journal.php';
require_once __DIR__ . '/chance.php';
require_once __DIR__ . '/locks.php';
require_once __DIR__ . '/strands.php';

final class Interrupted extends Exception
{
}

abstract class Participant
{
    protected Journal $journal;
    protected Chance $chance;
    protected readonly string $class, $kind;
    /** @var array<string, float> */
    protected readonly array $ttls;
    protected string $name;
    protected int $number = 0; // of the present operation
    protected int $children = 0;
    protected bool $waiting = false;
    protected bool $isChild = false;
    public bool $goesOn = true;
    public bool $isInterrupted = false; // as one of several strands: its wait must end

    public function __construct(protected readonly array $config)
    {
        $this->name = $config['name'];
        $this->class = $config['class'];
        $this->ttls = Setting::ttls($this->class);
        $this->kind = $config['kind'];
        $this->journal = new Journal("$config[dir]/history/$this->name.jsonl");
        $this->begin();
        $this->journal->write('start', ['t' => nanoseconds(), 'pid' => getmypid(), 'kind' => $this->kind,
            'sockets' => ($config['strand'] ?? 0) > 0 ? 0 : $this->descriptors('socket:') - $this->socketsOfLibrary()]);
        $this->handleSignals();
    }

    private function handleSignals(): void
    {
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, function () {
            $this->goesOn = false;
            $this->waiting && throw new Interrupted();
        });
        pcntl_signal(SIGUSR1, fn () => $this->waiting && throw new Interrupted());
    }

    public function isWaiting(): bool
    {
        return $this->waiting;
    }

    /** Is it the first or only client of the process, which reports for it? */
    protected function isFirst(): bool
    {
        return !$this->isChild && ($this->config['strand'] ?? 0) === 0;
    }

    /** Prepares the client for its first turn. */
    abstract protected function begin(): void;

    /** One operation; the client repeats them. */
    abstract protected function turn(): void;

    public function run(?int $until = null): void
    {
        for ($i = 0; $this->goesOn && ($until === null || nanoseconds() < $until); $i++) {
            $this->turn();
            while ($this->children > 0 && ($child = pcntl_waitpid(-1, $status, WNOHANG)) > 0) {
                $this->children--;
                // A child that is ending no longer handles the last two signals.
                if (pcntl_wifsignaled($status) && !in_array(pcntl_wtermsig($status), [SIGKILL, SIGTERM, SIGUSR1], true) || pcntl_wifexited($status) && pcntl_wexitstatus($status) !== 0) {
                    $this->journal->write('crash', ['t' => nanoseconds(), 'child' => $child, 'status' => $status]);
                }
            }
            $this->pause($this->chance->between(0, 0.02));
            if ($this->kind === 'steady' && $this->isFirst() && $i % 10 === 0) {
                $this->logResources();
            }
        }
        $this->kind === 'steady' && $this->isFirst() && $this->logResources();
        $this->journal->write('end', ['t' => nanoseconds()]);
    }

    /**
     * A child soon stops this process, about when the reply arrives, for up to more than a lease, a grant or a session
     * lasts.
     */
    protected function arrangeStop(string $kind): void
    {
        $after = $this->chance->happens(0.7) ? $this->chance->between(0, 0.003) : $this->chance->between(0, 0.3);
        $for = 0.1 + 1.3 * Setting::leaseOver($this->class) * $this->chance->fraction() ** 2;
        $parent = getmypid();
        if (($child = pcntl_fork()) !== 0) {
            $child > 0 && $this->children++;
            return;
        }
        $this->pause($after);
        $from = nanoseconds();
        if (posix_getppid() === $parent) {
            posix_kill($parent, SIGSTOP);
            $this->pause($for);
            posix_kill($parent, SIGCONT);
            $this->journal->write('fault', ['kind' => $kind, 'name' => $this->isChild ? $this->name : $this->config['process'] ?? $this->name, 't0' => $from, 't1' => nanoseconds()]);
        }
        posix_kill(getmypid(), SIGKILL); // so that no destructors run
    }

    /** Gives a child that was just forked its own name and journal. */
    protected function becomeChild(string $suffix): void
    {
        $parent = "$this->name/$this->number";
        $this->isChild = true;
        isset($this->config['strand']) && $this->handleSignals();
        $this->children = 0;
        $this->name .= $suffix;
        $this->journal = new Journal("{$this->config['dir']}/history/$this->name.jsonl");
        $this->journal->write('start', ['t' => nanoseconds(), 'pid' => getmypid(), 'kind' => 'child', 'parent' => $parent]);
    }

    // ---- what is left in the process ----

    protected function executions(): int
    {
        return preg_match('/x(\d+)$/', $this->name, $found) ? (int) $found[1] : 0;
    }

    /** The ZooKeeper client library does not close its socket at exec(): at most one is left for each exec() before. */
    protected function socketsOfLibrary(): int
    {
        return Setting::isOnZooKeeper($this->class) ? min($this->executions(), $this->descriptors('socket:')) : 0;
    }

    protected function descriptors(string $kind = ''): int
    {
        $count = 0;
        foreach (scandir('/proc/self/fd') as $fd) {
            $count += $fd[0] !== '.' && str_starts_with((string) @readlink("/proc/self/fd/$fd"), $kind);
        }
        return $count;
    }

    public function logResources(): void
    {
        $status = file_get_contents('/proc/self/status');
        $of = fn (string $name) => preg_match("/^$name:\\s+(\\d+)/m", $status, $found) ? (int) $found[1] : 0;
        $this->journal->write('resources', ['t' => nanoseconds(), 'fds' => $this->descriptors(), 'threads' => $of('Threads'), 'rss' => $of('VmRSS')]);
    }

    protected function pause(float $seconds): void
    {
        Strands::pause($seconds) || usleep((int) ($seconds * 1e6));
    }

    /** Replaces the process by another program. PHP's own sockets survive exec(); those of the extension must not. */
    protected function replace(string $script): never
    {
        $name = preg_replace('/x\d+$/', '', $this->name) . 'x' . ($this->executions() + 1);
        $this->journal->write('end', ['t' => nanoseconds()]);
        pcntl_exec(PHP_BINARY, [...explode(' ', getenv('DLOCK_FAULTS_PHP')), $script, json_encode(['name' => $name] + $this->config)]);
        exit(1);
    }
}
