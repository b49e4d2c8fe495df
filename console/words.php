<?php
/* The words of the command line, for both commands, dlock and dlock-doctor. */
declare(strict_types=1);

namespace Dlock\Console;

/** The command line is wrong. */
final class Misuse extends \Exception
{
}

/** Replaces "@FILE" by the lines of the file, up to "--". @param list<string> $words  @return list<string> */
function with_files(#[\SensitiveParameter] array $words): array
{
    $all = [];
    foreach ($words as $i => $word) {
        if ($word === '--') {
            return [...$all, ...array_slice($words, $i)];
        }
        if ($word === '' || $word[0] !== '@') {
            $all[] = $word;
            continue;
        }
        $lines = @file($word === '@-' ? 'php://stdin' : substr($word, 1), FILE_IGNORE_NEW_LINES);
        foreach (array_map('trim', $lines === false ? throw new Misuse("$word cannot be read") : $lines) as $line) {
            if ($line !== '' && $line[0] !== '#') {
                $all[] = $line;
            }
        }
    }
    return $all;
}

/** What the lock classes accept: a DSN, or the array form as JSON. */
function server(#[\SensitiveParameter] string $word): string|array
{
    if ($word === '' || ($word[0] !== '{' && !($word[0] === '[' && str_ends_with($word, ']')))) {
        return $word;
    }
    return json_decode($word, true) ?? throw new Misuse("a server that begins with $word[0] must be an array as JSON");
}
