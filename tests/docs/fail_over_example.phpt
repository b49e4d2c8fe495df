--TEST--
Documentation: the example of a sale across a failover sells exactly the stock, keeps the held lock, and plots the sale
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$picture = temporary_directory() . '/sales.svg';
exec(escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY) . ' ' . php_options() . ' '
    . escapeshellarg(dirname(__DIR__, 2) . '/examples/fail-over/sale.php') . ' 80 10 ' . escapeshellarg($picture) . ' 2>&1', $output, $status);
$output = implode("\n", $output);
$says = fn (string $pattern) => holds(preg_match($pattern, $output) === 1, "it says $pattern", $status, $output);

$says('/^sold: 80 of 80, each of them once, fencing tokens rise$/m');
$says('/^Sentinel switched \d+\.\d s after the master was killed, and sales went on \d+\.\d s after that: \d+\.\d s without sales$/m');
$says('/^ +0\.0 s  .*← master killed/mu');
$says('/← Sentinel switched(?:, sales go on)?$/mu');
$says('/█ \d+ +← (?:Sentinel switched, )?sales go on$/mu');
// An election without a winner takes longer than the lease, and so do two failovers. Then the lock is lost, and the
// example reports it.
$kept = str_contains($output, 'the lock for stocktaking was kept over the fail-over');
$says($kept ? '/^Sentinel switched \d/m' : '/^Sentinel switched (?:(?:[5-9]|\d\d+)\.\d s|\d+ times$)/m');
same($kept ? 0 : 1, $status, 'its exit status');

$svg = file_get_contents($picture);
holds(substr_count($svg, '<rect') >= 4 && str_contains($svg, 'sales go on') && str_ends_with($svg, "</svg>\n"), 'the plot', $svg);
echo "done\n";
?>
--EXPECT--
done
