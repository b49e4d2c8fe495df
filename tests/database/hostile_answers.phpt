--TEST--
databases: of a server that answers with the password in an error, or with text that is cut short, no part of the password is shown, and nothing is read beyond the text; a list without end ends, and no time is beyond a year
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

foreach (private_databases() as $kind => $server) {
    $admin = new DistributedLock($server->dsn('create=1&guard=300'));
    $admin->isLocked('r');
    $secret = $kind === 'pgsql' ? "s3cr3t\tpassw0rd" : 's3cr3t-passw0rd'; // MariaDB's syntax errors have ? for a tab
    $user = strstr($server->applicationUser(), ':', true);
    $pdo = $server->pdo();
    $pdo->exec($kind === 'pgsql' ? "ALTER ROLE $user PASSWORD " . $pdo->quote($secret) : "ALTER USER $user@'%' IDENTIFIED BY " . $pdo->quote($secret));
    $locks = new DistributedLock($server->dsn('', $user . ':' . rawurlencode($secret)));
    $define = fn (string $name, string $body) => $pdo->exec($kind === 'pgsql'
        ? "CREATE OR REPLACE FUNCTION dlock.$name LANGUAGE plpgsql SECURITY DEFINER AS \$\$ BEGIN $body END \$\$"
        : "CREATE OR REPLACE PROCEDURE $name SQL SECURITY DEFINER BEGIN $body END");

    // ---- errors: the password is at the end of what is shown of them, or beyond ----
    $shown = [];
    for ($length = 0; $length < 65; $length++) {
        $kind === 'pgsql'
            ? $define('left_1(p_name bytea, p_token text) RETURNS bigint', 'RAISE EXCEPTION ' . $pdo->quote(str_repeat('x', 145 + $length) . $secret) . ';')
            : $define('dlock_left_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64))', 'EXECUTE IMMEDIATE ' . $pdo->quote('SELECT 1 ' . str_repeat(')', $length) . $secret) . ';');
        $message = (string) thrown_by(fn () => $locks->isLocked('r'))?->getMessage();
        preg_match('/s3cr|[x)]s/', $message) && $shown[] = $message;
    }
    same([], $shown, "$kind: what is shown of the password");
    holds(str_contains($message, $kind === 'pgsql' ? 'xxx' : 'syntax') || str_contains($message, 'not shown, since it contains the password'), "$kind: the last error", $message);

    // ---- texts: an odd number of digits, lines without the rest ----
    $text = function (string $text) use ($kind, $define, $pdo) {
        $kind === 'pgsql'
            ? $define('list_1(p_name bytea, p_token text, p_prefix bigint, p_most bigint) RETURNS text', 'RETURN ' . $pdo->quote($text) . ';')
            : $define('dlock_list_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64), IN p_prefix BIGINT, IN p_most BIGINT)', 'SELECT ' . $pdo->quote($text) . ';');
    };
    $name = fn (string $resource) => "\nl " . bin2hex("Lock:$resource");
    $text($name('a') . "6\n61 3" . $name('b') . "\n1 0\nh - 5000000 7 " . bin2hex('host') . "6\nw - 6" . $name('c') . "\n1 2\nl\nlx" . $name('d') . "\n1 1\nw - 61" . $name('') . '6');
    $listed = [];
    foreach ($locks->inspectAll() as $one) {
        $listed[$one->resource] = [$one->waiting, array_map(fn ($party) => $party->host, [...$one->holders, ...$one->waiters])];
    }
    ksort($listed);
    same(['a' => [3, []], 'b' => [0, ['host', '']], 'c' => [2, []], 'd' => [1, ['a']]], $listed, "$kind: the list");
    $text("\nl");
    same([], $locks->inspectAll(), "$kind: a line that ends early");

    // ---- a list that always continues from the same name ----
    $text('61');
    fails(Dlock\ConnectionException::class, "* at {$server->address()} does not list the locks in order: check who may change dlock's functions there",
        fn () => $locks->inspectAll(), "$kind: a list without end");

    // ---- times ----
    $text($name('a') . "\n1 0\nh - " . PHP_INT_MAX . ' 7 ' . $name('b') . "\n1 0\nh - -" . PHP_INT_MAX . ' 7 ');
    $remaining = array_map(fn ($one) => $one->holders[0]->remaining, $locks->inspectAll());
    rsort($remaining);
    same([31_536_000.0, 0.0], $remaining, "$kind: what remains of leases");
    $long = new DistributedLock($server->dsn('guard=300', $user . ':' . rawurlencode($secret)), renew: false);
    $long->lock('long', 0, 100);
    $kind === 'pgsql'
        ? $define('left_1(p_name bytea, p_token text) RETURNS bigint', 'RETURN ' . PHP_INT_MAX . ';')
        : $define('dlock_left_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64))', 'SELECT ' . PHP_INT_MAX . ';');
    same(true, $long->isLocking('long'), "$kind: a lease that is to last for centuries");
}
echo "done\n";
?>
--EXPECT--
done
