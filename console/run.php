<?php
declare(strict_types=1);

namespace Dlock\Console;

/** Seconds between two looks while it waits for a lock from outside. */
const LOOK = 0.5;

/** Seconds that a command has to end after SIGTERM. */
const PATIENCE = 5.0;

function wait_until_free(Arguments $arguments): int
{
    [$locks, $name, $timeout] = [$arguments->locks(), $arguments->name(), $arguments->seconds('timeout')];
    $until = $timeout === null ? INF : microtime(true) + $timeout;
    for (;;) {
        $lock = $locks->inspect($name, 0);
        if (!$lock->holders && $lock->waiting === 0) {
            return 0;
        }
        if (microtime(true) >= $until) {
            fwrite(STDERR, "dlock: it is not free\n");
            return 1;
        }
        usleep((int) (1e6 * max(0, min(LOOK, $until - microtime(true)))));
    }
}

/** A command that runs with the terminal and files of this process. */
final class Command
{
    /** @var resource */
    private $process;
    /** Ends when the command ends; null: the command closed it before. @var ?resource */
    private $pipe;

    /** @param list<string> $words */
    public function __construct(array $words)
    {
        $process = @proc_open($words, [STDIN, STDOUT, STDERR, ['pipe', 'w']], $pipes);
        if (!$process) {
            throw new Misuse("$words[0] cannot be run");
        }
        [$this->process, $this->pipe] = [$process, $pipes[3]];
    }

    public function signal(int $signal): void
    {
        proc_terminate($this->process, $signal);
    }

    /** Waits $seconds, or until the command ends. Returns its exit status; null: it still runs. */
    public function wait(float $seconds): ?int
    {
        $read = [$this->pipe];
        $write = $except = null;
        if (!$this->pipe) { // the command closed it before its end
            usleep((int) ($seconds * 1e6));
        } elseif (@stream_select($read, $write, $except, 0, (int) ($seconds * 1e6)) && fread($this->pipe, 1) === '') {
            $this->pipe = null;
            usleep(2000); // the command is about to end
        }
        $state = proc_get_status($this->process);
        return $state['running'] ? null : ($state['signaled'] ? 128 + $state['termsig'] : $state['exitcode']);
    }
}

/** Passes signals to the command. This process ends when the command does. */
function pass_signals_on(Command $command): void
{
    if (function_exists('pcntl_async_signals')) {
        pcntl_async_signals(true);
        foreach ([SIGTERM, SIGINT, SIGHUP] as $signal) {
            pcntl_signal($signal, fn () => $command->signal($signal), false);
        }
    }
}

function end_command(Command $command): void
{
    $command->signal(15);
    for ($until = microtime(true) + PATIENCE; microtime(true) < $until;) {
        if ($command->wait(0.2) !== null) {
            return;
        }
    }
    $command->signal(9);
    while ($command->wait(0.2) === null);
}

function run_under(Arguments $arguments): int
{
    $name = $arguments->name();
    $words = $arguments->rest ?: throw new Misuse('run needs a command behind "--"');
    $locks = $arguments->locks();
    \Dlock\setLabel(label_of(basename($words[0])));
    $lease = $locks instanceof \Dlock\Semaphore ? $locks->tryAcquire($name, timeout: $arguments->seconds('timeout') ?? 31536000.0, ttl: $arguments->seconds('ttl'))
        : $locks->tryAcquire($name, $arguments->seconds('timeout') ?? 31536000.0, $arguments->seconds('ttl'));
    if (!$lease) {
        fwrite(STDERR, "dlock: the lock was not free in time\n");
        return 1;
    }
    $command = new Command($words);
    pass_signals_on($command);
    while (($status = $command->wait(0.2)) === null) {
        if (!$lease->isHeld()) {
            fwrite(STDERR, "dlock: the lock was lost, so the command is ended\n");
            end_command($command);
            return 3;
        }
    }
    return release_after($lease, $status);
}

/**
 * Releases the lock, and returns the command's exit status; 3: the lock was lost before. The loop above may not have
 * seen a loss shortly before the end, or while this process was stopped.
 */
function release_after(\Dlock\Lease $lease, int $status): int
{
    $was_held = $lease->isHeld();
    try {
        $was_held = $lease->release();
    } catch (\Dlock\ConnectionException $e) {
        fwrite(STDERR, 'dlock: the lock may stay until its lease expires: ' . printable($e->getMessage()) . "\n");
    }
    if (!$was_held) {
        fwrite(STDERR, "dlock: the lock was lost before the command ended\n");
        return 3;
    }
    return $status;
}

/** The label that other processes see. */
function label_of(string $command): string
{
    return 'run ' . substr(preg_replace('/[^ -~]/', '?', $command), 0, 100);
}
