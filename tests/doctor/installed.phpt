--TEST--
dlock-doctor finds its folder wherever it was installed, and each file there, with the findings that it registers
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

$known = [redis_server(), '--ignore=persistence'];
finds([], $known, 'by hand and by the Debian package', script: copied_doctor('bin', 'share/php-dlock') . '/bin/dlock-doctor');
symlink(DOCTOR, $link = temporary_directory() . '/dlock-doctor');
finds([], $known, 'by a link', script: $link);

// pecl writes the place of the folder into the command.
$copy = copied_doctor('bin', 'data/dlock');
$script = file_get_contents("$copy/bin/dlock-doctor");
file_put_contents("$copy/bin/dlock-doctor", str_replace('@data_dir@', "$copy/data", $script, $count));
same(1, $count, 'what pecl replaces');
finds([], $known, 'by pecl', script: "$copy/bin/dlock-doctor");

// The folder is missing: the command uses nothing from the current directory.
mkdir("$copy/@data_dir@");
rename("$copy/data/dlock", "$copy/@data_dir@/dlock");
file_put_contents("$copy/bin/dlock-doctor", $script);
chdir($copy);
$run = doctor($known, script: "$copy/bin/dlock-doctor");
chdir('/'); // the current directory is removed
same([3, ''], [$run->status, $run->output], 'without its folder');
holds(str_contains($run->errors, "its folder is not there, neither @data_dir@/dlock/console nor $copy/bin/../console nor "), 'without its folder', $run->errors);

// A further file adds a subject.
$copy = copied_doctor();
file_put_contents("$copy/console/doctor/redis/moon.php", '<?php namespace Dlock\Doctor;
    Subjects::add(RedisServer::class, fn (RedisServer $server) => $server->note("moon", "is on the moon.", "It is far.", "Fetch it."), ["moon"]);');
finds(['moon' => 'note'], $known, 'another subject', script: "$copy/bin/dlock-doctor");
finds([], [redis_server(), '--ignore=moon,persistence'], 'another subject, ignored', script: "$copy/bin/dlock-doctor");
finds([], [zk_hosts(), '--ignore=standalone'], 'another back end', script: "$copy/bin/dlock-doctor");
echo "done\n";
?>
--EXPECT--
done
