<?php
/*
 * Holds sales in the shop and checks their results, with or without a browser. php sale.php DIR [--no-browser];
 * screenshots go to DIR. The last line is the result.
 */
declare(strict_types=1);

require __DIR__ . '/Browser.php';
require __DIR__ . '/Running.php';

const STOCK = 100;
const BUYERS = 500;

/** Seconds that no sale should take. */
const PATIENCE = 120;

$passed = $failed = 0;

function check(string $what, bool $holds, mixed $seen = null): void
{
    global $passed, $failed;
    $holds ? $passed++ : $failed++;
    echo $holds ? 'PASS' : 'FAIL', " $what", $holds || $seen === null ? '' : ': ' . json_encode($seen), "\n";
}

/** @return array{0: int, 1: mixed} status and body */
function request(string $url, ?array $post = null): array
{
    $request = curl_init($url);
    curl_setopt_array($request, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 10] + ($post !== null ? [CURLOPT_POSTFIELDS => http_build_query($post)] : []));
    $body = curl_exec($request);
    return [curl_getinfo($request, CURLINFO_RESPONSE_CODE), json_decode((string) $body, true)];
}

function wait_for(callable $condition, string $what): void
{
    for ($deadline = hrtime(true) + PATIENCE * 1e9; !$condition(); usleep(20_000)) {
        hrtime(true) < $deadline || throw new RuntimeException('waited ' . PATIENCE . " s for $what");
    }
}

/** If a Stock sells, some payments fail, so that some reservations are not confirmed. */
function fails(string $lock): bool
{
    return $lock === 'Stock';
}

/** Opens a sale as the page does, and waits for its end. */
function sell_by_http(string $url, string $lock, bool $hangs): void
{
    [$status] = request("{$url}sale", ['lock' => $lock, 'stock' => STOCK, 'buyers' => BUYERS, 'payment' => 20, 'hangs' => (int) $hangs, 'fails' => (int) fails($lock)]);
    check("$lock: the sale opens", $status === 201, $status);
    wait_for(fn () => request("{$url}state")[1]['sale']['ended'], 'the end of the sale');
}

/**
 * Holds a sale as a visitor does: chooses, presses the button, and reads the page.
 * @param string|null $screenshot file for a screenshot while the sale runs, after 60% of the stock is sold
 * @return array<string, mixed> what the page shows at the end, and ("seen") which workers it showed inside before
 */
function sell_by_page(Browser $browser, string $lock, bool $hangs, ?string $screenshot): array
{
    $browser->click(".lock:has([value=$lock])");
    if ($browser->evaluate('document.querySelector("[name=hangs]").checked') !== $hangs) {
        $browser->click('[name=hangs]');
    }
    if ($browser->evaluate('document.querySelector("[name=fails]").checked') !== fails($lock)) {
        $browser->click('[name=fails]');
    }
    $sales = $browser->evaluate('document.querySelectorAll("#results tbody tr").length');
    $browser->evaluate('(() => {
        window.seen = [];
        new MutationObserver(() => document.body.dataset.sale === "running" && window.seen.push(document.getElementById("who").textContent))
            .observe(document.getElementById("who"), {childList: true});
    })()');
    $browser->click('#start');
    if ($screenshot !== null) { // or of the end, if the browser was too slow
        $browser->waitFor('document.body.dataset.sale === "running" && parseInt(document.getElementById("sold").textContent) > ' . STOCK * 0.6
            . ' && document.getElementById("who").textContent.startsWith("Worker")'
            . " || document.querySelectorAll('#results tbody tr').length > $sales", PATIENCE);
        $browser->screenshot($screenshot);
    }
    $browser->waitFor("document.querySelectorAll('#results tbody tr').length > $sales && document.body.dataset.sale === 'ended'", PATIENCE);
    $browser->evaluate('scrollTo(0, 0)');
    return $browser->evaluate('(() => {
        const text = id => document.getElementById(id).textContent;
        const row = [...document.querySelector("#results tbody tr").cells].map(cell => cell.textContent);
        return {
            mood: document.body.className, sold: text("sold"), oversold: text("oversold"), longest: text("longest"), p99: text("p99"), left: text("left"),
            ordersPerSecond: row[5], overtaken: row[8], atOnce: row[9], token: document.querySelector("#orders tbody tr").cells[2].textContent,
            seen: window.seen,
        };
    })()');
}

/** Confirmed reservations are orders, and the other reservations have expired. */
function check_stock(string $url, string $name, array $orders): void
{
    check("$name: exactly what there was is sold", count($orders) === STOCK, count($orders));
    $state = request("{$url}state")[1];
    $counts = ['state' => 'open', 'available' => 0, 'reserved' => 0, 'sold' => STOCK, 'waiting' => 0, 'uncertain' => null];
    check("$name: the stock knows it", $state['counts'] === $counts && $state['stock'] === 0, [$state['counts'], $state['stock']]);
    $customers = array_column($orders, 'customer');
    check("$name: one unit for each customer", count(array_unique($customers)) === STOCK, $customers);
    $unpaid = array_filter($customers, fn (int $customer) => $customer % 10 === 5);
    check("$name: none for those whose payment fails", $unpaid === [], $unpaid);
    $not_paid = count(array_filter($state['visits'], fn (array $visit) => $visit[5] === 'not paid'));
    check("$name: some had a reservation and did not pay", $not_paid > 0, $not_paid);
    $tokens = array_column($orders, 'fencingToken');
    check("$name: every order has a fencing token of its own", count(array_unique(array_filter($tokens, is_int(...)))) === STOCK, $tokens);
}

/** Checks the shop's records, and that the page shows the same. */
function check_sale(string $url, string $lock, bool $hangs, ?array $page): void
{
    $name = $lock . ($hangs ? ', some payments hang' : '');
    [, $orders] = request("{$url}orders");
    $sold = count($orders);
    $tokens = array_column($orders, 'fencingToken');
    $ours = in_array($lock, ['DistributedLock', 'RedLock', 'ZkLock'], true);
    $unexpected = request("{$url}state")[1]['sale']['unexpected'];
    check("$name: every buyer has an answer that the shop gives", $unexpected === 0, $unexpected);
    if ($ours) {
        check("$name: exactly what there was is sold", $sold === STOCK, $sold);
        check("$name: each order took another unit", array_column($orders, 'left') === range(STOCK - 1, 0), array_column($orders, 'left'));
        $rise = count(array_filter($tokens, is_int(...))) === $sold;
        for ($i = 1; $i < $sold; $i++) {
            $rise = $rise && $tokens[$i] > $tokens[$i - 1];
        }
        check("$name: every order has a fencing token, and they rise", $rise, $tokens);
    } elseif ($lock === 'Stock') {
        check_stock($url, $name, $orders);
    } elseif ($lock === 'none' || $hangs) {
        check("$name: oversells", $sold > STOCK, $sold);
    }
    if ($page !== null) {
        $right = $page['mood'] === ($sold > STOCK ? 'wrong' : 'right') && $page['sold'] === "$sold of " . STOCK
            && $page['oversold'] === (string) max(0, $sold - STOCK) && $page['token'] === (string) (end($tokens) ?: '–');
        check("$name: the page says what the shop has on record", $right, [$page, $sold]);
        $left = (string) request("{$url}state")[1]['stock'];
        check("$name: what is left is what the shop has on record", !$ours && $lock !== 'Stock' || $page['left'] === $left, [$page, $left]);
    }
    if ($page !== null && $sold > STOCK) { // if workers enter one at a time, they cannot oversell
        check("$name: the page has seen more inside than one", $page['atOnce'] > 1, $page);
    }
    if ($page !== null && $ours) {
        check("$name: the page has one inside at a time", $page['atOnce'] === '1', $page);
        $workers = preg_grep('/^Worker \d+$/', $page['seen']);
        check("$name: meanwhile the page has named one worker after the other", count(array_unique($workers)) > 1, $page['seen']);
        check("$name: and never two", preg_grep('/^\d+ workers$/', $page['seen']) === [], $page['seen']);
    }
    printf("     %d sold%s\n", $sold, $page === null ? '' : sprintf(', %s orders/s, p99 wait %s, longest %s, overtaken by %s at most, %s inside at once at most',
        $page['ordersPerSecond'], $page['p99'], $page['longest'], $page['overtaken'], $page['atOnce']));
}

/** Finds texts whose contrast with their background is below the minimum of WCAG 2 (4.5 : 1). */
const FAINT = <<<'JS'
    (() => {
        const parts = colour => colour.match(/[\d.]+/g).map(Number);
        const light = colour => parts(colour).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = element => {
            for (; element; element = element.parentElement) {
                const colour = getComputedStyle(element).backgroundColor;
                if ((parts(colour)[3] ?? 1) === 1) {
                    return colour;
                }
            }
            return 'rgb(255, 255, 255)';
        };
        const faint = [];
        for (const element of document.body.querySelectorAll('*')) {
            const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data.trim()).join('');
            if (text === '' || !element.getClientRects().length || element.tagName === 'SCRIPT') {
                continue;
            }
            const style = getComputedStyle(element);
            const [a, b] = [light(element.tagName === 'text' ? style.fill : style.color), light(behind(element))].sort((a, b) => b - a);
            if ((a + 0.05) / (b + 0.05) < 4.5) {
                faint.push(`${text}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
            }
        }
        return faint;
    })()
    JS;

/** Checks the page in dark mode, on a phone, and for assistive technology. */
function check_page(Browser $browser, string $directory): void
{
    foreach (['light', 'dark'] as $scheme) {
        $browser->appearance(1280, 800, $scheme);
        $faint = $browser->evaluate(FAINT);
        check("$scheme: all texts can be read against what is behind them", $faint === [], $faint);
        $browser->screenshot("$directory/whole-$scheme.png", true);
    }
    foreach (['light', 'dark'] as $scheme) {
        $browser->appearance(390, 844, $scheme);
        $browser->evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
        $width = $browser->evaluate('Math.max(innerWidth, document.documentElement.scrollWidth)'); // wide pages widen it
        check("$scheme, on a phone: nothing is wider than the screen", $width === 390, $width);
        $browser->screenshot("$directory/phone-$scheme.png", true);
    }
    $controls = $browser->accessible('radio', 'combobox', 'checkbox', 'button', 'image', 'table', 'group');
    $nameless = array_values(array_filter($controls, fn (array $control) => trim($control['name']) === '' && $control['role'] !== 'table'));
    check('all controls and charts have names', $nameless === [] && count($controls) >= 15, [$nameless, count($controls)]);
}

/** Notes which labels at the ends of the lines overlap, and at which window widths labels share a height. */
const WATCH_LABELS = <<<'JS'
    (() => {
        window.overlaps = [];
        window.beside = [];
        new MutationObserver(() => {
            const labels = [...document.querySelectorAll('#plot-orders text')].filter(label => /orders|on record/.test(label.textContent));
            if (labels.length < 2) {
                return;
            }
            const [a, b] = labels.map(label => label.getBoundingClientRect());
            if (a.top < b.bottom && b.top < a.bottom) {
                window.beside.push(innerWidth);
                if (a.left < b.right && b.left < a.right) {
                    window.overlaps.push([innerWidth, ...labels.map(label => label.textContent)]);
                }
            }
        }).observe(document.getElementById('plot-orders'), {childList: true});
    })()
    JS;

/** Reloads after a sale of this page, and during and after a sale that another client opened with other values. */
function check_reloads(Browser $browser, string $url): void
{
    $choices = function (string $state) use ($browser): array {
        $browser->reload();
        $browser->waitFor("document.body.dataset.sale === '$state'");
        return $browser->evaluate('(({lock, stock, buyers, payment, hangs, fails}) =>
            [lock.value, stock.value, buyers.value, payment.value, hangs.checked, fails.checked])(document.getElementById("form"))');
    };
    $lock = request("{$url}state")[1]['sale']['lock'];
    $seen = $choices('ended');
    check('a reload after a sale shows the choices of that sale', $seen === [$lock, (string) STOCK, (string) BUYERS, '20', true, fails($lock)], $seen);

    // The 40th payment hangs: for 3 s there are 39 orders, and 51 units are left on record.
    request("{$url}sale", ['lock' => 'DistributedLock', 'stock' => 90, 'buyers' => 120, 'payment' => 60, 'hangs' => 1, 'fails' => 0]);
    $seen = $choices('running');
    $expected = ['DistributedLock', '90', '120', '60', true, false];
    check('a reload during a sale shows the choices of that sale', $seen === $expected, $seen);
    $browser->evaluate(WATCH_LABELS);
    foreach ([390, 1280] as $width) {
        $browser->appearance($width, 800, 'light');
        $browser->waitFor("window.beside.includes($width) || document.body.dataset.sale === 'ended'", PATIENCE);
    }
    $browser->waitFor('document.body.dataset.sale === "ended"', PATIENCE);
    [$overlaps, $beside] = $browser->evaluate('[window.overlaps, [...new Set(window.beside)]]');
    check('the labels of orders and stock come to the same height, on a phone and on a desk', $beside === [390, 1280], $beside);
    check('and never overlap', $overlaps === [], $overlaps);
    $seen = $choices('ended');
    check('a reload after a sale that was opened elsewhere shows its choices', $seen === $expected, $seen);
}

/** Without a lock, the stock is wrong even if there are too few buyers to oversell. */
function check_forgotten(Browser $browser, string $url): void
{
    request("{$url}sale", ['lock' => 'none', 'stock' => 300, 'buyers' => 100, 'payment' => 20, 'hangs' => 0, 'fails' => 0]);
    $browser->reload();
    $browser->waitFor('document.body.dataset.sale === "ended"', PATIENCE);
    $left = array_slice(request("{$url}orders")[1], -1)[0]['left'];
    $mood = $browser->evaluate('document.body.className');
    check('sales that the stock has forgotten are no good sale', $left > 200 && $mood === 'wrong', [$left, $mood]);
}

/** Checks the page /four, which plays four sales at the same time. */
function check_four(Browser $browser, string $url, string $directory): void
{
    $browser->appearance(1280, 800, 'light');
    $browser->open("{$url}four");
    $browser->waitFor('document.getElementById("start") !== null');
    $browser->click('#start');
    $browser->waitFor('["ended", "failed"].includes(document.body.dataset.state)', 4 * PATIENCE);
    $seen = $browser->evaluate('Object.fromEntries([...document.querySelectorAll(".way")].map(way => [way.id, [way.className, way.querySelector(".n").textContent]]))');
    $exact = ['way right', STOCK . ' of ' . STOCK];
    check('four: the lock and the stock sell exactly what there is', ($seen['DistributedLock'] ?? null) === $exact && ($seen['Stock'] ?? null) === $exact, $seen);
    check('four: without a lock the page shows the oversold', ($seen['none'][0] ?? null) === 'way wrong', $seen);
    $browser->screenshot("$directory/four-ways.png");
    foreach (['light', 'dark'] as $scheme) {
        $browser->appearance(390, 844, $scheme);
        $browser->evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
        $width = $browser->evaluate('Math.max(innerWidth, document.documentElement.scrollWidth)');
        $faint = $browser->evaluate(FAINT);
        check("four, $scheme, on a phone: nothing is wider than the screen, and all texts can be read", $width === 390 && $faint === [], [$width, $faint]);
    }
}

/** Checks the requests and complaints that the browser has noted during the test. */
function check_log(Browser $browser, string $url): void
{
    $elsewhere = array_values(array_filter($browser->requests, fn (string $address) => !str_starts_with($address, $url) && !str_starts_with($address, 'data:')));
    check('the page asks nobody but the shop', $elsewhere === [] && $browser->requests !== [], $elsewhere);
    check("the browser's console has no errors or warnings", $browser->complaints === [], $browser->complaints);
}

function check_refusals(string $url): void
{
    [$status, $body] = request("{$url}sale", ['lock' => 'padlock']);
    check('a sale with a lock that there is not is refused', $status === 400 && str_starts_with($body['error'], 'lock: '), [$status, $body]);
    [$status, $body] = request("{$url}sale", ['lock' => 'none', 'stock' => 100, 'buyers' => 'many']);
    check('so is one with buyers that are no number', $status === 400 && str_starts_with($body['error'], 'buyers: '), [$status, $body]);
    [$status, $body] = request("{$url}sale", ['lock' => 'Stock', 'stock' => 20, 'buyers' => 50, 'payment' => 20, 'hangs' => 0]);
    check('and one that does not say whether payments fail', $status === 400 && str_starts_with($body['error'], 'fails: '), [$status, $body]);
    [$status] = request("{$url}sale", ['lock' => 'DistributedLock', 'stock' => 20, 'buyers' => 50, 'payment' => 20, 'hangs' => 0, 'fails' => 0]);
    [$second] = request("{$url}sale", ['lock' => 'none', 'stock' => 20, 'buyers' => 50, 'payment' => 20, 'hangs' => 0, 'fails' => 0]);
    check('there is one sale at a time', [$status, $second] === [201, 409], [$status, $second]);
    wait_for(fn () => request("{$url}state")[1]['sale']['ended'], 'the end of the sale');
}

/** Ends the shop by a signal in the middle of a sale, and checks that nothing is left. */
function check_end(Running $shop, string $signal): void
{
    request("{$shop->url}sale", ['lock' => 'DistributedLock', 'stock' => 100, 'buyers' => 500, 'payment' => 20, 'hangs' => 0, 'fails' => 0]);
    wait_for(fn () => request("{$shop->url}state")[1]['visits'] !== [], 'the first buyer');
    $processes = $shop->processes();
    $shop->end(constant($signal));
    if ($signal === 'SIGKILL') { // then other processes stop the servers, when they notice
        wait_for(fn () => $shop->processes() === [], 'the end of the servers');
    }
    $left = array_filter($processes, fn (int $pid) => Running::parent($pid) !== null, ARRAY_FILTER_USE_KEY) + $shop->processes();
    // 27 of php-fpm, 2 of nginx, 7 Redis servers, ZooKeeper, the crowd, and the processes that start and watch them.
    check("$signal in the middle of a sale ends all of its " . count($processes) . ' processes', count($processes) >= 40 && $left === [], [$left, $processes]);
    check("$signal: its port is free", request($shop->url)[0] === 0);
    if ($signal !== 'SIGKILL') {
        check("$signal: its files are gone", !file_exists($shop->directory()));
    }
}

function main(string $directory, bool $with_browser): void
{
    $shop = new Running();
    echo "The shop is at $shop->url\n";
    $type = get_headers($shop->url, true)['Content-Type'] ?? null;
    check('the page says in which encoding it is', $type === 'text/html; charset=utf-8', $type);
    $browser = null;
    if ($with_browser) {
        $browser = new Browser($directory);
        $browser->appearance(1280, 800, 'light');
        $browser->open($shop->url);
        $browser->waitFor('document.body.dataset.sale === "none" && !document.getElementById("start").disabled');
        $browser->screenshot("$directory/ready.png");
    }
    foreach ([
        ['none', false, 'no-lock'],
        ['SetnxLock', false, null],
        ['QuorumLock', false, null],
        ['DistributedLock', false, 'distributed-lock'],
        ['RedLock', false, null],
        ['ZkLock', false, null],
        ['Stock', false, 'stock'],
        ['SetnxLock', true, 'setnx-payments-hang'],
        ['QuorumLock', true, null],
        ['DistributedLock', true, 'distributed-lock-payments-hang'],
        ['RedLock', true, null],
        ['Stock', true, null],
        ['ZkLock', true, null],
    ] as [$lock, $hangs, $screenshot]) {
        if (!in_array($lock, request("{$shop->url}shop")[1]['locks'], true)) {
            echo "     $lock: this build of the extension has none\n";
            continue;
        }
        $page = null;
        if ($browser !== null) {
            $page = sell_by_page($browser, $lock, $hangs, $screenshot === 'distributed-lock' ? "$directory/selling.png" : null);
            if ($screenshot !== null) {
                $browser->screenshot("$directory/$screenshot.png");
            }
        } else {
            sell_by_http($shop->url, $lock, $hangs);
        }
        check_sale($shop->url, $lock, $hangs, $page);
    }
    if ($browser !== null) {
        check_page($browser, $directory);
        check_reloads($browser, $shop->url);
        check_forgotten($browser, $shop->url);
        check_four($browser, $shop->url, $directory);
        check_log($browser, $shop->url);
        $browser->close();
    }
    check_refusals($shop->url);
    check_end($shop, 'SIGTERM');
    $shop = new Running();
    check_end($shop, 'SIGKILL');
    exec('rm -rf ' . escapeshellarg($shop->directory()));
}

try {
    main($argv[1], ($argv[2] ?? '') !== '--no-browser');
} catch (Throwable $error) {
    check('the test comes to its end', false, (string) $error);
}
echo "$passed passed, $failed failed\n";
exit($failed > 0 ? 1 : 0);
