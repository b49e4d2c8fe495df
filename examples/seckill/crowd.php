<?php
/*
 * The crowd. It waits for a sale to open, and sends all its buyers to the shop over HTTP. When the last buyer has an
 * answer, it reports the end of the sale.
 * php crowd.php URL, with SHOP_REDIS in the environment.
 */
declare(strict_types=1);

require_once __DIR__ . '/shop/common.php';

/** Connections that are open at a time. They are far more than the workers, so that buyers queue. */
const CONNECTIONS = 200;

/** @return array<int, int> the number of answers with each status; 0: no answer */
function send_buyers(string $url, int $buyers): array
{
    $crowd = curl_multi_init();
    curl_multi_setopt($crowd, CURLMOPT_MAX_TOTAL_CONNECTIONS, CONNECTIONS);
    for ($customer = 1; $customer <= $buyers; $customer++) {
        $buyer = curl_init("$url/buy");
        curl_setopt_array($buyer, [
            CURLOPT_POSTFIELDS => "customer=$customer",
            CURLOPT_FORBID_REUSE => true, // each buyer has its own browser
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => 300,
        ]);
        curl_multi_add_handle($crowd, $buyer);
    }
    $answers = [];
    do {
        curl_multi_exec($crowd, $running);
        while ($done = curl_multi_info_read($crowd)) {
            $status = $done['result'] === CURLE_OK ? curl_getinfo($done['handle'], CURLINFO_RESPONSE_CODE) : 0;
            $answers[$status] = ($answers[$status] ?? 0) + 1;
            curl_multi_remove_handle($crowd, $done['handle']);
        }
        if ($running) {
            curl_multi_select($crowd);
        }
    } while ($running);
    return $answers;
}

$redis = database();
$redis->setOption(Redis::OPT_READ_TIMEOUT, -1);
while (true) {
    [, $id] = $redis->blPop('crowd', 0);
    $buyers = (int) $redis->hGet('sale', 'buyers');
    $redis->hSet('sale', 'began', (string) hrtime(true));
    $answers = send_buyers($argv[1], $buyers);
    $expected = array_intersect_key($answers, [201 => 0, 402 => 0, 410 => 0, 503 => 0]);
    $redis->hMSet('sale', ['unexpected' => $buyers - array_sum($expected), 'ended' => 1]);
    $redis->del('sale:open');
    if ($expected != $answers) {
        fwrite(STDERR, "sale $id: answers by status: " . json_encode($answers) . "\n");
    }
}
