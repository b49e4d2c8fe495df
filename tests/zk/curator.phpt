--TEST--
ZkLock competes with Apache Curator's InterProcessMutex over the same path: one holder at a time, in turn, and all get their turns
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
is_readable('/usr/share/java/curator-recipes.jar') || die('skip needs the Debian package libcurator-recipes-java');
is_readable('/usr/share/java/eclipse-jdt-core.jar') || die('skip needs the Debian package libeclipse-jdt-core-java');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$zk = zk_raw();
$resource = unique();
$path = "/locks/$resource";
$sections = 25;
$directory = temporary_directory();
$log = "$directory/log";
touch($log);
file_put_contents("$directory/Contender.java", <<<'JAVA'
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Does what it is told, line by line: try, acquire, release, sections NAME COUNT FILE. */
class Contender {
    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], 60000, 60000, new RetryOneTime(100));
        client.start();
        if (!client.blockUntilConnected(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not connected");
        }
        InterProcessMutex mutex = new InterProcessMutex(client, arguments[1]);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = input.readLine()) != null; ) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "try":
                    System.out.println(mutex.acquire(100, TimeUnit.MILLISECONDS));
                    break;
                case "acquire":
                    mutex.acquire();
                    System.out.println("acquired");
                    break;
                case "release":
                    mutex.release();
                    System.out.println("released");
                    break;
                case "sections":
                    for (int i = 0; i < Integer.parseInt(words[2]); i++) {
                        mutex.acquire();
                        say(words[3], "in " + words[1]);
                        LockSupport.parkNanos(2_000_000);
                        say(words[3], "out " + words[1]);
                        mutex.release();
                    }
                    System.out.println("finished");
            }
        }
        client.close();
    }

    private static void say(String file, String text) throws IOException {
        Files.writeString(Path.of(file), text + "\n", StandardOpenOption.APPEND);
    }
}
JAVA);
$classes = implode(':', [$directory, ...array_map(fn (string $name) => "/usr/share/java/$name.jar",
    ['curator-recipes', 'curator-framework', 'curator-client', 'zookeeper', 'guava', 'slf4j-simple'])]);
// Eclipse's compiler is a tenth of a JDK, and works with a JRE. From Debian 13 on it is in the second file.
$compiler = '/usr/share/java/eclipse-jdt-core.jar:/usr/share/java/eclipse-jdt-core-compiler-batch.jar';
$java = ['env', '-u', 'LD_PRELOAD', 'java']; // a sanitizer's library is for PHP
exec(implode(' ', array_map('escapeshellarg', [...$java, '-cp', $compiler, 'org.eclipse.jdt.internal.compiler.batch.Main',
    '-nowarn', '-proc:none', '-source', '11', '-target', '11', '-cp', $classes, '-d', $directory, "$directory/Contender.java"])) . ' 2>&1', $output, $code);
$code === 0 || die(implode("\n", $output));

/** A process with Curator's mutex, which obeys commands. */
$contender = function (string $name) use ($java, $classes, $path, $directory) {
    $process = proc_open(['setpriv', '--pdeathsig', 'KILL', ...$java, '-Xmx64m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1',
        '-XX:-UsePerfData', '-Djava.net.preferIPv4Stack=true', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', $classes, 'Contender', zk_hosts(), $path],
        [['pipe', 'r'], ['pipe', 'w'], ['file', "$directory/$name.err", 'w']], $pipes);
    $hear = fn (string $expected, string $what) => same("$expected\n", read_bytes($pipes[1], strlen($expected) + 1, 60), "$name: $what");
    return [$process, fn (string $line) => fwrite($pipes[0], "$line\n"), $hear, fn () => fclose($pipes[0])];
};
[$first, $tell, $hear] = $theirs['curator-1'] = $contender('curator-1');
[, $tellSecond, $hearSecond] = $theirs['curator-2'] = $contender('curator-2');
$hear('ready', 'start');
$hearSecond('ready', 'start');

// ZkLock holds, then Curator.
$lock = new ZkLock(zk_hosts());
$lease = $lock->acquire($resource, 0);
$tell('try');
$hear('false', 'acquire() of what is held here');
wait_for_nodes($zk, 1, $resource);
$tell('acquire');
wait_for_nodes($zk, 2, $resource);
same(true, $lease->isHeld() && $lease->release(), 'release()');
$hear('acquired', 'acquire() after the release');

// Curator holds, then ZkLock, then Curator.
same([true, null], [$lock->isLocked($resource), $lock->tryAcquire($resource, 0.1)], 'while Curator holds');
wait_for_nodes($zk, 1, $resource);
$ours = zk_waiter(zk_hosts(), $resource);
wait_for_nodes($zk, 2, $resource);
$tellSecond('acquire');
wait_for_nodes($zk, 3, $resource);
$tell('release');
$hear('released', 'release()');
same('held', $ours->hear(), 'after its release');
$tell('try');
$hear('false', 'acquire() while ours holds, and another one waits');
$ours->say('release');
$hearSecond('acquired', 'acquire() after the release of ours');
same(true, $ours->result(), 'release() before Curator');

// Then ZkLock again.
$ours = zk_waiter(zk_hosts(), $resource);
wait_for_nodes($zk, 2, $resource);
$tellSecond('release');
$hearSecond('released', 'release()');
same('held', $ours->hear(), 'after its release');
$ours->say('release');
same(true, $ours->result(), 'release()');

// Two processes of each at a time.
$children = [];
foreach (['ours-1', 'ours-2'] as $name) {
    $children[$name] = fork_child(function (callable $say, callable $hear) use ($name, $resource, $log, $sections) {
        $lock = new ZkLock(zk_hosts());
        $lock->isLocked($resource);
        $say('ready');
        $hear();
        for ($i = 0; $i < $sections; $i++) {
            $lock->lock($resource, 60) || throw new RuntimeException('not locked');
            file_put_contents($log, "in $name\n", FILE_APPEND);
            pause(0.002);
            file_put_contents($log, "out $name\n", FILE_APPEND);
            $lock->release($resource) || throw new RuntimeException('lost');
        }
        return $i;
    });
    same('ready', $children[$name]->hear(), $name);
}
foreach ($theirs as $name => [, $say]) {
    $say("sections $name $sections $log");
}
foreach ($children as $child) {
    $child->say('go');
}
foreach ($children as $name => $child) {
    same($sections, $child->result(), $name);
}
foreach ($theirs as $name => [$process, , $hears, $end]) {
    $hears('finished', 'sections');
    $end();
    same([0, ''], [proc_close($process), file_get_contents("$directory/$name.err")], $name);
}
$lines = file($log, FILE_IGNORE_NEW_LINES);
same(2 * 4 * $sections, count($lines), 'lines');
$first = [];
for ($i = 0; $i + 1 < count($lines); $i += 2) {
    same(str_replace('in ', 'out ', $lines[$i]), $lines[$i + 1], "section $i");
    if ($i < count($lines) / 2) {
        $first[$lines[$i]] = ($first[$lines[$i]] ?? 0) + 1;
    }
}
// Because they are served in turn, all are about equally far when half of the work is done.
same(4, count($first), 'who had the lock in the first half');
within(3, min($first), $sections, 'sections of the slowest in the first half');
same([], zk_nodes($zk, $resource), 'nodes at the end');
echo "done\n";
?>
--EXPECT--
done
