<?php
/* Several clients in one process, each in a fiber: while one waits, for a lock or otherwise, the other clients run. */
declare(strict_types=1);

require_once __DIR__ . '/participant.php';

final class Strands
{
    /** If one strand blocks all other strands for longer than this, the journal has it as a stop of the process. */
    private const HELD_UP = 100_000_000; // ns

    private static ?self $current = null;
    /** @var list<array{?resource, int, Fiber}> strands that wait for a stream or a time */
    private array $waiting = [];
    /** @var WeakMap<Fiber, Participant> */
    private WeakMap $participants;
    private readonly int $process;

    private function __construct(private readonly string $name, private readonly Journal $journal)
    {
        $this->process = getmypid();
        $this->participants = new WeakMap();
    }

    /** @param list<Participant> $participants */
    public static function run(string $name, string $directory, array $participants): void
    {
        self::$current = $own = new self($name, new Journal("$directory/history/$name.jsonl"));
        Dlock\setWaiter($own->wait(...));
        pcntl_signal(SIGTERM, function () use ($own, $participants) {
            foreach ($participants as $participant) {
                $participant->goesOn = false;
                $participant->isInterrupted = $participant->isWaiting();
            }
            $own->hurry();
        });
        pcntl_signal(SIGUSR1, function () use ($own, $participants) {
            $waiting = array_values(array_filter($participants, fn (Participant $participant) => $participant->isWaiting()));
            $waiting && $waiting[array_rand($waiting)]->isInterrupted = true;
            $own->hurry();
        });
        foreach ($participants as $participant) {
            $fiber = new Fiber(fn () => $participant->run());
            $own->participants[$fiber] = $participant;
            $own->resume($fiber);
        }
        while ($own->waiting) {
            $own->turn();
        }
    }

    /** True: other strands have run meanwhile. */
    public static function pause(float $seconds): bool
    {
        $isOne = self::$current && self::$current->isHere();
        $isOne && self::$current->suspend(null, $seconds);
        return $isOne;
    }

    /** False outside of strands, and in a forked child, which has no other strand. */
    private function isHere(): bool
    {
        return Fiber::getCurrent() && getmypid() === $this->process;
    }

    private function wait($stream, float $seconds): ?bool
    {
        if (!$this->isHere()) {
            return false;
        }
        $this->suspend($stream, $seconds);
        $participant = $this->participants[Fiber::getCurrent()];
        [$isInterrupted, $participant->isInterrupted] = [$participant->isInterrupted && $participant->isWaiting(), false];
        return $isInterrupted ? throw new Interrupted() : null;
    }

    private function suspend($stream, float $seconds): void
    {
        $this->waiting[] = [$stream, nanoseconds() + (int) ($seconds * 1e9), Fiber::getCurrent()];
        Fiber::suspend();
    }

    /** Ends the waits of all strands now. */
    private function hurry(): void
    {
        foreach ($this->waiting as &$one) {
            $one[1] = 0;
        }
    }

    private function turn(): void
    {
        $read = array_filter(array_column($this->waiting, 0));
        $left = max(0, intdiv(min(array_column($this->waiting, 1)) - nanoseconds(), 1000));
        $write = $except = null;
        if ($read) {
            @stream_select($read, $write, $except, 0, $left) !== false || $read = []; // interrupted by a signal
        } else {
            usleep($left);
        }
        $now = nanoseconds();
        $due = array_filter($this->waiting, fn (array $one) => in_array($one[0], $read, true) || $one[1] <= $now);
        $this->waiting = array_values(array_diff_key($this->waiting, $due));
        foreach ($due as [, , $fiber]) {
            $this->resume($fiber);
        }
    }

    private function resume(Fiber $fiber): void
    {
        $from = nanoseconds();
        $fiber->isStarted() ? $fiber->resume() : $fiber->start();
        $to = nanoseconds();
        $to - $from < self::HELD_UP || $this->journal->write('fault', ['kind' => 'client stop by another strand', 'name' => $this->name, 't0' => $from, 't1' => $to]);
    }
}
