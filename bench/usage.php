<?php
/* What Redis servers have used so far: CPU time of the thread that serves clients, and bytes from and to clients. */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/redis_raw.inc';

final class Usage
{
    /** @var list<RedisRaw> */
    private readonly array $servers;
    /** @var list<array{in: int, out: int}> by server: bytes of this object's requests */
    private array $own;

    /** @param list<string> $addresses */
    public function __construct(array $addresses)
    {
        $this->servers = array_map(fn (string $address) => new RedisRaw($address, timeout: 60), $addresses);
        $this->own = array_fill(0, count($addresses), ['in' => 0, 'out' => 0]);
    }

    /** Call it before the work, for the first $count servers. @return array{cpu: float, in: int, out: int} µs, bytes */
    public function before(int $count): array
    {
        $bytes = $this->bytes($count);
        return ['cpu' => $this->cpu($count)] + $bytes; // asking costs CPU time, so the CPU is read last
    }

    /**
     * What has been used since.
     * @param array{cpu: float, in: int, out: int} $before
     * @return array{cpu: float, in: int, out: int}
     */
    public function since(array $before, int $count): array
    {
        $now = ['cpu' => $this->cpu($count)] + $this->bytes($count);
        return array_combine(array_keys($now), array_map(fn ($now, $before) => $now - $before, $now, $before));
    }

    private function cpu(int $count): float
    {
        $sum = 0.0;
        for ($i = 0; $i < $count; $i++) {
            $info = $this->info($i, 'cpu');
            $thread = isset($info['used_cpu_user_main_thread']) ? '_main_thread' : '';
            $sum += (float) $info["used_cpu_user$thread"] + (float) $info["used_cpu_sys$thread"];
        }
        return $sum * 1e6;
    }

    /** @return array{in: int, out: int} */
    private function bytes(int $count): array
    {
        $sum = ['in' => 0, 'out' => 0];
        for ($i = 0; $i < $count; $i++) {
            $answered = $this->own[$i]['out']; // the server does not count this answer in itself
            $info = $this->info($i, 'stats');
            $sum['in'] += $info['total_net_input_bytes'] - $this->own[$i]['in'];
            $sum['out'] += $info['total_net_output_bytes'] - $answered;
        }
        return $sum;
    }

    /** @return array<string, string> */
    private function info(int $server, string $section): array
    {
        $text = $this->servers[$server]->cmd('INFO', $section);
        $this->own[$server]['in'] += strlen("*2\r\n\$4\r\nINFO\r\n$" . strlen($section) . "\r\n$section\r\n");
        $this->own[$server]['out'] += strlen('$' . strlen($text) . "\r\n$text\r\n");
        preg_match_all('/^(\w+):(.*)\r$/m', $text, $found);
        return array_combine($found[1], $found[2]);
    }
}
