--TEST--
Documentation: src/ has the layers that it describes: arrows point down, no cycles, no PHP below src/php, short functions, lines of at most 120 columns, a true README in each folder, and few files in each
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
require __DIR__ . '/../inc/layers.inc';

$top = dirname(__DIR__, 2);
foreach ([...faults_of_layers($top), ...faults_of_readmes($top)] as $fault) {
    echo "$fault\n";
}

// ---- files and functions are found ----
$files = c_files($top);
holds(count($files) >= 60 && in_array('dlock.c', $files, true), 'the C files were found', count($files));
$code = implode("\n", array_map(fn (string $file) => file_get_contents("$top/$file"), $files));
$functions = array_merge(...array_map(fn (string $file) => functions_of(file_get_contents("$top/$file")), $files));
within(0.99 * preg_match_all('/^\w[^\n;]*\)\n\{$/m', $code), count($functions), 1.2 * preg_match_all('/^\}$/m', $code), 'functions');

// ---- each mistake is found ----

/** @return list<string> what is wrong with this README of src/lock, beside these files */
function with_readme(?string $readme, array $files = ['claim.h']): array
{
    $root = temporary_directory();
    mkdir("$root/src/lock", 0700, true);
    array_map(fn (string $file) => file_put_contents("$root/src/lock/$file", ''), $files);
    $readme === null || file_put_contents("$root/src/lock/README.md", $readme);
    return faults_of_readmes($root);
}

same([], with_readme("# Lock\n\n**May include:** `src/net`, and what that may include.\n\n`claim.h`: claims\n"), 'a README');
same(['src/lock has no README.md'], with_readme(null), 'no README');
same(['src/lock/README.md does not name claim.h'], with_readme("**May include:** `src/net`.\n"), 'a file that it leaves out');
same(['src/lock/README.md says that it may include ; LAYERS: src/net'], with_readme("`claim.h`\n"), 'nothing about includes');
same(['src/lock/README.md says that it may include src/base; LAYERS: src/net'], with_readme("**May include:** `src/base`\n`claim.h`\n"), 'other includes');
same(['src/lock/README.md: `a_name()` in `claim.h`: not so'], with_readme("**May include:** `src/net`\n`claim.h`: `a_name()` in `claim.h`\n"), 'a name that is gone');
same(['src/lock/README.md has 41 lines; 40 at most'], with_readme("**May include:** `src/net`\n`claim.h`\n" . str_repeat("\n", 39)), 'a long one');
$many = array_map(fn (int $i) => "script_$i.lua", range(1, 20));
same(['src/lock has 21 files; 20 at most'], with_readme("**May include:** `src/net`\n`" . implode('` `', $many) . "`\n", $many), 'many files');
same(['src/lock/README.md does not name script_20.lua'],
    with_readme("**May include:** `src/net`\n`" . implode('` `', array_slice($many, 1, 18)) . "`\n", array_slice($many, 1)), 'a script that it leaves out');

/** @param array<string, string> $files their text */
function planted(array $files): array
{
    $root = temporary_directory();
    $tree = $files + [
        'dlock.c' => "#include \"php_dlock.h\"\n#include \"src/php/classes.h\"\n#include \"stubs/dlock_arginfo.h\"\n",
        'php_dlock.h' => "#include \"php.h\"\n",
        'stubs/dlock_arginfo.h' => str_repeat("\n", 700),
        'src/base/clock.h' => "#include <time.h>\n",
        'src/base/clock.c' => "#include \"clock.h\"\n#include <process.h>\nint now(void)\n{\n\treturn 1;\n}\n",
        'src/lock/claim.h' => "#include \"../base/clock.h\"\n",
        'src/redis/wire/conn.h' => "#include \"../../net/dial.h\"\n#include <hiredis/hiredis.h>\n",
        'src/net/dial.h' => "#include \"../base/clock.h\"\n",
        'src/redis/lock/service.c' => "#include \"../wire/conn.h\"\n#include \"../../base/clock.h\"\n",
        'src/memory/backend.c' => "#include \"../lock/claim.h\"\n",
        'src/php/classes.h' => "#include \"php.h\"\n#include <Zend/zend_API.h>\n#include \"../redis/wire/conn.h\"\n",
    ];
    foreach ($tree as $file => $text) {
        is_dir(dirname("$root/$file")) || mkdir(dirname("$root/$file"), 0700, true);
        file_put_contents("$root/$file", $text);
    }
    return faults_of_layers($root);
}

function body(int $lines): string
{
    return "{\n" . str_repeat("\twork();\n", $lines) . "}\n";
}

const NO_PHP = 'below src/php there are no headers of PHP';

same([], planted([]), 'nothing');

same(['src/base/wait.c:2 includes src/lock/claim.h: src/base must not include src/lock'],
    planted(['src/base/wait.c' => "\n#include \"../lock/claim.h\"\n"]), 'base to lock');
same(['src/lock/renewal.c:1 includes src/redis/wire/conn.h: src/lock must not include src/redis/wire'],
    planted(['src/lock/renewal.c' => "# include \"../redis/wire/conn.h\"\n"]), 'lock to a back end');
same(['src/lock/renewal.c:1 includes src/redis/wire/conn.h: src/lock must not include src/redis/wire'],
    planted(['src/lock/renewal.c' => "#include \"src/redis/wire/conn.h\"\n"]), 'from the top');
same(['src/redis/route/route.c:1 includes src/redis/lock/service.h: src/redis/route must not include src/redis/lock'],
    planted(['src/redis/lock/service.h' => '', 'src/redis/route/route.c' => "#include \"../lock/service.h\"\n"]), 'up, within a back end');
same(['src/redis/wire/pool.c:1 includes src/php/classes.h: src/redis/wire must not include src/php'],
    planted(['src/redis/wire/pool.c' => "#include \"../../php/classes.h\"\n"]), 'a back end to PHP');
same(['src/redis/wire/pool.c:1 includes stubs/dlock_arginfo.h: src/redis/wire must not include stubs'],
    planted(['src/redis/wire/pool.c' => "#include \"../../../stubs/dlock_arginfo.h\"\n"]), 'a back end to the stub');
same(['src/php/classes.c:1 includes php_dlock.h: src/php must not include .'],
    planted(['src/php/classes.c' => "#include \"../../php_dlock.h\"\n"]), 'PHP to the module');
same(['src/memory/wait.c:1 includes src/redis/wire/conn.h: src/memory must not include src/redis/wire'],
    planted(['src/memory/wait.c' => "#include \"../redis/wire/conn.h\"\n"]), 'a back end to another');
same(['src/common.h: tests/inc/layers.inc does not know its folder'], planted(['src/common.h' => '']), 'no layer');

same(['a cycle: src/redis/wire/a.c:1 includes src/redis/wire/b.h, src/redis/wire/b.c:2 includes src/redis/wire/a.h'],
    planted(['src/redis/wire/a.h' => '', 'src/redis/wire/a.c' => "#include \"b.h\"\n", 'src/redis/wire/b.h' => '', 'src/redis/wire/b.c' => "#include \"b.h\"\n#include \"a.h\"\n"]),
    'two files');
same(['a cycle: src/base/a.h:1 includes src/base/b.h, src/base/b.h:1 includes src/base/c.h, src/base/c.c:1 includes src/base/a.h'],
    planted(['src/base/a.h' => "#include \"b.h\"\n", 'src/base/b.h' => "#include \"c.h\"\n", 'src/base/c.h' => '', 'src/base/c.c' => "#include \"a.h\"\n",
        'src/base/into.c' => "#include \"a.h\"\n"]), 'three files, and one that is no part of it');

same(['src/lock/a.c:1 includes php.h: ' . NO_PHP, 'src/lock/a.c:2 includes zend_exceptions.h: ' . NO_PHP, 'src/lock/a.c:3 includes ext/standard/info.h: ' . NO_PHP,
    'src/lock/a.c:4 includes SAPI.h: ' . NO_PHP],
    planted(['src/lock/a.c' => "#include \"php.h\"\n#include \"zend_exceptions.h\"\n#include <ext/standard/info.h>\n#include <SAPI.h>\n"]), 'headers of PHP');
same([], planted(['src/lock/a.c' => "/* #include \"php.h\" */\n// #include \"php.h\"\nconst char *text = \"\\\n#include <php.h>\";\n"]), 'not included');

same(["src/php/long.c:3: PHP_METHOD(RedLock,\n\tlock) has 61 lines; 60 at most"],
    planted(['src/php/long.c' => "int x = 1;\n\nPHP_METHOD(RedLock,\n\tlock)\n" . body(57)]), 'a long method');
same(['src/lock/long.c:9: static_one() has 61 lines; 60 at most'],
    planted(['src/lock/long.c' => "struct a {\n\tint b;\n} c = { 1 };\n#define D(e) do { \\\n\t} while (0)\nint short_one(void)\n{\n}\nstatic int *\n\tstatic_one(const char *text, int (*call)(int))\n"
        . "{\n#if A\n\tif (x) {\n#else\n\tif (y) {\n#endif\n\t}\n" . str_repeat("\twork('}');\n", 50) . "\t/* } */\n}\nint next(void)\n" . body(57)]), 'a long function');

same(['src/lock/wide.c:2: the line has 121 columns; 120 at most', 'tests/c/wide.lua:1: the line has 124 columns; 120 at most'], planted([
    'src/lock/wide.c' => str_repeat('a', 120) . "\n\t" . str_repeat('b', 116) . "\302\265\n", 'tests/c/wide.lua' => "ab\t" . str_repeat('c', 120)]), 'wide lines');

function a_step(string $before, string $within = ''): array
{
    return planted(['src/base/wait.c' => "int dlock_wait_poll(void)\n{\n}\nstatic void rest(void)\n{\n\tdlock_wait_poll();\n}\nvoid pause_it(void)\n{\n\trest();\n}\n",
        'src/net/a.c' => "static int look(void)\n{\n\treturn dlock_now();\n}\nint a_step(a *own)\n{\n\tint x = 1;\n\t$before\n\tDLOCK_BEGIN(&own->task);\n$within"
            . "\tDLOCK_AWAIT(&own->task, x);\n\tDLOCK_END(&own->task);\n\treturn x;\n}\n"]);
}

same([], a_step(''), 'a step');
same(['src/net/a.c:5: a_step() is a step and waits: a_step, pause_it, rest, dlock_wait_poll'], a_step('pause_it();'), 'a step that waits');
same(['src/net/a.c:5: a_step() is a step and reads the clock: a_step, look, dlock_now'], a_step('look();'), 'a step that reads the clock');
same(['src/net/a.c:5: a_step() is a step with a switch between DLOCK_BEGIN and DLOCK_END'], a_step('', "\tswitch (x) {\n\t}\n"), 'a switch in a step');
same(['src/net/a.c:5: a_step() is a step with a local that an await forgets: const char *name ='], a_step('', "\tconst char *name = 0;\n"), 'a local in a step');

same(['src/lock/open.c: braces that do not match'], planted(['src/lock/open.c' => "int f(void)\n{\n"]), 'what cannot be measured');
echo "done\n";
?>
--EXPECT--
done
