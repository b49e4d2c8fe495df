--TEST--
Handles that were cut, altered or made up, or that belong to another kind of lock, are a ValueError; no handle contains a password
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$lock = new DistributedLock(redis_server());
$red = new RedLock(redis_servers(3));
$where = 'DistributedLock::attach(): Argument #1 ($handle) must be a handle';

foreach (['' => 'begins with "dlock1."', 'x' => 'begins with "dlock1."', 'dlock1' => 'begins with "dlock1."',
    'dlock1.' => '*', 'dlock1.x' => '*', 'dlock1.====' => '*', "dlock1.\0" => '*', 'dlock2.AAAA' => 'begins with "dlock1."',
    'dlock1.' . str_repeat('A', 100_000) => '*', "dlock1.\xff\xfe" => '*'] as $handle => $text) {
    fails(ValueError::class, "$where*$text*", fn () => $lock->attach((string) $handle), shown(substr((string) $handle, 0, 20)));
}
fails(TypeError::class, 'DistributedLock::attach(): Argument #1 ($handle) must be of type string, array given', fn () => $lock->attach([]));

/** The handle is refused. If it is accepted, the lock is detached again, so that the test can continue. */
$is_refused = function (string $handle, string $what) use ($lock, $where) {
    fails(ValueError::class, "$where*", fn () => $lock->attach($handle)->detach(), $what);
};

// Resources of three lengths: the last character of the encoding stands for 2, 4 or 6 bits.
foreach (['r', 'rr', 'rrr'] as $end) {
    $handle = $lock->acquire(unique($end), ttl: 100)->detach();
    for ($i = 0; $i < strlen($handle); $i++) {
        for ($bit = 1; $bit < 256; $bit <<= 1) {
            $altered = $handle;
            $altered[$i] = $altered[$i] ^ chr($bit);
            $is_refused($altered, "bit $bit of byte $i of " . strlen($handle) . ' altered');
        }
    }
    for ($length = 0; $length < strlen($handle); $length++) {
        $is_refused(substr($handle, 0, $length), "cut to $length");
    }
    foreach (["$handle ", " $handle", "$handle\n", "$handle=", "{$handle}A", "$handle\0", $handle . $handle,
        substr_replace($handle, "\r\n", 40, 0)] as $altered) {
        $is_refused($altered, 'with more: ' . shown($altered));
    }
    same(true, $lock->attach($handle)->release(), 'attach() of the handle as it was');
}

// Handles of another kind of lock.
$handle = $red->acquire(unique('quorum'))->detach();
fails(ValueError::class, "$where of the same kind of lock*", fn () => $lock->attach($handle));
same(true, $red->attach($handle)->release(), 'attach() with the right kind');
$handle = $lock->acquire(unique('single'))->detach();
fails(ValueError::class, 'RedLock::attach(): Argument #1 ($handle) must be a handle of the same kind of lock*', fn () => $red->attach($handle));
same(true, $lock->attach($handle)->release(), 'attach() with the right kind');

// A client that knows the form, but has no lock, makes a handle: the digest is right.
$make = function (string $payload) {
    $raw = substr(hash('sha256', "dlock1.$payload", true), 0, 16) . $payload;
    return 'dlock1.' . rtrim(strtr(base64_encode($raw), '+/', '-_'), '=');
};
$token = str_repeat('a', 32);
fails(Dlock\LeaseLostException::class, '*', fn () => $lock->attach($make("single|1000|0|$token|" . unique('x'))), 'a form that is right');
foreach (["", '|', 'single', "single|1000|0|$token|", "single||0|$token|x", "single|0|0|$token|x",
    "single|1000||$token|x", "single|1000|x|$token|x", "single|1000|$token|x", "single|1000|2|$token|x", "single|1000|4|$token|x",
    "single|-1|0|$token|x", "single|1e3|0|$token|x", "single|1000|0|short|x", "single|1000|0|{$token}a|x", "single|1000|0|1|$token|x",
    'single|' . str_repeat('9', 19) . "|0|$token|x", 'single|' . str_repeat('9', 40) . "|0|$token|x",
    'single|1000|' . str_repeat('9', 40) . "|$token|x", 'single|1000|' . str_repeat('9', 17) . "|$token|x",
    "single|31536000001|0|$token|x", "single|9223372036854|0|$token|x", "single|1000|0|$token|" . str_repeat('x', 1025), "|1000|0|$token|x",
    "zookeeper|1000|0|$token|x"] as $payload) {
    fails(ValueError::class, "$where*", fn () => $lock->attach($make($payload)), 'made up: ' . shown(substr($payload, 0, 80)));
}

// People do not read handles, but a decoded one contains no password.
$password = redis_password();
$handle = (new DistributedLock(redis_auth_server()))->acquire(unique('auth'))->detach();
hides([$password, rawurlencode($password)], $handle . base64_decode(strtr(substr($handle, 7), '-_', '+/')), 'the handle');
same(true, (new DistributedLock(redis_auth_server()))->attach($handle)->release(), 'attach() with the password');
echo "done\n";
?>
--EXPECT--
done
