<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** An error reply. */
final class Refusal extends \Exception
{
    public function isAboutRights(): bool
    {
        return preg_match("/NOPERM|ACL failure|user executing the script can't|unknown (redis )?(sub)?command/i",
            $this->getMessage()) === 1;
    }

    public function isAboutLogin(): bool
    {
        return preg_match('/^(NOAUTH|WRONGPASS|ERR invalid password|ERR Protocol error: unauthenticated)/',
            $this->getMessage()) === 1;
    }
}

/** Limits of a reply: no expected reply comes near them. */
const MOST_BYTES = 1 << 24, MOST_ITEMS = 1 << 16, DEEPEST = 8;

final class RedisConnection
{
    /** Seconds that the slowest answer took. */
    public float $longest = 0;
    /** @var resource */
    private $stream;

    /** @param array<string, mixed> $server see Dlock\describe_server() */
    public function __construct(private readonly array $server)
    {
        $url = $server['path'] !== null ? "unix://$server[path]" : ($server['tls'] !== null ? 'tls://' : 'tcp://') . $server['label'];
        $this->stream = connect($url, $server['connect_timeout'], $server['tls'] !== null ? $server['tls'] + ['capture_peer_cert' => true] : []);
        stream_set_timeout($this->stream, (int) $server['read_timeout'], (int) (fmod($server['read_timeout'], 1) * 1e6));
    }

    public function logIn(): void
    {
        if ($this->server['password'] !== null) {
            $this->cmd('AUTH', ...($this->server['user'] !== null ? [$this->server['user']] : []), ...[$this->server['password']]);
        }
    }

    /** When the server's certificate ends; null: unknown. */
    public function certificateEnds(): ?int
    {
        $certificate = stream_context_get_params($this->stream)['options']['ssl']['peer_certificate'] ?? null;
        return $certificate ? openssl_x509_parse($certificate)['validTo_time_t'] ?? null : null;
    }

    /** Status and bulk replies are strings. */
    public function cmd(#[\SensitiveParameter] string|int ...$words): string|int|array|null
    {
        $start = clock();
        $request = '*' . count($words) . "\r\n";
        foreach ($words as $word) {
            $request .= '$' . strlen((string) $word) . "\r\n$word\r\n";
        }
        for ($sent = 0; $sent < strlen($request); $sent += $n) {
            $n = @fwrite($this->stream, substr($request, $sent));
            if ($n === false || $n === 0) {
                throw new Trouble('closed the connection');
            }
        }
        $reply = $this->reply();
        $this->longest = max($this->longest, clock() - $start);
        return $reply instanceof Refusal ? throw $reply : $reply;
    }

    /** Returns a reply that is a text. */
    public function text(string ...$words): string
    {
        $reply = $this->cmd(...$words);
        return is_string($reply) ? $reply : throw self::oddity();
    }

    /** Returns a reply that is a list and begins with at least $least texts or numbers. @return list<mixed> */
    public function items(int $least, string ...$words): array
    {
        $reply = $this->cmd(...$words);
        $scalars = is_array($reply) ? array_filter(array_slice($reply, 0, $least), fn ($item) => is_string($item) || is_int($item)) : null;
        return $scalars !== null && count($scalars) === $least ? $reply : throw self::oddity();
    }

    public static function oddity(): Trouble
    {
        return new Trouble('does not answer as Redis does');
    }

    private function reply(int $depth = 0): string|int|array|Refusal|null
    {
        $line = @fgets($this->stream, MOST_BYTES);
        if ($line === false) {
            throw $this->silence();
        }
        $rest = substr($line, 1, -2);
        $is_size = $line[0] === '$' || $line[0] === '*';
        if ($is_size && ((string) (int) $rest !== $rest || $rest < -1 || $rest > ($line[0] === '$' ? MOST_BYTES : MOST_ITEMS) || $depth > DEEPEST)) {
            throw self::oddity();
        }
        if ($is_size && $rest === '-1') {
            return null;
        }
        switch ($line[0]) {
            case '+':
                return $rest;
            case '-':
                return new Refusal($this->withoutPassword($rest));
            case ':':
                return (int) $rest;
            case '$':
                return substr($this->bytes((int) $rest + 2), 0, -2);
            case '*':
                $list = [];
                for ($i = 0; $i < (int) $rest; $i++) {
                    $list[] = $this->reply($depth + 1);
                }
                return $list;
        }
        throw self::oddity();
    }

    private function bytes(int $length): string
    {
        $bytes = (string) stream_get_contents($this->stream, $length);
        return strlen($bytes) === $length ? $bytes : throw $this->silence();
    }

    private function silence(): Trouble
    {
        return silence($this->stream, $this->server['read_timeout'], 'closed the connection');
    }

    /** A server that does not know AUTH repeats its arguments, so the password is removed. */
    private function withoutPassword(string $text): string
    {
        $text = preg_replace('/,? with args.*/s', '', $text);
        return $this->server['password'] === null ? $text : str_replace($this->server['password'], '…', $text);
    }
}
