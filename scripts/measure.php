#!/usr/bin/env php
<?php
/* Measures the sources: how much there is, how wide, in how many places the same thing is done. "At 120 columns", a
 * wider line counts as its lines when it is wrapped there, with tabs of 4 columns.
 */
declare(strict_types=1);

chdir(dirname(__DIR__));
require 'tests/inc/layers.inc';

const WIDTH = 120;

/** @return list<string> tracked files */
function tracked(string ...$paths): array
{
    exec('git ls-files -- ' . implode(' ', array_map(escapeshellarg(...), $paths)), $files, $status);
    $status === 0 || exit("measure: needs a git checkout\n");
    return $files;
}

function columns_of(string $line): int
{
    $columns = 0;
    foreach (characters($line) as $character) {
        $columns += $character === "\t" ? 4 - $columns % 4 : 1;
    }
    return $columns;
}

/** @return list<string> */
function characters(string $line): array
{
    return preg_split('//u', $line, -1, PREG_SPLIT_NO_EMPTY) ?: str_split($line);
}

/** @return array{lines: int, wrapped: int, wide: int} */
function extent(array $files): array
{
    $extent = ['lines' => 0, 'wrapped' => 0, 'wide' => 0];
    foreach ($files as $file) {
        foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
            $columns = columns_of($line);
            $extent['lines']++;
            $extent['wrapped'] += max(1, (int) ceil($columns / WIDTH));
            $extent['wide'] += $columns > WIDTH ? 1 : 0;
        }
    }
    return $extent;
}

function show(string $what, string $format, mixed ...$values): void
{
    echo str_pad($what, 62), vsprintf($format, $values), "\n";
}

/** How often the pattern occurs in the files' code, without comments and strings; and in how many files. */
function occurrences(string $pattern, array $files): array
{
    $counts = array_filter(array_map(fn (string $file) => preg_match_all($pattern, bare_code(file_get_contents($file))), $files));
    return [array_sum($counts), count($counts)];
}

$c = array_values(array_diff(array_filter(tracked('src', 'dlock.c', 'php_dlock.h'), fn ($file) => preg_match('/\.[ch]$/', $file)), GENERATED));
$lua = tracked('src/**/*.lua');
$below = array_values(array_filter($c, fn (string $file) => preg_match('~^src/(?!php/)~', $file)));
$headers = preg_grep('/\.h$/', $c);

$both = extent([...$c, ...$lua]);
show('hand-written lines: C and Lua', '%d (C %d)', $both['lines'], extent($c)['lines']);
show('  at 120 columns', '%d (C %d)', $both['wrapped'], extent($c)['wrapped']);
show('  lines wider than that', '%d', $both['wide']);
show('generated headers of scripts, lines', '%d', extent(preg_grep('/_lua\.h$/', GENERATED))['lines']);
show('C files and headers', '%d', count($c));
show('  headers; those of at most 25 lines', '%d; %d', count($headers),
    count(array_filter($headers, fn (string $file) => count(file($file)) <= 25)));
$folders = array_count_values(array_map(dirname(...), $c));
arsort($folders);
show('  folder with the most files', '%s: %d', array_key_first($folders), reset($folders));
$all = tracked('.');
show('tracked files; lines', '%d; %d', count($all),
    array_sum(array_map(fn (string $file) => substr_count((string) @file_get_contents($file), "\n"), $all)));
show('folders at the root', '%d', count(array_unique(array_map(fn ($file) => strstr($file, '/', true), preg_grep('~/~', $all)))));
show('calls of dlock_wait_poll() outside of src/base/wait.c; files', '%d; %d',
    ...occurrences('/\bdlock_wait_poll\s*\(/', array_values(preg_grep('~(?<!/wait)\.c$~', $c))));
show('reads of the clock below src/php; files', '%d; %d', ...occurrences('/\bdlock_now\s*\(\s*\)/', $below));
$includes = array_merge(...array_map(fn (string $file) => includes_of('.', $file, c_files('.')), $c));
show('includes of own files; cycles', '%d; %d', count(array_filter(array_column($includes, 'to'))), count(cycles($includes)));
