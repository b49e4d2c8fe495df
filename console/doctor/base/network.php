<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** If the best round trip takes this many seconds, the server is not local. */
const SLOW = 0.05;
const ROUND_TRIPS = 9;

/** The server does not answer, or not as it should. */
final class Trouble extends \Exception
{
}

/** The wall clock. */
function wall(): float
{
    return microtime(true);
}

/** A clock that is never set. */
function clock(): float
{
    return hrtime(true) / 1e9;
}

/** Connects. If that fails, the exception's message is the reason. @return resource */
function connect(string $url, float $timeout, #[\SensitiveParameter] array $tls = [])
{
    $reasons = [];
    set_error_handler(function (int $level, string $message) use (&$reasons) {
        $reasons[] = preg_replace('/^stream_socket_client\(\): |php_network_getaddresses: /', '', $message);
        return true;
    });
    try {
        $context = stream_context_create(['ssl' => $tls]);
        $stream = stream_socket_client($url, $code, $message, $timeout, STREAM_CLIENT_CONNECT, $context);
    } finally {
        restore_error_handler();
    }
    if (!$stream) {
        throw new Trouble($message !== '' && $code !== 0 ? $message : preg_replace('/\s+/', ' ', $reasons[0] ?? 'no connection'));
    }
    stream_set_timeout($stream, (int) $timeout, (int) (fmod($timeout, 1) * 1e6));
    return $stream;
}

/** Why the stream has no more data; $timeout is its time limit for an answer. @param resource $stream */
function silence($stream, float $timeout, string $closed): Trouble
{
    return new Trouble(stream_get_meta_data($stream)['timed_out'] ? 'does not answer within ' . seconds($timeout) : $closed);
}
