--TEST--
Documentation: README.zh-CN.md has the sections, code, tables, links, names and numbers of README.md
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/markdown.inc';

/** The code without its comments. */
function code_alone(string $language, string $code): string
{
    static $file = null;
    $file ??= temporary_directory() . '/block.php';
    if ($language === 'php') {
        file_put_contents($file, '<?php ' . preg_replace('/^<\?php\s/', '', $code));
        return php_strip_whitespace($file);
    }
    return preg_replace(match ($language) {
        'sh' => '/(?:\'[^\']*\'|"(?:\\\\.|[^"\\\\])*"|\\\\.)(*SKIP)(*FAIL)|(?<!\S)#[^\n]*/s', // in quotes # is no comment
        default => '/(*FAIL)/',
    }, '', $code);
}

/** @return list<string> for each row the number of its cells and the code in the first one */
function table_rows(string $text): array
{
    $rows = [];
    preg_match_all('/(?:^\|.*\n)+/m', $text, $tables);
    foreach ($tables[0] as $number => $table) {
        foreach (explode("\n", rtrim($table)) as $line) {
            $cells = preg_split('/(?<!\\\\)\|/', trim($line, '|'));
            preg_match_all('/`[^`]+`/', $cells[0], $code);
            $rows[] = 'table ' . $number + 1 . ', ' . count($cells) . ' cells ' . implode(' ', $code[0]);
        }
    }
    return $rows;
}

/** @return list<string> all matches, sorted */
function all_of(string $pattern, string $text, bool $once): array
{
    preg_match_all($pattern, $text, $found);
    $all = $once ? array_unique($found[1]) : $found[1];
    sort($all);
    return $all;
}

/** @return list<array<string, list<string>>> for each section its title, and what is the same in each language */
function sections(string $text): array
{
    $blocks = [];
    $text = preg_replace_callback('/^```([^\n]*)\n(.*?)^```$/ms', function (array $block) use (&$blocks): string {
        $lines = substr_count($block[2], "\n");
        $blocks[] = "$lines lines of $block[1]: " . code_alone(strtok("$block[1] ", ' ') ?: '', $block[2]);
        return "\f\n"; // stands for the block
    }, $text);
    $sections = [];
    foreach (preg_split('/^(?=#+ )/m', $text, -1, PREG_SPLIT_NO_EMPTY) as $section) {
        $prose = preg_replace('/`[^`]+`|\]\([^)]*\)/', '', $section);
        $sections[] = [
            'title' => [trim(strtok($section, "\n"), '# ')],
            'headings' => [preg_replace('/[^#].*/s', '', $section)],
            'code' => array_splice($blocks, 0, substr_count($section, "\f")),
            'tables' => table_rows($section),
            'links' => all_of('/\]\(([^)\s]+)\)/', $section, false),
            'images' => all_of('/!\[[^\]]*\]\(([^)\s]+)\)/', $section, false),
            'names' => all_of('/`([^`]+)`/', preg_replace('/\s+/', ' ', $section), true),
            'numbers' => all_of('/(\d+(?:\.\d+)?)/', $prose, true),
        ];
    }
    return $sections;
}

/** @return list<string> */
function differences(string $english, string $chinese): array
{
    $links = ["\n\n[简体中文](README.zh-CN.md)\n\n", "\n\n[English](README.md)\n\n"]; // below the title
    foreach ([$english, $chinese] as $i => $text) {
        if (strpos($text, $links[$i]) !== strpos($text, "\n")) {
            return ['language: there must be ' . trim($links[$i]) . ' below the title'];
        }
    }
    $english = sections(str_replace($links[0], "\n\n", $english));
    $chinese = sections(str_replace($links[1], "\n\n", $chinese));
    $levels = fn (array $sections) => implode(' ', array_merge(...array_column($sections, 'headings')));
    if ($levels($english) !== $levels($chinese)) {
        return ['headings: ' . $levels($english) . ' in README.md, ' . $levels($chinese) . ' in README.zh-CN.md'];
    }
    $differences = [];
    foreach ($english as $number => $section) {
        foreach ($section as $kind => $ours) {
            $theirs = $chinese[$number][$kind];
            if ($kind !== 'title' && $ours !== $theirs) {
                $differences[] = "$kind of \"{$section['title'][0]}\": in README.md alone " . shown(array_values(array_diff($ours, $theirs)))
                    . ', in README.zh-CN.md alone ' . shown(array_values(array_diff($theirs, $ours)))
                    . ', ' . count($ours) . ' and ' . count($theirs) . ' in all';
            }
        }
    }
    return $differences;
}

$english = document('README.md');
$chinese = document('README.zh-CN.md');
foreach (differences($english, $chinese) as $difference) {
    echo "$difference\n";
}

// ---- each kind of difference is found ----
$original = str_replace('[English](README.md)', '[简体中文](README.zh-CN.md)', $chinese);
same([], differences($original, $chinese), 'with itself');
foreach ([
    ['language', '/^\[English\].*\n/m', ''],
    ['language', '/\A(.*\n)\n(\[English\].*\n)/', "$1$2"],
    ['headings', '/^## /m', '### '],
    ['headings', '/^## .*\n/m', ''],
    ['headings', '/\z/', "\n# dlock\n"],
    ['code', '/^```php\n.*\n\K(?=\$)/m', '@'],
    ['code', '/^```php\n<\?php\n.*\n\n\K.*\n/m', ''],                  // a comment on a line of its own
    ['code', "/(?<=')stock:/", 'stock: '],
    ['code', '/^```sh\n\K/m', 'exit '],
    ['code', '/(?<=mods-available\/dlock\.ini)"(?= )/', ' # "'],
    ['code', '/(?<=^```)sh$/m', 'php'],
    ['code', '/php --ri dlock$/m', 'php -m'],
    ['code', '/^```sh\n.*?^```\n/ms', ''],
    ['tables', '/^\| `RedLock` .*\n/m', ''],
    ['tables', '/^\| `RedLock` \|\K.*?\|/m', ''],
    ['tables', '/^\| `RedLock/m', '| `RedLocks'],
    ['tables', '/^(\| `RedLock` .*\n)(\| .*\n)/m', '$2$1'],
    ['tables', '/^\|---\|---\|\n\K/m', "\n"],
    ['links', '~(?<=\()examples/seckill/README\.md~', 'README.md'],
    ['links', '~\z~', '[here](README.md)'],
    ['images', '/(?<=seckill)\.png|(?<=selling)\.png/', '.jpg'],
    ['images', '/!(?=\[)/', ''],
    ['names', '/(?<=`)assertHeld\(\)(?=`)/', 'isHeld()'],
    ['numbers', '/(?<=\| )\d\d\d(?= \|)/', '1'], // sections per second
] as [$kind, $pattern, $replacement]) {
    $altered = preg_replace($pattern, $replacement, $chinese, 1);
    holds($altered !== $chinese, "$pattern finds something");
    $found = preg_grep("/^$kind/", differences($original, $altered));
    holds($found !== [], "after $pattern there are other $kind");
}
$altered = preg_replace(['~(?<= // |^// ).*~m', '/^(?:scripts|install)\b.* # \K.*/m'], 'comment', $chinese, -1, $count);
holds($count >= 7, 'comments are found', $count);
same([], differences($original, $altered), 'with other comments');
echo "done\n";
?>
--EXPECT--
done
