<?php
/* Of both commands, dlock and dlock-doctor: the words that they are given. */
declare(strict_types=1);

namespace Dlock\Console;

/** The command was not given what it needs. */
final class Misuse extends \Exception
{
}

/** Up to "--". @param list<string> $words  @return list<string> with the lines of files */
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

/** What the lock classes take: a DSN, or the array form, which is given as JSON. */
function server(#[\SensitiveParameter] string $word): string|array
{
    if ($word === '' || ($word[0] !== '{' && !($word[0] === '[' && str_ends_with($word, ']')))) {
        return $word;
    }
    return json_decode($word, true) ?? throw new Misuse("a server that begins with $word[0] must be an array as JSON");
}
