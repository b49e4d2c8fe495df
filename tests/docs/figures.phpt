--TEST--
Documentation: the figures in docs/reliability.md are those of the reports beside it, which scripts/faults.sh and others have printed
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/markdown.inc';

/** Numbers of a text, without those in code and in the head of a table. @return list<string> */
function numbers(string $text): array
{
    $text = preg_replace(['/`[^`]*`/', '/^\|.*\n\|[-|: ]+\n/m'], '', $text);
    preg_match_all('/(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?/', $text, $found);
    return array_map(fn (string $number) => str_replace(',', '', $number), $found[0]);
}

/** Numbers of a passage that its report lacks. @return list<string> */
function unknown(string $passage, string $report): array
{
    return array_values(array_diff(numbers($passage), numbers($report)));
}

// A passage names the reports that its numbers come from, and ends with an empty line.
preg_match_all('/^<!-- figures: ([^>]+) -->\n(.+?)(?=\n\n)/ms', document('docs/reliability.md'), $passages, PREG_SET_ORDER);
$files = [];
foreach ($passages as [, $names, $passage]) {
    $of_passage = explode(' ', $names);
    array_push($files, ...$of_passage);
    $report = implode("\n", array_map(fn (string $file) => document("docs/$file"), $of_passage));
    same([], unknown($passage, $report), "what $names has not");
    holds(count(numbers($passage)) >= 2, "figures of $names", $passage);
    holds(count(unknown(preg_replace('/\d(?=[^\d`]*\z)/', '97531', $passage), $report)) === 1, "$names: another number is noticed");
}
$reports = array_map(fn (string $path) => 'reliability/' . basename($path), glob(dirname(__DIR__, 2) . '/docs/reliability/*.txt'));
same([], array_values(array_diff($reports, $files)), 'reports that nothing comes from');
holds(count($passages) >= 4, 'passages with figures', $files);
echo "done\n";
?>
--EXPECT--
done
