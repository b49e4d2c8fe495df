<?php
/* Critical sections under locks that are acquired in one of the ways of ways.php. bench/limit.c does the same in C; its
 * head explains the arguments.
 *
 *   contend.php WAY together|apart PROCESSES SECTIONS US
 */
declare(strict_types=1);

require_once __DIR__ . '/ways.php';

/** s, after which a process is ended. */
const TIME_LIMIT = 60;

/**
 * @return list<int> four times in ns for each section: starts to acquire, has acquired, starts to release, has released
 */
function run_sections(Closure $take, string $resource, int $count, int $us): array
{
    $log = [];
    for ($i = 0; $i < $count; $i++) {
        $began = hrtime(true);
        $give = $take($resource);
        $had = hrtime(true);
        if ($us > 0) {
            usleep($us);
        }
        $giving = hrtime(true);
        $given = $give();
        array_push($log, $began, $had, $giving, hrtime(true));
        $given || throw new RuntimeException('the lock was lost');
    }
    return $log;
}

/** Reports the step that all processes have reached; waits for a line, or for the end of the input. */
function report(string $step): void
{
    echo "$step\n";
    fgets(STDIN);
}

[, $way, $locks, $processes, $sections, $us] = $argv;
$processes = (int) $processes;
$count = intdiv((int) $sections, $processes);
$warm_up = min($count, max(1, intdiv(100, $processes)));

$children = [];
try {
    for ($i = 0; $i < $processes; $i++) {
        $children[] = fork_child(function (Closure $say, Closure $hear) use ($way, $locks, $processes, $i, $count, $us, $warm_up) {
            pcntl_alarm(TIME_LIMIT);
            $take = ways()[$way]();
            // At its first wait, a process opens what only waits use. Other processes would overtake it meanwhile, so
            // each process waits once here.
            $give = $i === 0 && $processes > 1 ? $take(unique('warm-up')) : null;
            $say('connected');
            $hear(TIME_LIMIT);
            if ($give !== null) {
                usleep(100_000); // by now all other processes wait, and this one waits next
                $give();
            }
            run_sections($take, unique('warm-up'), $warm_up, 0);
            $say('ready');
            $start = $hear(TIME_LIMIT);
            usleep(max(0, intdiv($start - hrtime(true), 1000)));
            $log = run_sections($take, unique($locks === 'apart' ? (string) $i : ''), $count, (int) $us);
            $say('done');
            $hear(TIME_LIMIT); // a process that ends costs time, which must not be measured
            return $log;
        });
    }
    foreach (['connected', 'ready', 'done'] as $step) {
        foreach ($children as $child) {
            ($word = $child->hear(TIME_LIMIT)) === $step || throw new RuntimeException("not $step, but $word");
        }
        $step === 'connected' || report($step);
        $start = hrtime(true) + 100_000_000;
        foreach ($children as $child) {
            $child->say($start);
        }
    }
    foreach ($children as $i => $child) {
        foreach (array_chunk($child->result(TIME_LIMIT), 4) as $times) {
            echo "$i ", implode(' ', $times), "\n";
        }
    }
} finally {
    foreach ($children as $child) {
        $child->kill();
    }
}
