<?php
/* The properties of stocks. If a request has no answer, it may have been executed, at any time since. */
declare(strict_types=1);

require_once __DIR__ . '/history.php';
require_once __DIR__ . '/setting.php';

/** The id of a reservation, encoded as buyers log it, in whichever form the server has it. */
function encoded(string $id): string
{
    return implode('/', array_map(fn (string $name) => rawurlencode(rawurldecode($name)), explode('/', $id)));
}

/** A number that changes with time. */
final class Steps
{
    /** @var list<array{int, int}> */
    private array $changes = [];
    private bool $sorted = false;

    public function add(int $time, int $change): void
    {
        $this->changes[] = [$time, $change];
        $this->sorted = false;
    }

    /** @return int its value just before */
    public function before(int $time): int
    {
        $this->sort();
        for ($low = 0, $high = count($this->changes); $low < $high;) {
            $middle = intdiv($low + $high, 2);
            $this->changes[$middle][0] < $time ? $low = $middle + 1 : $high = $middle;
        }
        return $low > 0 ? $this->changes[$low - 1][1] : 0;
    }

    private function sort(): void
    {
        if (!$this->sorted) {
            usort($this->changes, fn (array $a, array $b) => $a[0] <=> $b[0]);
            for ($sum = $i = 0; $i < count($this->changes); $i++) {
                $sum = $this->changes[$i][1] += $sum;
            }
            $this->sorted = true;
        }
    }
}

/** All calls for one reservation. */
final class Order
{
    /** @var array<string, list<Attempt>> by call */
    public array $asked = ['reserve' => [], 'confirm' => [], 'cancel' => [], 'extend' => []];
    /** @var array<string, int> by product */
    public array $pieces = [];

    /** @return list<Attempt> calls that are known to have succeeded */
    public function done(string $what): array
    {
        return array_values(array_filter($this->asked[$what], fn (Attempt $attempt) => match (true) {
            $attempt->answered === null || $attempt->error !== null => false,
            $what === 'reserve' => $attempt->held,
            $what === 'cancel' => $attempt->result === true,
            default => true,
        }));
    }

    /** @return list<Attempt> calls whose outcome is unknown */
    public function unknown(string $what): array
    {
        return array_values(array_filter($this->asked[$what], fn (Attempt $attempt) => $attempt->answered === null
            || $attempt->error !== null && !preg_match('/^Dlock\\\\(ReservationExpired|LimitExceeded|OrderConflict)Exception/', $attempt->error)));
    }

    /** When it was first known to be sold; null: it is not known. */
    public function bought(): ?int
    {
        $times = [...array_map(fn (Attempt $confirm) => $confirm->answered, $this->done('confirm')),
            ...array_map(fn (Attempt $reserve) => $reserve->answered, array_filter($this->done('reserve'), fn (Attempt $reserve) => $reserve->result['left'] >= 1e9))];
        return $times ? min($times) : null;
    }

    /**
     * The times for which the units were reserved or sold, by the replies to its buyers. Before a late confirm(), other
     * orders may have had them.
     *
     * @return list<array{int, int}>
     */
    public function had(): array
    {
        $times = [];
        $cancelled = min([PHP_INT_MAX, ...array_map(fn (Attempt $cancel) => $cancel->asked, $this->asked['cancel'])]);
        foreach ($this->done('reserve') as $reserve) {
            $reserve->believes() && $reserve->answered < $cancelled && $times[] = [$reserve->answered, min($reserve->believed, $cancelled)];
        }
        if (($bought = $this->bought()) !== null) {
            $times[] = [$bought, PHP_INT_MAX];
        }
        sort($times);
        $merged = [];
        foreach ($times as [$from, $to]) {
            $last = count($merged) - 1;
            $last >= 0 && $from <= $merged[$last][1] ? $merged[$last][1] = max($merged[$last][1], $to) : $merged[] = [$from, $to];
        }
        return $merged;
    }
}

/** @return array<string, Order> by id */
function orders(History $history): array
{
    $orders = [];
    foreach ($history->trade as $attempt) {
        if (isset(($orders[$attempt->id] ?? new Order())->asked[$attempt->what])) {
            $order = $orders[$attempt->id] ??= new Order();
            $order->asked[$attempt->what][] = $attempt;
            if ($attempt->what === 'reserve') { // with other numbers, it is a conflict
                $order->pieces = $attempt->held ? $attempt->pieces : $order->pieces + $attempt->pieces;
            }
        }
    }
    return $orders;
}

/**
 * @return array<string, array<string, array{asked: int, answered: ?int, pieces: int, results: list<int>}>> by product
 * and name
 */
function changes(History $history): array
{
    $changes = [];
    foreach ($history->trade as $attempt) {
        if ($attempt->what === 'restock') {
            foreach ($attempt->pieces as $article => $pieces) {
                $change = &$changes[$article][$attempt->id];
                $change ??= ['asked' => $attempt->asked, 'answered' => null, 'pieces' => $pieces, 'results' => []];
                $change['asked'] = min($change['asked'], $attempt->asked);
                if ($attempt->answered !== null && $attempt->error === null) {
                    $change['answered'] = min($change['answered'] ?? PHP_INT_MAX, $attempt->answered);
                    $change['pieces'] = $attempt->result;
                    $change['results'][] = $attempt->result;
                }
                unset($change);
            }
        }
    }
    return $changes;
}

/**
 * How many units of a product were added and not removed. A change happened at some time between its request and its
 * reply.
 */
final class Supply
{
    private readonly Steps $in, $surelyIn, $out, $surelyOut;

    public function __construct(array $changes = [])
    {
        [$this->in, $this->surelyIn, $this->out, $this->surelyOut] = [new Steps(), new Steps(), new Steps(), new Steps()];
        foreach ($changes as $change) {
            [$perhaps, $surely] = $change['pieces'] > 0 ? [$this->in, $this->surelyIn] : [$this->out, $this->surelyOut];
            $perhaps->add($change['asked'], $change['pieces']);
            $change['answered'] === null || $surely->add($change['answered'], $change['pieces']);
        }
    }

    /** At any moment between these two. A change at the same moment may have come before. */
    public function most(int $from, int $to): int
    {
        return $this->in->before($to + 1) + $this->surelyOut->before($from);
    }

    public function least(int $from, int $to): int
    {
        return $this->surelyIn->before($from) + $this->out->before($to + 1);
    }
}

/** @return array<string, Supply> by product */
function supplies(History $history): array
{
    return array_map(fn (array $changes) => new Supply($changes), changes($history));
}

/** At no moment do buyers have more units, by the replies to them, than were added by then. */
function oversold(History $history): array
{
    $found = $taken = [];
    foreach (orders($history) as $id => $order) {
        foreach ($order->had() as [$from, $to]) {
            foreach ($order->pieces as $article => $pieces) {
                $taken[$article] ??= [];
                array_push($taken[$article], [$from, 1, $pieces, $id], [$to, 0, -$pieces, $id]);
            }
        }
    }
    $supplies = supplies($history);
    foreach ($taken as $article => $events) {
        sort($events); // an order that ends at a moment precedes an order that begins then
        $sum = $excess = 0;
        foreach ($events as [$time, , $pieces, $id]) {
            $sum += $pieces;
            $there = $pieces > 0 ? ($supplies[$article] ??= new Supply())->most($time, $time) : PHP_INT_MAX;
            if ($sum - $there > $excess) {
                $excess = $sum - $there;
                $found[] = "$article: with $id, buyers have $sum pieces at $time, of no more than $there";
            }
        }
    }
    return $found;
}

/**
 * Confirmed orders stay sold. If the server's list was read at the end, it has exactly these orders, with all their
 * units.
 */
function inexact_sales(History $history): array
{
    $found = [];
    $orders = orders($history);
    foreach ($orders as $id => $order) {
        $bought = $order->bought();
        foreach ($bought === null ? [] : [...$order->asked['confirm'], ...$order->done('cancel')] as $attempt) {
            if ($attempt->asked > $bought && ($attempt->what === 'cancel' || preg_match('/ReservationExpired(?!.*reserved anew)/s', (string) $attempt->error))) {
                $found[] = "$attempt: $attempt->what of $id, which had been bought at $bought: " . ($attempt->error ?? 'given back');
            }
        }
        foreach ($history->stocks && $bought !== null ? $order->pieces : [] as $article => $pieces) {
            ($history->stocks[$article]['sold'][$id] ?? 0) === $pieces
                || $found[] = "$article: $pieces pieces of $id were bought, and " . ($history->stocks[$article]['sold'][$id] ?? 0) . ' are sold';
        }
    }
    $changes = changes($history);
    foreach ($history->stocks as $article => $stock) {
        foreach ($stock['sold'] as $id => $pieces) {
            $order = $orders[$id] ?? null;
            $order?->bought() !== null || $order?->unknown('confirm') || $found[] = "$article: $pieces pieces are sold to $id, which was not bought";
        }
        foreach ($changes[$article] ?? [] as $name => $change) {
            $made = $stock['changes'][$name] ?? null;
            foreach ($change['results'] as $result) {
                $result === $made || $found[] = "$article: $name was answered $result, and is " . ($made ?? 'not made');
            }
        }
        array_sum($stock['changes']) === $stock['stock'] || $found[] = "$article: changes by " . array_sum($stock['changes']) . " pieces in all make $stock[stock]";
        $stock['reserved'] === 0 || $found[] = "$article: $stock[reserved] pieces are reserved when all times are over";
    }
    return $found;
}

function greedy_buyers(History $history): array
{
    $found = $pieces = [];
    foreach (orders($history) as $id => $order) {
        foreach ($order->bought() === null ? [] : $order->pieces as $article => $count) {
            $buyer = explode('/', $id)[0];
            $pieces[$article][$buyer] = ($pieces[$article][$buyer] ?? 0) + $count;
        }
    }
    foreach ($pieces as $article => $buyers) {
        foreach ($buyers as $buyer => $count) {
            $count <= Setting::PER_BUYER || $found[] = "$article: $buyer bought $count pieces";
        }
    }
    return $found;
}

/**
 * Each counts() includes all units, and its sold units are the confirmed ones. The auditor's findings are here, too.
 */
function wrong_books(History $history): array
{
    $found = $history->wrongBooks;
    $supplies = supplies($history);
    $mostSold = $leastSold = [];
    foreach (orders($history) as $order) {
        $bought = $order->bought();
        foreach ($bought === null && !$order->unknown('confirm') ? [] : $order->pieces as $article => $pieces) {
            $asked = array_map(fn (Attempt $confirm) => $confirm->asked, $order->asked['confirm']);
            $asked && ($mostSold[$article] ??= new Steps())->add(min($asked), $pieces);
            $bought === null || ($leastSold[$article] ??= new Steps())->add($bought, $pieces);
        }
    }
    foreach ($history->trade as $look) {
        if ($look->what !== 'counts' || $look->result === null) {
            continue;
        }
        $article = $look->resource;
        ['available' => $available, 'reserved' => $reserved, 'sold' => $sold] = $look->result;
        $within = function (int $number, int $from, int $to, string $what) use ($look, $article, &$found) {
            $number >= $from && $number <= $to || $found[] = "$article: $look was told that $number pieces are $what, between $from and $to in truth";
        };
        $supply = $supplies[$article] ??= new Supply();
        [$from, $to] = [$look->asked, $look->answered];
        $within($available + $reserved + $sold, $supply->least($from, $to), $supply->most($from, $to), 'available, reserved or sold');
        $within($sold, ($leastSold[$article] ?? null)?->before($from) ?? 0, ($mostSold[$article] ?? null)?->before($to + 1) ?? 0, 'sold');
        min($available, $reserved) >= 0 || $found[] = "$article: $look was told that $available are available, and $reserved reserved";
    }
    return $found;
}
