--TEST--
Documentation: the example of tests with PHPUnit passes, and its tests find mistakes in the tested code
--EXTENSIONS--
ctype
dom
mbstring
tokenizer
xml
xmlwriter
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
is_readable('/usr/bin/phpunit') || die('skip no phpunit');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

/** @return array{int, string} status and output */
function phpunit(string $directory): array
{
    exec(escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY) . ' ' . php_options() . ' /usr/bin/phpunit --colors=never -c '
        . escapeshellarg($directory) . ' 2>&1', $output, $status);
    return [$status, implode("\n", $output)];
}

$example = dirname(__DIR__, 2) . '/examples/phpunit';
[$status, $output] = phpunit($example);
holds($status === 0 && preg_match('/^OK \((?!0)\d+ tests/m', $output) === 1, 'the example passes', $status, $output);

// A copy of the code with a mistake, in which the named test fails.
foreach ([
    'testSellsOneUnderTheLock' => ['$this->locks->synchronized("stock:$sku"', '$this->locks->synchronized("$sku"'],
    'testWritesNothingWhenItHasLostTheLock' => ['$lease->assertHeld();', ''],
    'testIsBusyWhileAnotherHolds' => ['Dlock\AcquireTimeoutException | ', ''],
    'testSellsNothingWithoutTheServer' => [' | Dlock\ConnectionException', ''],
    'testALaterSaleHasAGreaterFencingToken' => ['$lease->fencingToken', '1'],
    'testFindsAWaitForItself' => ['catch (', 'catch (Dlock\DeadlockException | '],
] as $test => [$right, $wrong]) {
    $copy = temporary_directory();
    exec('cp -r ' . escapeshellarg("$example/.") . ' ' . escapeshellarg($copy));
    $code = file_get_contents("$copy/src/Checkout.php");
    same(1, substr_count($code, $right), "what $test is about");
    file_put_contents("$copy/src/Checkout.php", str_replace($right, $wrong, $code));
    [$status, $output] = phpunit($copy);
    holds($status !== 0 && str_contains($output, "CheckoutTest::$test"), "$test notices a mistake", $status, $output);
}
echo "done\n";
?>
--EXPECT--
done
