--TEST--
phpinfo() in a page shows a server's name as text, not as HTML, and without its password
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_fpm();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require_once __DIR__ . '/../inc/fpm.inc';

$fpm = fpm_start([], 1);
$info = $fpm->script('info', '
    ini_set("dlock.server", $_GET["server"]) !== false || exit("refused");
    phpinfo(INFO_MODULES);
');
$page = $fpm->request($info, ['server' => 'unix://:the-secret@/run/<script>alert(1)</script>&"x"']);
holds(str_contains($page, '/run/&lt;script&gt;alert(1)&lt;/script&gt;&amp;'), 'the name is in the page', substr($page, 0, 200));
same(false, str_contains($page, '<script>alert'), 'a script');
holds(str_contains($page, ' (with password)'), 'the password is mentioned');
same(false, str_contains($page, 'the-secret'), 'the password');
$page = $fpm->request($info, ['server' => 'pgsql://127.0.0.1/<script>alert(2)</script>']);
holds(str_contains($page, 'pgsql://127.0.0.1:5432/&lt;script&gt;alert(2)&lt;/script&gt;'), "a database's name", substr($page, 0, 200));
same(false, str_contains($page, '<script>alert'), "a script in a database's name");
echo "done\n";
?>
--EXPECT--
done
