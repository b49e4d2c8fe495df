--TEST--
USDT: the extension has its probes if sys/sdt.h exists, and needs no library for them
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/api.inc';

preg_match('~^\S+ \S+ \S+ \S+ \S+ +(/.*/dlock\.so)$~m', (string) file_get_contents('/proc/self/maps'), $found);
$module = escapeshellarg($found[1]);
$has_header = trim((string) shell_exec("echo '#include <sys/sdt.h>' | cc -E - > /dev/null 2>&1 && echo yes")) === 'yes';
preg_match_all('/Provider: dlock\s+Name: (\w+)/', (string) shell_exec("readelf -n $module"), $probes);
$names = array_unique($probes[1]);
sort($names);
same($has_header ? ['acquire__done', 'acquire__start', 'loss', 'release'] : [], $names, 'probes');
$needed = (string) shell_exec("readelf -d $module");
holds(str_contains($needed, 'NEEDED') && !preg_match('/NEEDED.*(systemtap|sdt)/', $needed), 'libraries', $needed);
?>
Done.
--EXPECT--
Done.
