<?php
declare(strict_types=1);

/** Many requests at a time to one php-fpm, each over a connection of its own, as a web server makes them. */
final class FastCgi
{
    private const BEGIN = 1, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6, STDERR = 7;

    /** @var array<int, resource> */
    private array $streams = [];
    /** @var array<int, string> what has come and is not a whole record yet */
    private array $pending = [];
    /** @var array<int, array{out: string, err: string, began: float, number: int}> */
    private array $answers = [];
    private int $sent = 0;

    public function __construct(private readonly string $socket, private readonly string $script)
    {
    }

    /** @return int the request's number, counted from 0 */
    public function send(array $query): int
    {
        $stream = @stream_socket_client("unix://$this->socket", $code, $message, 30)
            ?: throw new RuntimeException("php-fpm: $message");
        $id = (int) $stream;
        $params = [
            'GATEWAY_INTERFACE' => 'CGI/1.1', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REQUEST_METHOD' => 'GET', 'SCRIPT_FILENAME' => $this->script,
            'SCRIPT_NAME' => '/' . basename($this->script), 'QUERY_STRING' => http_build_query($query),
        ];
        $body = '';
        foreach ($params as $name => $value) {
            $body .= $this->length($name) . $this->length($value) . $name . $value;
        }
        // Responder; php-fpm closes the connection after the answer.
        fwrite($stream, $this->record(self::BEGIN, "\0\1\0\0\0\0\0\0") . $this->record(self::PARAMS, $body)
            . $this->record(self::PARAMS, '') . $this->record(self::STDIN, ''));
        stream_set_blocking($stream, false);
        $this->streams[$id] = $stream;
        $this->pending[$id] = '';
        $this->answers[$id] = ['out' => '', 'err' => '', 'began' => now(), 'number' => $this->sent];
        return $this->sent++;
    }

    public function underWay(): int
    {
        return count($this->streams);
    }

    /** How many requests under way have sent a byte after the response's header. */
    public function begun(): int
    {
        return count(array_filter($this->answers, fn (array $answer) => strlen($this->body($answer['out'])) > 0));
    }

    /** What the only request under way has sent so far. */
    public function said(): string
    {
        return $this->answers === [] ? '' : $this->body(current($this->answers)['out']);
    }

    /**
     * Waits until something arrives, at most $timeout s, and returns the answers that are complete by then.
     * @return array<int, array{body: string, error: string, seconds: float}> by number of the request
     */
    public function collect(float $timeout): array
    {
        $done = [];
        $read = $this->streams;
        $write = $except = null;
        if ($read === [] || !@stream_select($read, $write, $except, (int) $timeout, (int) (fmod($timeout, 1) * 1e6))) {
            return $done;
        }
        foreach ($read as $stream) {
            $id = (int) $stream;
            $bytes = fread($stream, 65536);
            $ended = $bytes === false || $bytes === '' && feof($stream);
            $this->pending[$id] .= $bytes;
            if ($this->take($id) || $ended) { // ended without an END record: the worker died
                $answer = $this->answers[$id];
                $done[$answer['number']] = ['body' => $this->body($answer['out']), 'error' => $answer['err'], 'seconds' => now() - $answer['began']];
                fclose($stream);
                unset($this->streams[$id], $this->pending[$id], $this->answers[$id]);
            }
        }
        return $done;
    }

    /** Reads the whole records. True: the request's last record was among them. */
    private function take(int $id): bool
    {
        $pending = &$this->pending[$id];
        while (strlen($pending) >= 8) {
            ['type' => $type, 'length' => $length, 'padding' => $padding] = unpack('x/Ctype/x2/nlength/Cpadding', $pending);
            if (strlen($pending) < 8 + $length + $padding) {
                break;
            }
            $content = substr($pending, 8, $length);
            $pending = substr($pending, 8 + $length + $padding);
            match ($type) {
                self::STDOUT => $this->answers[$id]['out'] .= $content,
                self::STDERR => $this->answers[$id]['err'] .= $content,
                default => null,
            };
            if ($type === self::END) {
                return true;
            }
        }
        return false;
    }

    private function body(string $response): string
    {
        return substr((string) strstr($response, "\r\n\r\n"), 4);
    }

    private function length(string $text): string
    {
        return strlen($text) < 128 ? chr(strlen($text)) : pack('N', strlen($text) | 0x80000000);
    }

    private function record(int $type, string $content): string
    {
        return pack('CCnnCx', 1, $type, 1, strlen($content), 0) . $content;
    }
}
