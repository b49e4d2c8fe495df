<?php
declare(strict_types=1);

namespace Dlock\Console;

/** The terminal of dlock watch: without line editing, its cursor hidden. */
final class Screen
{
    private string $settings = '';

    public function __construct(private readonly bool $is_terminal)
    {
        if ($is_terminal && stream_isatty(STDIN)) {
            $this->settings = trim((string) shell_exec('stty -g < /dev/tty 2> /dev/null'));
            shell_exec('stty -icanon -echo < /dev/tty 2> /dev/null');
        }
        if ($is_terminal) {
            echo "\e[?25l";
        }
    }

    public function __destruct()
    {
        if ($this->is_terminal) {
            echo "\e[?25h";
        }
        if ($this->settings !== '') {
            shell_exec('stty ' . escapeshellarg($this->settings) . ' < /dev/tty 2> /dev/null');
        }
    }

    /** @param list<string> $lines */
    public function show(array $lines): void
    {
        echo $this->is_terminal ? "\e[H" . implode("\e[K\n", $lines) . "\e[K\n\e[J" : implode("\n", $lines) . "\n";
    }

    /** Waits $seconds, or until a key is pressed. Returns the key; "": none. */
    public function key(float $seconds): string
    {
        $read = $this->settings !== '' ? [STDIN] : [];
        $write = $except = null;
        if (!$read) {
            usleep((int) ($seconds * 1e6));
            return '';
        }
        return @stream_select($read, $write, $except, (int) $seconds, (int) (fmod($seconds, 1) * 1e6)) ? (string) fread(STDIN, 1) : '';
    }
}

/** How locks can be sorted, by the key to press. */
const ORDERS = ['w' => 'waiting', 'h' => 'held for', 'n' => 'name'];

/** @param list<\Dlock\Inspection> $locks  @return list<\Dlock\Inspection> */
function sorted(array $locks, string $order): array
{
    $since = fn (\Dlock\Inspection $lock) => $lock->holders ? held_since($lock->holders[0]) ?? INF : INF;
    usort($locks, fn (\Dlock\Inspection $a, \Dlock\Inspection $b) => match ($order) {
        'waiting' => $b->waiting <=> $a->waiting ?: $since($a) <=> $since($b),
        'held for' => $since($a) <=> $since($b),
        'name' => $a->resource <=> $b->resource,
    });
    return $locks;
}

function watch_locks(Arguments $arguments): int
{
    $locks = $arguments->locks();
    $is_json = $arguments->has('json');
    $screen = new Screen(!$is_json && stream_isatty(STDOUT));
    $rounds = $arguments->whole('count', 0, 0, 1000000);
    for ($round = 1, $order = 'waiting'; ; $round++) {
        $seen = $arguments->names ? array_map(fn (string $name) => $locks->inspect($name), $arguments->names) : $locks->inspectAll(1000);
        if ($is_json) {
            echo implode("\n", array_map(json(...), $seen)), $seen ? "\n" : '';
        } else {
            $waiting = array_sum(array_map(fn (\Dlock\Inspection $lock) => $lock->waiting, $seen));
            $held = count(array_filter($seen, fn (\Dlock\Inspection $lock) => (bool) $lock->holders));
            $head = date('H:i:s') . "  $held held, $waiting waiting; by $order" . ($rounds ? '' : '; keys: w waiting, h held for, n name, q ends');
            $screen->show([$head, '', ...lines_of(array_slice(sorted($seen, $order), 0, 40))]);
        }
        if ($round === $rounds) {
            return 0;
        }
        $key = $screen->key(1);
        if ($key === 'q') {
            return 0;
        }
        $order = ORDERS[$key] ?? $order;
    }
}
