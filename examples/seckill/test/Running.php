<?php
declare(strict_types=1);

/** The shop that start.sh starts: its process, the address that it prints, and all processes that belong to it. */
final class Running
{
    public readonly string $url;
    public readonly int $pid;
    /** @var resource|null */
    private $process;
    /** @var resource */
    private $output;

    public function __construct()
    {
        // The script ends with this process, even if this process is killed.
        $this->process = proc_open(['setpriv', '--pdeathsig', 'TERM', __DIR__ . '/../start.sh'],
            [['file', '/dev/null', 'r'], ['pipe', 'w']], $pipes) ?: throw new RuntimeException('start.sh does not start');
        $this->output = $pipes[1];
        $this->pid = proc_get_status($this->process)['pid'];
        while (($line = fgets($this->output)) !== false) {
            if (preg_match('#http://[0-9.:]+/#', $line, $found)) {
                $this->url = $found[0];
                return;
            }
        }
        throw new RuntimeException('start.sh has ended');
    }

    public function directory(): string
    {
        return dirname(__DIR__, 3) . "/build/seckill.$this->pid";
    }

    /** @return array<int, string> pid => command: processes that descend from the script, or use its directory */
    public function processes(): array
    {
        $parents = $found = [];
        foreach (glob('/proc/[0-9]*', GLOB_ONLYDIR) as $directory) {
            $parents[(int) basename($directory)] = self::parent((int) basename($directory));
        }
        foreach (array_filter($parents) as $pid => $parent) {
            $command = strtr(trim((string) @file_get_contents("/proc/$pid/cmdline"), "\0"), "\0", ' ');
            $works_in = @readlink("/proc/$pid/cwd");
            for ($of = $pid; $of > 1 && $of !== $this->pid; $of = $parents[$of] ?? 0);
            if ($of === $this->pid || preg_match('~' . preg_quote($this->directory()) . '\b~', "$command $works_in")) {
                $found[$pid] = $command;
            }
        }
        return $found;
    }

    /** The pid of the process's parent; null if the process has ended. */
    public static function parent(int $pid): ?int
    {
        // pid (name) state parent …: the name may contain spaces and parentheses.
        $stat = (string) @file_get_contents("/proc/$pid/stat");
        $fields = explode(' ', substr($stat, (int) strrpos($stat, ')') + 2));
        return in_array($fields[0], ['', 'Z', 'X'], true) ? null : (int) $fields[1];
    }

    /** Sends a signal to the script, and waits until all its processes have ended. */
    public function end(int $signal): void
    {
        proc_terminate($this->process, $signal);
        stream_get_contents($this->output); // it ends when the last process that could write to it has ended
        fclose($this->output);
        proc_close($this->process);
        $this->process = null;
    }

    public function __destruct()
    {
        if ($this->process !== null) {
            $this->end(SIGTERM);
        }
    }
}
