--TEST--
ReadWriteLock on ZooKeeper works beside Apache Curator's InterProcessReadWriteLock on the same path
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
require __DIR__ . '/../inc/zk_read_write.inc';

$resource = unique();
$sections = 20;
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
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryOneTime;

/** Does what it is told, line by line: try SIDE, acquire SIDE, release, sections NAME COUNT FILE. */
class Contender {
    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(arguments[0], 60000, 60000, new RetryOneTime(100));
        client.start();
        if (!client.blockUntilConnected(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not connected");
        }
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, arguments[1]);
        InterProcessMutex held = null;
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = input.readLine()) != null; ) {
            String[] words = line.split(" ");
            InterProcessMutex side = line.endsWith("read") ? lock.readLock() : lock.writeLock();
            switch (words[0]) {
                case "try":
                    boolean got = side.acquire(100, TimeUnit.MILLISECONDS);
                    held = got ? side : null;
                    System.out.println(got);
                    break;
                case "acquire":
                    side.acquire();
                    held = side;
                    System.out.println("acquired");
                    break;
                case "release":
                    held.release();
                    System.out.println("released");
                    break;
                case "sections":
                    for (int i = 0; i < Integer.parseInt(words[2]); i++) {
                        boolean writes = i % 3 == 0;
                        InterProcessMutex mutex = writes ? lock.writeLock() : lock.readLock();
                        mutex.acquire();
                        say(words[3], (writes ? "writes " : "reads ") + words[1]);
                        LockSupport.parkNanos(2_000_000);
                        say(words[3], "ends " + words[1]);
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
$compiler = '/usr/share/java/eclipse-jdt-core.jar:/usr/share/java/eclipse-jdt-core-compiler-batch.jar'; // as in curator.phpt
$java = ['env', '-u', 'LD_PRELOAD', 'java'];
exec(implode(' ', array_map('escapeshellarg', [...$java, '-cp', $compiler, 'org.eclipse.jdt.internal.compiler.batch.Main',
    '-nowarn', '-proc:none', '-source', '11', '-target', '11', '-cp', $classes, '-d', $directory, "$directory/Contender.java"])) . ' 2>&1', $output, $code);
$code === 0 || die(implode("\n", $output));
$process = proc_open(['setpriv', '--pdeathsig', 'KILL', ...$java, '-Xmx64m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1',
    '-XX:-UsePerfData', '-Djava.net.preferIPv4Stack=true', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', $classes, 'Contender', zk_hosts(), "/locks/$resource"],
    [['pipe', 'r'], ['pipe', 'w'], ['file', "$directory/err", 'w']], $pipes);
$tell = fn (string $line) => fwrite($pipes[0], "$line\n");
$hear = fn (string $expected, string $what) => same("$expected\n", read_bytes($pipes[1], strlen($expected) + 1, 60), "Curator: $what");
$hear('ready', 'start');
read_write_beside($resource, $tell, $hear);

// All at the same time.
$children = [];
foreach (['ours-1', 'ours-2'] as $name) {
    $children[$name] = fork_child(function (callable $say, callable $hear) use ($name, $resource, $log, $sections) {
        $lock = zk_read_write();
        $lock->readLock()->isLocked($resource);
        $say('ready');
        $hear();
        for ($i = 0; $i < $sections; $i++) {
            $writes = $i % 3 === 1;
            $lease = ($writes ? $lock->writeLock() : $lock->readLock())->acquire($resource, 60);
            file_put_contents($log, ($writes ? 'writes' : 'reads') . " $name\n", FILE_APPEND);
            pause(0.002);
            file_put_contents($log, "ends $name\n", FILE_APPEND);
            $lease->release() || throw new RuntimeException('lost');
        }
        return $i;
    });
    same('ready', $children[$name]->hear(), $name);
}
$tell("sections curator $sections $log");
foreach ($children as $child) {
    $child->say('go');
}
foreach ($children as $name => $child) {
    same($sections, $child->result(), $name);
}
$hear('finished', 'sections');
fclose($pipes[0]);
same([0, ''], [proc_close($process), file_get_contents("$directory/err")], 'the end');
$inside = [];
$lines = file($log, FILE_IGNORE_NEW_LINES);
same(2 * 3 * $sections, count($lines), 'lines');
foreach ($lines as $i => $line) {
    [$what, $name] = explode(' ', $line);
    if ($what === 'ends') {
        unset($inside[$name]);
    } else {
        holds($what === 'reads' ? !in_array('writes', $inside, true) : $inside === [], "line $i: $line beside", $inside);
        $inside[$name] = $what;
    }
}
same([], zk_nodes(zk_raw(), $resource), 'nodes at the end');
echo "done\n";
?>
--EXPECT--
done
