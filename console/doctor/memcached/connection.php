<?php
declare(strict_types=1);

namespace Dlock\Doctor;

final class MemcachedConnection
{
    /** Seconds that the slowest answer took. */
    public float $longest = 0;
    /** @var resource */
    private $stream;

    /** @param array<string, mixed> $server see Dlock\describe_server() */
    public function __construct(private readonly array $server)
    {
        $this->stream = connect($server['path'] !== null ? "unix://$server[path]" : "tcp://$server[label]", $server['connect_timeout']);
        stream_set_timeout($this->stream, (int) $server['read_timeout'], (int) (fmod($server['read_timeout'], 1) * 1e6));
    }

    /** Returns the line that the server answers. */
    public function ask(string $command): string
    {
        $start = clock();
        if (!@fwrite($this->stream, "$command\r\n")) {
            throw new Trouble('closed the connection');
        }
        $line = $this->line();
        $this->longest = max($this->longest, clock() - $start);
        return $line;
    }

    /** @return array<string, string> */
    public function stats(string $of = ''): array
    {
        $stats = [];
        for ($line = $this->ask(rtrim("stats $of")); $line !== 'END'; $line = $this->line()) {
            if (!preg_match('/^STAT (\S+) ?(.*)$/', $line, $found)) {
                throw new Trouble('does not speak as memcached does');
            }
            $stats[$found[1]] = $found[2];
        }
        return $stats;
    }

    private function line(): string
    {
        $line = @fgets($this->stream, 4096);
        return $line === false ? throw silence($this->stream, $this->server['read_timeout'], 'closed the connection') : rtrim($line, "\r\n");
    }
}
