<?php
declare(strict_types=1);

namespace Dlock\Console;

/** For a terminal: shows as \xNN what can steer it or change the reading order, and bytes that are not UTF-8. */
function printable(string $text): string
{
    $escape = fn (array $found) => preg_replace_callback('/./s', fn (array $byte) => sprintf('\x%02x', ord($byte[0])), $found[0]);
    return preg_match('//u', $text) ? preg_replace_callback('/[\p{Cc}\p{Cf}\x{2028}\x{2029}]/u', $escape, $text)
        : preg_replace_callback('/[^ -~]/', $escape, $text);
}

/** "0.4 s", "12 s", "3 min 5 s", "2 h 10 min" */
function span(?float $seconds): string
{
    return match (true) {
        $seconds === null => '-',
        $seconds < 10 => sprintf('%.1f s', max(0, $seconds)),
        $seconds < 120 => sprintf('%d s', $seconds),
        $seconds < 7200 => sprintf('%d min %d s', intdiv((int) $seconds, 60), $seconds % 60),
        default => sprintf('%d h %d min', intdiv((int) $seconds, 3600), intdiv((int) $seconds % 3600, 60)),
    };
}

function shortened(string $text, int $width): string
{
    $characters = preg_split('//u', $text, -1, PREG_SPLIT_NO_EMPTY);
    return count($characters) > $width ? implode('', array_slice($characters, 0, $width - 1)) . '…' : $text;
}

function width(string $text): int
{
    return preg_match_all('/./us', $text);
}

/** @param list<list<string>> $rows, the first of them the head  @return list<string> lines */
function table(array $rows): array
{
    $widths = [];
    foreach ($rows as $row) {
        foreach ($row as $i => $cell) {
            $widths[$i] = max($widths[$i] ?? 0, width($cell));
        }
    }
    $line = fn (array $row) => rtrim(implode('  ', array_map(fn (string $cell, int $i) => $cell . str_repeat(' ', $widths[$i] - width($cell)), $row, array_keys($row))));
    return array_map($line, $rows);
}

/** Describes a party: "host pid 4711 GET /cart". */
function who(\Dlock\Party $party): string
{
    $parts = array_filter([$party->host, $party->pid ? "pid $party->pid" : '', $party->label ?? '']);
    return printable($parts ? implode(' ', $parts) : 'unknown');
}

function json(mixed $value): string
{
    return json_encode($value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR);
}
