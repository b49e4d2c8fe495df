--TEST--
Stock: pages of orders, if Redis runs under the locale of a language: it orders names by bytes, and scripts compare text as that language does
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
is_file('/usr/share/i18n/locales/en_US') || die('skip needs the package locales');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/clocks.inc';

use Dlock\OrderState;
use Dlock\Stock;

$locales = temporary_directory();
exec("localedef -i en_US -f UTF-8 $locales/en_US.UTF-8 2>&1", $output, $code);
same(0, $code, implode("\n", $output));
$redis = with_redis_run_by("LC_ALL=en_US.UTF-8 LOCPATH='$locales' exec", redis_private(...));
same([1, 0], $redis->raw()->cmd('EVAL', "return {'B' > 'a' and 1 or 0, 'B' < 'a' and 1 or 0}", 0), 'B comes after a');

$stock = new Stock($redis->dsn(), 'Locale:');
$stock->restock('shoe', 9, 'first');
$buyers = ['B', 'C', 'a', 'a b', 'aa', 'b', 'É', 'é'];
foreach ($buyers as $buyer) {
    $stock->reserve('shoe', $buyer, '1')->confirm();
}
foreach ($redis->raw()->cmd('ZRANGEBYSCORE', 'Locale:shoe', '1e13', '(2e13') as $order) {
    $redis->raw()->cmd('ZADD', 'Locale:shoe', 10_000_000_000_000 + 1_700_000_000_000, $order); // all in one millisecond
}

foreach ([1, 3] as $limit) {
    $found = [];
    $after = null;
    do {
        $page = $stock->orders('shoe', state: OrderState::Sold, limit: $limit, after: $after);
        array_push($found, ...array_column($page->orders, 'buyer'));
        $after = $page->next;
    } while ($after !== null);
    sort($found, SORT_STRING);
    same($buyers, $found, "pages of $limit");
}
?>
done
--EXPECT--
done
