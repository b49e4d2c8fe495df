--TEST--
Documentation refers only to files, sections and messages that exist, and explains each finding of the doctor
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/markdown.inc';

$top = dirname(__DIR__, 2);

/** The anchor that GitHub makes of a heading. */
function anchor(string $heading): string
{
    return preg_replace('/[^\w-]/u', '', str_replace(' ', '-', strtolower($heading)));
}

// ---- links ----
$links = 0;
foreach ([...documents(), 'README.zh-CN.md', 'tests/README.md'] as $file) {
    preg_match_all('/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/', preg_replace('/^```.*?^```$/ms', '', document($file)), $found, PREG_SET_ORDER);
    foreach ($found as $link) {
        if (str_contains($link[1], '://')) {
            continue;
        }
        $links++;
        $to = $link[1] === '' ? $file : ltrim(dirname($file) . "/$link[1]", './');
        if (!is_file("$top/$to")) {
            echo "$file: no file for $link[0]\n";
        } elseif (isset($link[2])) {
            preg_match_all('/^#+ (.*)$/m', document($to), $headings);
            in_array($link[2], array_map(anchor(...), $headings[1]), true) || print "$file: no section for $link[0]\n";
        }
    }
}
holds($links >= 20, 'links were found', $links);

// ---- files that the text names, in the folders that scripts/build.sh copies ----
$named = 0;
foreach ([...documents(), 'tests/README.md', 'tests/faults/README.md'] as $file) {
    preg_match_all('~`((?:bin|doctor|packages|scripts|src|stubs|tests)/[^`\s]*)~', document($file), $found);
    foreach (array_unique($found[1]) as $path) {
        $named++;
        glob("$top/$path") || print "$file: no file $path\n";
    }
}
holds($named >= 80, 'files were named', $named);

// ---- messages ----

/** Messages of the system, of Redis and of memcached. */
const OTHERS = ['Connection refused', 'WRONGPASS', 'SERVER_ERROR out of memory storing object'];

/** The source has the text as one literal, or as two, one of which is a literal by itself. */
function is_said(string $text, string $source): bool
{
    if (str_contains($source, $text)) {
        return true;
    }
    for ($at = strpos($text, ' '); $at !== false; $at = strpos($text, ' ', $at + 1)) {
        [$left, $right] = [substr($text, 0, $at), substr($text, $at + 1)];
        $has = fn (string $a, string $b) => str_contains($source, $a) && str_contains($source, $b);
        if (min(strlen($left), strlen($right)) >= 6 && ($has("\"$left\"", $right) || $has($left, "\"$right"))) {
            return true;
        }
    }
    return false;
}

$source = '';
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$top/src")) as $path => $info) {
    $source .= preg_match('/\.[ch]$/', $path) ? file_get_contents($path) : '';
}
$source = preg_replace('/"\s*\n\s*"/', '', $source); // a literal over several lines
$source = str_replace('\"', '"', $source);

[$table] = explode('| symptom |', document('docs/troubleshooting.md'));
preg_match_all('/^\| (.*?) \|/m', $table, $rows);
$pieces = 0;
foreach (array_slice($rows[1], 2) as $cell) {
    preg_match_all('/`([^`]+)`/', $cell, $messages);
    foreach ($messages[1] as $message) {
        foreach (preg_split('/…/u', $message) as $piece) {
            $piece = trim($piece, ' "(:,');
            if (strlen($piece) < 3 || $message === 'QuorumException') {
                continue;
            }
            $pieces++;
            is_said($piece, $source) || in_array($piece, OTHERS, true) || print "no message has \"$piece\"\n";
        }
    }
}
holds($pieces >= 40, 'messages were found', $pieces);

// ---- the doctor's findings: each file registers those that it makes, and docs/doctor.md explains all ----
$registered = [];
foreach ([...glob("$top/console/doctor/*.php"), ...glob("$top/console/doctor/*/*.php")] as $file) {
    $script = file_get_contents($file);
    preg_match_all('/^Subjects::add\(.*, \[(.*?)\]\);$/m', $script, $lists);
    preg_match_all("/'([a-z-]+)'/", implode(' ', $lists[1]), $ids);
    preg_match_all('/->(?:(?:problem|warning|note|unusable)\(|add\([^,]*,)\s*(?:\$\w+ [^\']*)?\'([a-z-]+)\'/', $script, $made);
    $registered = [...$registered, ...$ids[1]];
    // A back end's files make some of its findings beside backend.php.
    basename($file) === 'server.php' || same([], array_values(array_diff($made[1], $ids[1])), basename($file) . ': findings that are made and not registered');
    basename($file) === 'backend.php' || same([], array_values(array_diff($ids[1], $made[1], ['rights', 'trial'])), basename($file) . ': findings that are registered and not made');
}
preg_match_all('/^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| (?:problem|warning|note)/m', document('docs/doctor.md'), $rows);
preg_match_all('/`([a-z-]+)`/', implode(' ', $rows[1]), $told);
$told = array_values(array_unique($told[1]));
$registered = array_values(array_unique($registered));
sort($told);
sort($registered);
same($registered, $told, 'findings that docs/doctor.md tells of');
echo "done\n";
?>
--EXPECT--
done
