<?php
/* Tests of the checker: small histories, some right, some with one violation each. Prints "N passed, N failed". */
declare(strict_types=1);

require __DIR__ . '/inc/properties.php';

const MS = 1_000_000;

/** A lease in times of ms: when it was requested and granted, and the looks that found it held. */
function lease(int $n, int $asked, int $answered, array $looks, int $fence, string $resource = 'r', float $timeout = 1.0): array
{
    $entries = [
        ['o' => 'ask', 'n' => $n, 'r' => $resource, 'timeout' => $timeout, 't0' => $asked * MS],
        ['o' => 'got', 'n' => $n, 't0' => $asked * MS, 't1' => $answered * MS, 'ok' => true, 'fence' => $fence, 'e' => null],
    ];
    foreach ($looks as $look) {
        $entries[] = ['o' => 'held', 'n' => $n, 't0' => $look * MS, 't1' => ($look + 1) * MS, 'held' => true];
    }
    return $entries;
}

function at(string $what, int $n, int $from, array $more): array
{
    return [['o' => $what, 'n' => $n, 't0' => $from * MS, 't1' => ($from + 1) * MS] + $more];
}

/** @param array<string, list<array>> $clients by name: lists of entries */
function history(array $clients, array $runner = []): History
{
    $history = new History();
    $history->addRunner($runner);
    foreach ($clients as $name => $lists) {
        $history->addClient($name, array_merge(...$lists));
    }
    return $history;
}

$passed = $failed = 0;
/** @param list<string> $expected the properties that it violates */
function check(string $what, History $history, array $expected = []): void
{
    global $passed, $failed;
    $found = array_keys(array_filter(violations($history)));
    $good = $found === $expected;
    $good ? $passed++ : $failed++;
    echo $good ? 'PASS' : 'FAIL', " $what", $good ? '' : ': expected [' . implode(', ', $expected) . '], found [' . implode(', ', $found) . ']', "\n";
}

[$holders, $permits, $tokens, $record, $oversold, $sales, $limit, $books, $waiters, $turns, $names, $free, $left, $children, $crashes] = array_keys(PROPERTIES);
$stop = fn (string $name, int $from, int $to) => ['o' => 'fault', 'kind' => 'client stop', 'name' => $name, 't0' => $from * MS, 't1' => $to * MS];
$open = fn (int $fence, string $id) => ['o' => 'record', 'r' => 'r', 'entry' => "open $fence $id"];
$update = fn (int $fence, string $id, int $value) => ['o' => 'record', 'r' => 'r', 'entry' => "update $fence $id $value"];

// One holder at a time
check('one after the other', history(['a' => [lease(1, 0, 10, [11, 50], 1)], 'b' => [lease(1, 5, 60, [61, 70], 2)]]));
check('two resources at a time', history(['a' => [lease(1, 0, 10, [11, 50], 1)], 'b' => [lease(1, 5, 20, [21, 70], 2, 's')]]));
check('two holders', history(['a' => [lease(1, 0, 10, [11, 50], 1)], 'b' => [lease(1, 5, 40, [41, 70], 2)]]), [$holders]);
check('a look that began before the other had it', history(['a' => [lease(1, 0, 10, [39], 1)], 'b' => [lease(1, 5, 40, [41], 2)]]));
check('one that holds within the time of another', history(['a' => [lease(1, 0, 10, [11, 90], 1)], 'b' => [lease(1, 5, 40, [41, 50], 2)],
    'c' => [lease(1, 60, 95, [96], 3)]]), [$holders]);
check('one that never looks', history(['a' => [lease(1, 0, 10, [11, 50], 1)], 'b' => [lease(1, 5, 40, [], 2)]]));
check('two holders, by what release() says', history(['a' => [lease(1, 0, 10, [11], 1), at('released', 1, 50, ['ok' => true])],
    'b' => [lease(1, 5, 40, [41], 2)]]), [$holders]);
check('a release that says no', history(['a' => [lease(1, 0, 10, [11], 1), at('released', 1, 50, ['ok' => false])],
    'b' => [lease(1, 5, 40, [41], 2)]]));
check('two holders, without fencing tokens', history(['a' => [lease(1, 0, 10, [], 1), at('released', 1, 50, ['ok' => true])],
    'b' => [lease(1, 5, 40, [], 2), at('released', 1, 60, ['ok' => true])]]), [$holders]);

$several = function (array $resources, array $entries): array {
    $entries[0]['pieces'] = array_fill_keys($resources, 1);
    return $entries;
};
check('several at once, and one that none of them is', history(['a' => [$several(['r', 's'], lease(1, 0, 10, [11, 50], 1))], 'b' => [lease(1, 5, 40, [41, 70], 2, 't')]]));
check('several at once, one of which another one holds', history(['a' => [$several(['r', 's'], lease(1, 0, 10, [11, 50], 1))], 'b' => [lease(1, 5, 40, [41, 70], 2, 's')]]), [$holders]);
check('a token that falls, of several at once', history(['a' => [$several(['r', 's'], lease(1, 0, 10, [11, 50], 2))], 'b' => [lease(1, 5, 60, [61, 70], 1, 's')]]), [$tokens]);

// Fencing tokens
check('a token that falls', history(['a' => [lease(1, 0, 10, [11, 50], 2)], 'b' => [lease(1, 5, 60, [61, 70], 1)]]), [$tokens]);
check('a token that stays', history(['a' => [lease(1, 0, 10, [11, 50], 2)], 'b' => [lease(1, 5, 60, [61, 70], 2)]]), [$tokens]);
check('a token that falls in real time', history(['a' => [lease(1, 0, 10, [], 2)], 'b' => [lease(1, 20, 60, [], 1)]]), [$tokens]);
check('a token that falls behind one two before', history(['a' => [lease(1, 0, 10, [11], 5)], 'b' => [lease(1, 20, 30, [31], 6)],
    'c' => [lease(1, 40, 50, [51], 4)]]), [$tokens]);
check('tokens of two that asked at a time and did not hold', history(['a' => [lease(1, 0, 50, [], 1)], 'b' => [lease(1, 5, 40, [], 2)]]));

// Permits
$of = function (int $permits, int $of, array $entries): array {
    $entries[0] += ['permits' => $permits, 'of' => $of];
    return $entries;
};
check('permits for all', history(['a' => [$of(1, 3, lease(1, 0, 10, [50], 1))], 'b' => [$of(2, 3, lease(1, 5, 20, [60], 2))]]));
check('a permit too many', history(['a' => [$of(2, 3, lease(1, 0, 10, [50], 1))], 'b' => [$of(2, 3, lease(1, 5, 20, [60], 2))]]), [$permits]);
check('a permit too many, of the third', history(['a' => [$of(1, 3, lease(1, 0, 10, [50], 1))], 'b' => [$of(1, 3, lease(1, 5, 20, [60], 2))],
    'c' => [$of(2, 3, lease(1, 5, 30, [60], 3))]]), [$permits]);
check('a permit that was given back', history(['a' => [$of(2, 3, lease(1, 0, 10, [50], 1))], 'b' => [$of(2, 3, lease(1, 5, 51, [60], 2))]]));
check('tokens of holders that meet', history(['a' => [$of(1, 3, lease(1, 0, 10, [50], 2))], 'b' => [$of(2, 3, lease(1, 5, 20, [60], 1))]]));
check('a token that falls, of holders that exclude each other', history(['a' => [$of(2, 3, lease(1, 0, 10, [50], 2))], 'b' => [$of(1, 3, lease(1, 5, 20, [60], 3))],
    'c' => [$of(2, 3, lease(1, 5, 70, [80], 1))]]), [$tokens]);
$reader = $of(1, 9, lease(1, 0, 10, [20], 1));
$writer = $of(9, 9, lease(2, 15, 20, [30], 3));
check('a reader that becomes the writer', history(['a' => [$reader, $writer], 'b' => [$of(1, 9, lease(1, 0, 10, [19], 2))]]));
check('a reader that becomes the writer while another one reads', history(['a' => [$reader, $writer], 'b' => [$of(1, 9, lease(1, 0, 10, [21], 2))]]), [$permits]);

// Stocks: b wants 2 of the 3 units that a added
$trade = fn (string $what, int $n, int $asked, ?int $answered, mixed $result, string $id = 'b/1', ?string $error = null, int $pieces = 2, bool $ok = false) => [
    ['o' => 'ask', 'n' => $n, 'r' => 'r', 'permits' => 0, 'of' => 0, 'timeout' => 0.0, 't0' => $asked * MS, 'what' => $what, 'id' => $id, 'pieces' => ['r' => $pieces]],
    ...($answered === null ? [] : [['o' => 'got', 'n' => $n, 't0' => $asked * MS, 't1' => $answered * MS, 'ok' => $ok, 'fence' => null, 'e' => $error, 'result' => $result]])];
$reserve = fn (int $n, int $asked, int $answered, int $until, string $id = 'b/1', int $pieces = 2) => [...$trade('reserve', $n, $asked, $answered, ['left' => 1.0], $id, null, $pieces, true),
    ['o' => 'held', 'n' => $n, 't0' => $until * MS, 't1' => $until * MS, 'held' => true]];
$in = $trade('restock', 1, 0, 1, 3, 'change', null, 3);
$sold = fn (array $sold, int $reserved = 0, int $stock = 3) => [['o' => 'stock', 'r' => 'r', 'stock' => $stock, 'sold' => $sold, 'changes' => ['change' => 3], 'reserved' => $reserved]];
$expired = 'Dlock\\ReservationExpiredException: over';
$token = function (int $fence, array $articles, array $entries): array {
    $entries[0]['pieces'] = array_fill_keys($articles, 1);
    $entries[1]['fence'] = $fence;
    return $entries;
};
$all = $trade('restock', 9, 0, 1, 3, 'change', null, 3);
$all[0]['pieces'] = ['r' => 3, 's' => 3];
check('tokens of several articles', history(['a' => [$all], 'b' => [$token(5, ['r'], $reserve(1, 2, 3, 3, pieces: 1)), $token(6, ['r', 's'], $reserve(2, 5, 6, 6, 'b/2', 1))]]));
check('a token that falls, of several articles', history(['a' => [$all], 'b' => [$token(5, ['r'], $reserve(1, 2, 3, 3, pieces: 1)), $token(5, ['r', 's'], $reserve(2, 5, 6, 6, 'b/2', 1))]]), [$tokens]);
check('pieces for all', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9)], 'c' => [$reserve(1, 2, 4, 9, 'c/1', 1)]]));
check('a piece too many', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9)], 'c' => [$reserve(1, 2, 4, 9, 'c/1')]]), [$oversold]);
check('pieces that were given back', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('cancel', 2, 10, 12, true)], 'c' => [$reserve(1, 2, 11, 19, 'c/1')]]));
check('one order of two processes', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9)], 'c' => [$reserve(1, 2, 4, 9)]]));
check('pieces before they are there', history(['a' => [$trade('restock', 1, 8, 9, 3, 'change', null, 3)], 'b' => [$reserve(1, 2, 3, 9)]]), [$oversold]);
check('a piece too many, of what was bought', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, 11, true)], 'c' => [$reserve(1, 2, 14, 19, 'c/1')]]), [$oversold]);
check('bought late, while another one has it', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 40, 41, true)], 'c' => [$reserve(1, 2, 14, 60, 'c/1')]]), [$oversold]);
check('bought late, when another one has it no more', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 40, 41, true)], 'c' => [$reserve(1, 2, 14, 19, 'c/1')]]));
check('bought and sold', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, 11, true)]], $sold(['b/1' => 2])));
check('bought, perhaps', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, null, null)]], $sold(['b/1' => 2])));
check('not bought, perhaps', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, null, null)]], $sold([])));
check('bought and not sold', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, 11, true)]], $sold([])), [$sales]);
check('sold and not bought', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, 11, null, error: $expired)]], $sold(['b/1' => 2])), [$sales]);
check('bought, and over after that', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, 11, true), $trade('confirm', 3, 12, 13, null, error: $expired)]], $sold(['b/1' => 2])), [$sales]);
check('bought by its name, which had been reserved before', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, 11, true), $trade('confirm', 3, 12, 13, null, error: 'Dlock\\ReservationExpiredException: its name was reserved anew')]], $sold(['b/1' => 2])));
check('bought, and given back', history(['a' => [$in], 'b' => [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, 11, true), $trade('cancel', 3, 12, 13, true)]], $sold(['b/1' => 2])), [$sales]);
check('a change that is made twice', history(['a' => [$in]], $sold([], stock: 6)), [$sales]);
check('what is reserved for ever', history(['a' => [$in]], $sold([], reserved: 1)), [$sales]);
$much = Setting::PER_BUYER + 1;
check('more than the limit', history(['a' => [$trade('restock', 1, 0, 1, $much, 'change', null, $much)], 'b' => [$reserve(1, 2, 3, 9, pieces: $much), $trade('confirm', 2, 10, 11, true, pieces: $much)]]), [$limit]);
$counts = fn (int $available, int $reserved, int $sold) => $trade('counts', 9, 20, 21, ['available' => $available, 'reserved' => $reserved, 'sold' => $sold], '', null, 0);
$bought = [$reserve(1, 2, 3, 9), $trade('confirm', 2, 10, 11, true)];
check('a look', history(['a' => [$in], 'b' => $bought, 'c' => [$counts(1, 0, 2)]]));
check('a look that misses a piece', history(['a' => [$in], 'b' => $bought, 'c' => [$counts(0, 0, 2)]]), [$books]);
$out = fn (int $asked, ?int $answered) => $trade('restock', 2, $asked, $answered, -1, 'back', null, -1);
check('a look while a piece is taken out', history(['a' => [$in, $out(21, 22)], 'b' => $bought, 'c' => [$counts(0, 0, 2)]]));
check('a look while a piece is taken out, before that', history(['a' => [$in, $out(19, 20)], 'b' => $bought, 'c' => [$counts(1, 0, 2)]]));
check('a look before a piece is taken out', history(['a' => [$in, $out(22, 23)], 'b' => $bought, 'c' => [$counts(0, 0, 2)]]), [$books]);
check('a look at a piece that was taken out', history(['a' => [$in, $out(18, 19)], 'b' => $bought, 'c' => [$counts(1, 0, 2)]]), [$books]);
check('a look that misses a sale', history(['a' => [$in], 'b' => $bought, 'c' => [$counts(3, 0, 0)]]), [$books]);
check('books that are wrong', history(['a' => [[['o' => 'audit', 'wrong' => ['r: 2 permits of 3']]]]]), [$books]);

// The record
$a = lease(1, 0, 10, [11, 50], 1);
$b = lease(1, 5, 60, [61, 70], 2);
check('updates', history(['a' => [$a, at('update', 1, 12, ['id' => 'a1', 'ok' => true])]], [$open(1, 'a'), $update(1, 'a1', 1), $open(2, 'b'), $update(2, 'b1', 2)]));
check('an update of another holder', history([], [$open(1, 'a'), $open(2, 'b'), $update(1, 'a1', 1)]), [$record]);
check('an update that is overwritten', history([], [$open(1, 'a'), $update(1, 'a1', 1), $open(2, 'b'), $update(2, 'b1', 1)]), [$record]);
check('an update taken twice', history([], [$open(1, 'a'), $update(1, 'a1', 1), $update(1, 'a1', 2)]), [$record]);
check('an accepted update that is not there', history(['a' => [$a, at('update', 1, 12, ['id' => 'a1', 'ok' => true])]], [$open(1, 'a')]), [$record]);
check('a value that nobody set', history([], [$open(1, 'a'), $update(1, 'a1', 1), ['o' => 'value', 'r' => 'r', 'value' => 3]]), [$record]);
check('the record opened with a lesser token', history([], [$open(2, 'a'), $open(1, 'b')]), [$record]);
check('refused by the record, and holds', history(['a' => [lease(1, 0, 10, [11], 1), at('open', 1, 20, ['value' => -1]),
    at('held', 1, 30, ['held' => true])]]), [$record]);
check('refused by the record, and lost', history(['a' => [lease(1, 0, 10, [11], 1), at('open', 1, 20, ['value' => -1]),
    at('held', 1, 30, ['held' => false])]]));

// Waiters
$late = (int) (1000 + Setting::MARGIN * 1000);
check('answered in time', history(['a' => [lease(1, 0, $late - 1, [], 1)]]));
check('answered late', history(['a' => [lease(1, 0, $late + 1, [], 1)]]), [$waiters]);
check('answered late, but stopped meanwhile', history(['a' => [lease(1, 0, $late + 1, [], 1)]], [$stop('a', 500, 600)]));
check('answered late, but stopped before another program took its process over', history(['ax2' => [lease(1, 0, $late + 1, [], 1)]], [$stop('ax1', 500, 600)]));
check('answered late, and stopped at another time', history(['a' => [lease(1, 0, $late + 1, [], 1)]], [$stop('a', $late + 10, $late + 900)]), [$waiters]);
check('answered late, another one stopped', history(['a' => [lease(1, 0, $late + 1, [], 1)]], [$stop('b', 500, 600)]), [$waiters]);
check('never answered', history([], [['o' => 'stuck', 'name' => 'a', 't0' => 0]]), [$waiters]);

// Handles: a client that attaches a lease is a new holder, with a new token
$again = fn (array $attempts, bool $ok) => [...$attempts, ['o' => 'attach', 'n' => 1, 't' => 0, 'ok' => $ok, 'again' => true]];
$refused = [['o' => 'ask', 'n' => 1, 'r' => 'r', 'timeout' => 0.0, 't0' => 20 * MS],
    ['o' => 'got', 'n' => 1, 't0' => 20 * MS, 't1' => 30 * MS, 'ok' => false, 'fence' => null, 'e' => 'Dlock\\LeaseLostException']];
check('a handle that is attached once', history(['a' => [lease(1, 0, 10, [11, 15], 1)], 'ah1a' => [lease(1, 20, 30, [31, 60], 2)], 'ah1b' => [$again($refused, false)]]));
check('a handle that is attached twice', history(['a' => [lease(1, 0, 10, [11, 15], 1)], 'ah1a' => [lease(1, 20, 30, [31, 60], 2)],
    'ah1b' => [$again(lease(1, 20, 40, [41], 3), true)]]), [$holders]);
check('a handle that is attached twice, with one token', history(['a' => [lease(1, 0, 10, [11, 15], 1)], 'ah1a' => [lease(1, 20, 30, [31], 2)],
    'ah1b' => [$again(lease(1, 20, 40, [41], 2), true)]]), [$tokens]);
check('a handle that is attached without a new token', history(['a' => [lease(1, 0, 10, [11, 15], 1)], 'ah1a' => [lease(1, 20, 30, [31, 60], 1)]]), [$tokens]);
check('a child that attaches late, stopped with its parent', history(['ah1a' => [lease(1, 0, $late, [], 1, timeout: 0.0)]], [$stop('a', 500, 1600)]));

// Contests: rounds in which each of $names has a turn of 1 ms, then $more
$contest = function (int $rounds, array $names, array $more = [], int $until = 10_000): History {
    $clients = array_fill_keys(['a', 'b', 'c'], [[]]);
    for ($i = $n = 0; $i < $rounds; $i++) {
        foreach ($names as $k => $name) {
            $n++;
            $clients[$name][] = lease($n, 10 * $n - 5, 10 * $n, [10 * $n + 1], $n, 'contest', 60.0);
        }
    }
    return history(array_merge_recursive($clients, $more), [['o' => 'contest', 'r' => 'contest', 't0' => 0, 't1' => $until * MS, 'names' => ['a', 'b', 'c']]]);
};
$waits = fn (int $n, int $asked) => [['o' => 'ask', 'n' => $n, 'r' => 'contest', 'timeout' => 60.0, 't0' => $asked * MS]];
$few = Setting::LEAST_TURNS;
check('turns for everybody', $contest($few, ['a', 'b', 'c']));
check('too few turns to tell', $contest($few - 1, ['a', 'b', 'c']), [$turns]);
check('turns after the end do not count', $contest($few, ['a', 'b', 'c'], until: 200), [$turns]);
check('fewer turns for one, but a share', $contest($few, ['a', 'b', 'a', 'b', 'c']));
check('no turn for one', $contest($few, ['a', 'b', 'a', 'b']), [$turns]);
check('no turn for one that waits', $contest($few, ['a', 'b', 'a', 'b'], ['c' => [$waits(1, 1)]]), [$turns]);
$all = Setting::MOST_TURNS_BEFORE;
check('one that waits while another has some turns', $contest($all, ['a', 'b', 'c'], ['c' => [$waits(1000, 5)]]));
check('one that waits while another has turn after turn', $contest($all + 1, ['a', 'b', 'c'], ['c' => [$waits(1000, 5)]]), [$turns]);
check('one that waits no longer than others', $contest($all + 1, ['a', 'b', 'c'], ['c' => [$waits(1000, 25)]]));

// After the faults
check('a lease that is lost by a name', history([], [['o' => 'lost by name', 'what' => 'lost']]), [$names]);
$probe = fn (bool $ok, int $ms) => ['o' => 'probe', 'r' => 'r', 'what' => 'free', 'limit' => 5, 'ok' => $ok, 't0' => 0, 't1' => $ms * MS, 'e' => null];
check('a lock that is free', history([], [$probe(true, 4999)]));
check('a lock that is free late', history([], [$probe(true, 5001)]), [$free]);
check('a lock that is not free', history([], [$probe(false, 100)]), [$free]);

// What is left
$sizes = fn (int ...$fds) => ['a' => array_map(fn (int $fds) => at('resources', 0, 0, ['t' => 0, 'fds' => $fds, 'threads' => 1, 'rss' => 9000]), $fds)];
check('a key that is left', history([], [['o' => 'left', 'what' => 'a key', 'after' => 75]]), [$left]);
check('descriptors that stay', history($sizes(3, 10, 10, 12, 10, 12)));
check('descriptors that leak', history($sizes(3, 10, 20, 30, 40, 50)), [$left]);
check('sockets that survive exec()', history(['a' => [[['o' => 'start', 'sockets' => 1]]]]), [$left]);

// Children and crashes
$child = fn (bool $held, mixed $released) => history(['c' => [[['o' => 'child', 'parent' => 'a/1', 't' => 0, 'held' => $held, 'released' => $released]]]]);
check('a child that has nothing', $child(false, false));
check('a child that holds', $child(true, false), [$children]);
check('a child that releases', $child(false, true), [$children]);
$ended = fn (int $signal, int $code) => history([], [['o' => 'ended', 'name' => 'a', 'signal' => $signal, 'code' => $code, 'killed' => false, 't' => 0]]);
check('ended as it should', $ended(0, 0));
check('killed', $ended(SIGKILL, -1));
check('a crash', $ended(SIGSEGV, -1), [$crashes]);
check('a fatal error', $ended(0, 255), [$crashes]);

echo "$passed passed, $failed failed\n";
exit($failed > 0 ? 1 : 0);
