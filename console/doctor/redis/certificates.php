<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** Days before the end of a certificate that are too few. */
const CERTIFICATE_DAYS = 14;

Subjects::add(RedisServer::class, examine_certificates(...), ['certificate']);
Subjects::add('redis replica', examine_certificates(...), []);

function examine_certificates(RedisServer $server): void
{
    $options = $server->spec['tls'];
    if ($options === null) {
        return;
    }
    $ends = ["the server's certificate" => $server->redis->certificateEnds()];
    if (isset($options['local_cert'])) {
        $certificate = (string) @file_get_contents($options['local_cert']);
        $ends['the certificate of this client'] = openssl_x509_parse($certificate)['validTo_time_t'] ?? null;
    }
    foreach ($ends as $whose => $end) {
        $days = $end === null ? INF : ($end - time()) / 86400;
        if ($days < CERTIFICATE_DAYS) {
            $server->warning('certificate',
                "$whose " . ($days < 0 ? 'ended' : 'ends') . ' on ' . gmdate('Y-m-d H:i', $end) . ' UTC.',
                'From then on clients and servers that check it refuse connections.', 'Renew it.');
        }
    }
}
