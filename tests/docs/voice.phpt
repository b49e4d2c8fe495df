--TEST--
Documentation avoids certain words, has short lines and table cells, and is not too long
--EXTENSIONS--
tokenizer
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
is_dir(dirname(__DIR__, 2) . '/src') || die('skip needs the sources');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/markdown.inc';

/** CONTRIBUTING.md, "Style", has the words to write instead. */
const AVOIDED = ['to be had', 'but on', 'but for', 'but that', 'somebody', 'anybody', 'whoever', 'is at it', 'rented', 'see to it', 'gives away', 'all the same',
    'lest', 'seldom', 'for ever', 'of late', 'whatever becomes of', 'also where', 'such as are', 'piece', 'pieces', 'article', 'articles', 'full copy',
    'era', 'eras', 'must be no', 'says so', 'fail-over', 'fail-overs', 'hand-over', 'hand-overs'];
/** Of these, the words to avoid in comments of the source. */
const AVOIDED_IN_COMMENTS = ['to be had', 'but for', 'but that', 'somebody', 'someone', 'anybody', 'nobody', 'whoever', 'see to it', 'all the same', 'so many',
    'lest', 'seldom', 'for ever', 'of late'];

/** @return list<string> avoided words of a text, outside its code and the targets of its links */
function avoided(string $text, array $avoided = AVOIDED): array
{
    $text = preg_replace(['/^ *```.*?^ *```$/ms', '/`[^`]*`/', '/\]\([^)]*\)/', '/"dlock:[^"]*"/', '~[\w/-]+\.(?:md|txt|sh)\b~'], ' ', $text);
    $words = implode('|', array_map(preg_quote(...), $avoided));
    preg_match_all("/(?<![\\w-])(?:$words)(?![\\w-])/i", preg_replace('/\s+(?:(?:\*|--) ?)?/', ' ', $text), $found);
    return $found[0];
}

/** @return list<string> strings of C that are sentences */
function messages(string $source): array
{
    $source = preg_replace(['~/\*.*?\*/~s', '/"\s*\n\s*"/'], ['', ''], $source);
    preg_match_all('/"((?:[^"\\\\\n]|\\\\.)*)"/', $source, $found);
    return array_values(array_filter($found[1], fn (string $text) => str_contains($text, ' ')));
}

/** @return list<string> strings of PHP that are sentences */
function php_messages(string $source): array
{
    $strings = array_filter(token_get_all($source), fn ($token) => in_array($token[0], [T_CONSTANT_ENCAPSED_STRING, T_ENCAPSED_AND_WHITESPACE], true));
    return array_values(array_filter(array_column($strings, 1), fn (string $text) => str_contains(trim($text), ' ')));
}

$top = dirname(__DIR__, 2);
$texts = [];
foreach ([...php_documents(), 'README.md', ...array_map(fn (string $path) => substr($path, strlen($top) + 1), glob("$top/docs/*/*.md"))] as $file) {
    $texts[$file] = document($file);
}
preg_match_all('~/\*\*.*?\*/~s', document('stubs/dlock.stub.php'), $comments);
$texts['stubs/dlock.stub.php'] = implode("\n", $comments[0]);
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$top/console")) as $path => $info) {
    if (str_ends_with($path, '.php')) {
        $texts[substr($path, strlen($top) + 1)] = implode("\n", php_messages(file_get_contents($path)));
    }
}
foreach (['src', 'tests/c', 'tests/sim'] as $folder) {
    foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$top/$folder")) as $path => $info) {
        $name = substr($path, strlen($top) + 1);
        if ($folder === 'src' && preg_match('/(?<!_lua)\.[ch]$/', $path)) {
            $texts[$name] = implode("\n", messages(file_get_contents($path)));
        }
        if (preg_match('/(?<!_lua)\.(?:[ch]|lua)$/', $path)) {
            preg_match_all('~/\*.*?\*/|--[^\n]*\n?(?:\s*--[^\n]*\n)*~s', file_get_contents($path), $comments);
            same([], avoided(implode("\n", $comments[0]), AVOIDED_IN_COMMENTS), "comments of $name");
        }
    }
}
holds(count($texts) > 100, 'texts were found', count($texts));
foreach ($texts as $file => $text) {
    same([], avoided($text), "words of $file");
}
same(['Somebody', 'to be had'], avoided("Somebody took `somebody` what was to be\n     * had"), 'words are found');

$lines = 0;
foreach (documents() as $file) {
    $lines += preg_match('~^docs/(?!reference)~', $file) ? substr_count(document($file), "\n") : 0;
    foreach (explode("\n", document($file)) as $number => $line) {
        foreach (str_starts_with($line, '|') ? preg_split('/(?<!\\\\)\|/', $line) : [] as $cell) {
            $length = preg_match_all('/./u', preg_replace('/\]\([^)]*\)/', ']', trim($cell))); // without link targets
            holds($length <= 200, "$file, line " . $number + 1 . ': a cell of more than 200 characters', $length);
        }
    }
}
within(1000, $lines, 3000, 'lines of docs/ without the reference');

// ---- each class that users construct has an example ----
foreach (['DistributedLock', 'RedLock', 'ZkLock', 'Dlock\Semaphore', 'Dlock\ReadWriteLock', 'Dlock\Stock', 'Dlock\Reservation', 'Dlock\Lease'] as $class) {
    preg_match('/^## ' . preg_quote($class) . "\n(.*?)^##/ms", document('docs/reference.md'), $section) || print "no section $class\n";
    str_contains($section[1] ?? '', "```php\n") || print "$class has no example\n";
}
echo "done\n";
?>
--EXPECT--
done
