<?php
/* One client of stocks: adds and reserves units, confirms, cancels, abandons, is late, repeats calls. It logs its
 * requests and their answers.
 *
 *   php buyer.php CONFIG      as client.php */
declare(strict_types=1);

require __DIR__ . '/inc/participant.php';

final class Buyer extends Participant
{
    /** Seconds for which a call is repeated if its outcome is unknown. */
    private const REPEATS = 3.0;

    private Dlock\Stock $stock;
    private int $asked = 0; // the number of the request that made the reservation

    protected function begin(): void
    {
        $this->stock = new Dlock\Stock($this->config['servers'][0], Setting::prefix($this->class), $this->ttls['default'], Setting::PER_BUYER);
    }

    protected function turn(): void
    {
        $this->chance = new Chance($this->config['seed'], "$this->name/" . ++$this->number);
        match ($this->chance->weighted(['reserve' => 16, 'put in' => 4, 'count' => 1])) {
            'reserve' => $this->buy(...$this->order()),
            'put in' => $this->putIn(),
            'count' => $this->count(),
        };
    }

    // ---- requests ----

    /**
     * Several processes share some orders. @return array{string, string, array<string, int>} buyer, order, and units by
     * product
     */
    private function order(): array
    {
        $now = intdiv(nanoseconds(), 200_000_000);
        $shared = $this->chance->happens(0.2);
        $chance = $shared ? new Chance($this->config['seed'], "order/$now") : $this->chance;
        $articles = Setting::resources($this->class);
        $pieces = [];
        for ($left = (int) $chance->weighted([1 => 7, 2 => 3]); $left > 0; $left--) {
            $pieces[$chance->oneOf($articles)] = (int) $chance->weighted([1 => 6, 2 => 2, 3 => 1]);
        }
        return ['b ' . intdiv($now, 20) . '/' . $chance->below(16), $shared ? "clicked at $now" : "$this->name/$this->number", $pieces];
    }

    /** All processes request the same change of a stock, which counts once. */
    private function putIn(): void
    {
        $article = $this->chance->oneOf(Setting::resources($this->class));
        $change = 'change ' . intdiv(nanoseconds(), 250_000_000);
        $chance = new Chance($this->config['seed'], "$article/$change");
        $pieces = $chance->happens(0.8) ? 1 + $chance->below(10) : -1 - $chance->below(4);
        $this->insist('restock', $change, [$article => $pieces], fn () => $this->stock->restock($article, $pieces, $change));
    }

    private function count(): void
    {
        $article = $this->chance->oneOf(Setting::resources($this->class));
        $this->ask('counts', '', [$article => 0], fn () => $this->stock->counts($article, Setting::hasReplicas($this->class)));
    }

    /** @param array<string, int> $pieces */
    private function buy(string $buyer, string $request, array $pieces): void
    {
        $id = rawurlencode($buyer) . '/' . rawurlencode($request);
        $several = count($pieces) > 1;
        $timeout = $several || $this->chance->happens(0.4) ? 0.0 : round($this->chance->between(0.01, Setting::LONGEST_TIMEOUT / 3), 3);
        $ttl = $this->chance->happens(0.6) ? round($this->chance->between($this->ttls['shortest'], $this->ttls['longest']), 3) : null;
        $articles = $pieces === [key($pieces) => 1] && $this->chance->happens(0.5) ? key($pieces) : $pieces;
        $this->chance->happens(0.015) && $this->arrangeStop('client stop while it asks');
        $reservation = $this->insist('reserve', $id, $pieces, fn () => $this->stock->reserve($articles, $buyer, $request, $timeout, $ttl), $timeout);
        $this->asked = $this->number;
        if ($reservation) {
            $this->chance->happens(0.015) && $this->arrangeStop('client stop while it holds');
            $this->hold($reservation, $id, $ttl ?? $this->ttls['default']);
        }
    }

    // ---- while it is reserved ----

    private function hold(Dlock\Reservation $reservation, string $id, float $ttl): void
    {
        $this->wait($reservation, match ($this->chance->weighted(['none' => 4, 'short' => 8, 'long' => 0.6, 'too long' => 0.3])) {
            'none' => 0.0,
            'short' => $this->chance->between(0, 0.03),
            'long' => $this->chance->between(0.1, 0.6),
            'too long' => $ttl * $this->chance->between(0.9, 1.4),
        });
        $end = $this->chance->weighted(['confirm' => 10, 'cancel' => 4, 'abandon' => 1.5, 'extend' => 2, 'confirm twice' => 1, 'cancel late' => 1, 'fork' => 1, 'found again' => 1]
            + ($this->kind === 'steady' || $this->isChild ? [] : ['exit' => 0.3, 'kill' => 0.5, 'exec' => 0.3]));
        switch ($end) {
            case 'extend':
                $this->does('extend', $id, $reservation, $this->chance->between($this->ttls['shortest'], $this->ttls['longest']));
                $this->wait($reservation, $this->chance->between(0, 0.2));
                // no break
            case 'confirm':
            case 'cancel':
                $this->does($end === 'cancel' ? 'cancel' : 'confirm', $id, $reservation);
                break;
            case 'abandon':
                break;
            case 'confirm twice':
                $this->does('confirm', $id, $reservation);
                $this->does('confirm', $id, $reservation);
                break;
            case 'cancel late':
                $this->does('confirm', $id, $reservation);
                $this->does('cancel', $id, $reservation);
                break;
            case 'fork':
            case 'found again':
                $this->fork($reservation, $id, $end === 'found again');
                $this->does($this->chance->happens(0.7) ? 'confirm' : 'cancel', $id, $reservation);
                break;
            case 'exit':
                $this->journal->write('end', ['t' => nanoseconds()]);
                exit(0);
            case 'kill':
                posix_kill(getmypid(), SIGKILL);
                // no break
            case 'exec':
                $this->replace(__FILE__);
        }
    }

    /** Reads again and again whether it is still reserved. */
    private function wait(Dlock\Reservation $reservation, float $seconds): void
    {
        $until = nanoseconds() + (int) ($seconds * 1e9);
        do {
            $before = nanoseconds();
            $held = $reservation->remaining() > 0;
            $this->journal->write('held', ['n' => $this->asked, 't0' => $before, 't1' => nanoseconds(), 'held' => $held]);
            $this->pause($this->chance->between(0.001, $seconds > 0.1 ? 0.05 : 0.01));
        } while (nanoseconds() < $until);
    }

    private function does(string $what, string $id, Dlock\Reservation $reservation, float ...$arguments): void
    {
        $this->insist($what, $id, $reservation->items, fn () => $reservation->$what(...$arguments));
    }

    /** A child has a reservation, too: its parent's object, or an object that it finds by buyer and order. */
    private function fork(Dlock\Reservation $reservation, string $id, bool $finds): void
    {
        $child = pcntl_fork();
        if ($child !== 0) {
            $child > 0 && $this->children++;
            return;
        }
        $this->becomeChild("f$this->number");
        $this->chance = new Chance($this->config['seed'], $this->name);
        if ($finds) {
            $reservation = $this->stock->reservation($reservation->items, $reservation->buyer, $reservation->order);
        }
        $this->pause($this->chance->between(0, 0.02));
        $this->does($this->chance->weighted(['confirm' => 3, 'cancel' => 1, 'extend' => 1]), $id, $reservation);
        $this->journal->write('end', ['t' => nanoseconds()]);
        exit(0);
    }

    // ---- calls ----

    /** If the outcome is unknown, repeats the call with the same names. */
    private function insist(string $what, string $id, array $pieces, callable $ask, float $timeout = 0.0): mixed
    {
        $until = nanoseconds() + (int) (self::REPEATS * 1e9);
        do {
            [$known, $answer] = $this->ask($what, $id, $pieces, $ask, $timeout);
            $again = !$known && $this->goesOn && nanoseconds() < $until;
            $again && $this->pause($this->chance->between(0, 0.1));
        } while ($again);
        return $answer;
    }

    /** @return array{bool, mixed} whether the outcome is known, and the answer */
    private function ask(string $what, string $id, array $pieces, callable $ask, float $timeout = 0.0): array
    {
        $answer = $error = null;
        $started = nanoseconds();
        $this->journal->write('ask', ['n' => ++$this->number, 'r' => implode('+', array_keys($pieces)), 'permits' => 0, 'of' => 0, 'timeout' => $timeout, 't0' => $started,
            'what' => $what, 'id' => $id, 'pieces' => $pieces]);
        try {
            $this->waiting = true;
            $answer = $ask();
            $this->waiting = false;
        } catch (Dlock\DlockException | Interrupted $e) {
            $this->waiting = false; // a signal must not interrupt the next line
            $error = $e;
        } finally {
            $this->waiting = false;
        }
        $isReservation = $answer instanceof Dlock\Reservation;
        $this->journal->write('got', ['n' => $this->number, 't0' => $started, 't1' => nanoseconds(), 'ok' => $isReservation,
            'fence' => $isReservation && $answer->fencingToken > 0 ? $answer->fencingToken : null, 'result' => $isReservation ? ['left' => min(1e9, $answer->remaining())] : $answer,
            'e' => $error ? $error::class . ': ' . substr($error->getMessage(), 0, 200) : null]);
        return [!$error instanceof Dlock\ConnectionException, $answer];
    }
}

(new Buyer(json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR)))->run();
