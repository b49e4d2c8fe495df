<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** A session with one server. */
final class ZooKeeperConnection
{
    /** Negotiated, in seconds. */
    public readonly float $timeout;
    /** @var resource */
    private $stream;
    private int $xid = 0;

    public function __construct(string $address, float $timeout)
    {
        $this->stream = connect("tcp://$address", ZOOKEEPER_TIMEOUT);
        // Protocol version, last zxid seen, timeout, no session yet, its password, not read-only.
        $this->write(pack('NJNJ', 0, 0, (int) round($timeout * 1000), 0) . self::buffer(str_repeat("\0", 16)) . "\0");
        $this->timeout = unpack('Nversion/Ntimeout', $this->read())['timeout'] / 1000;
    }

    /** The node's data; null: there is none. */
    public function data(string $path): ?string
    {
        $reply = $this->request(4, self::buffer($path) . "\0");
        if ($reply === null) {
            return null;
        }
        $length = unpack('N', $reply)[1];
        return $length === 0xffffffff ? '' : substr($reply, 4, $length);
    }

    /** A round trip. */
    public function look(): void
    {
        $this->request(3, self::buffer('/') . "\0");
    }

    public function close(): void
    {
        $this->request(-11, '');
        fclose($this->stream);
    }

    /** Null: the server answers with an error. */
    private function request(int $type, string $body): ?string
    {
        $this->write(pack('NN', ++$this->xid, $type & 0xffffffff) . $body);
        $reply = $this->read();
        return unpack('Nxid/Jzxid/Nerror', $reply)['error'] === 0 ? substr($reply, 16) : null;
    }

    private function write(string $message): void
    {
        if (@fwrite($this->stream, self::buffer($message)) === false) {
            throw new Trouble('closed the connection');
        }
    }

    private function read(): string
    {
        return $this->bytes(unpack('N', $this->bytes(4))[1]);
    }

    private function bytes(int $length): string
    {
        $bytes = $length > 0 ? (string) @stream_get_contents($this->stream, $length) : '';
        return strlen($bytes) === $length ? $bytes : throw silence($this->stream, ZOOKEEPER_TIMEOUT, 'closes connections without a word');
    }

    private static function buffer(string $bytes): string
    {
        return pack('N', strlen($bytes)) . $bytes;
    }
}
