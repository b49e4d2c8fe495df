<?php
/* What a run left behind, read into memory in a compact form. */
declare(strict_types=1);

require_once __DIR__ . '/journal.php';

/** One request for a lock, and its outcome. */
final class Attempt
{
    public int $asked = 0;
    public ?int $answered = null;
    public bool $held = false;
    public ?int $fence = null;
    public ?string $error = null;
    /**
     * The last moment at which the client knows that it held the lock: the start of the last isHeld() or release() that
     * returned true.
     */
    public ?int $believed = null;
    /** When the record first refused the lease. */
    public ?int $refused = null;
    public int $updates = 0;
    /** A buyer's call: "reserve", "confirm", … Null: a request for a lock, or for permits. */
    public ?string $what = null;
    /** The reservation, or the name of a change of the stock. */
    public ?string $id = null;
    /** @var array<string, int> by product */
    public array $pieces = [];
    public mixed $result = null;

    /** @param int $permits how many permits, of $of: one of one is a lock, 0 a call for a stock */
    public function __construct(public readonly string $client, public readonly int $number, public readonly string $resource,
        public readonly float $timeout, public readonly int $permits = 1, public readonly int $of = 1)
    {
    }

    /** Did the client rely on the lock for any time? */
    public function believes(): bool
    {
        return $this->believed !== null && $this->believed >= $this->answered;
    }

    public function __toString(): string
    {
        return "$this->client/$this->number";
    }
}

final class History
{
    /** @var list<Attempt> */
    public array $attempts = [];
    /** @var list<Attempt> the calls for stocks among them */
    public array $trade = [];
    /** @var array<string, array{string, Attempt}> by id: the resource of each accepted update, and the attempt */
    public array $accepted = [];
    /** @var list<array{Attempt, int}> when isHeld() began that returned true after the record had refused the lease */
    public array $heldAfterRefusal = [];
    /** @var list<array> what children reported about their parents' leases */
    public array $children = [];
    /** @var array<string, list<array>> by client */
    public array $resources = [];
    /** @var list<array{string, array}> processes that found open sockets when they began; processes that crashed */
    public array $inherited = [], $crashes = [];
    /** @var list<array> by kind */
    public array $faults = [], $ended = [], $probes = [], $left = [], $stuck = [], $reminded = [], $contests = [], $lostByName = [];
    /** @var array<string, list<string>> by resource: what the record accepted */
    public array $record = [];
    /** @var array<string, int> */
    public array $values = [];
    public int $looks = 0, $attached = 0, $attachedTwice = 0;
    /** @var array<string, int> how often locks were broken, readers became writers, and writers became readers */
    public array $done = ['broke' => 0, 'upgrade' => 0, 'downgrade' => 0];
    /** How often the pools were read on the server. The errors that were found follow. */
    public int $audits = 0;
    /** @var list<string> */
    public array $wrongBooks = [];
    /**
     * @var array<string, array{stock: int, sold: array<string, int>, changes: array<string, int>, reserved: int}> by
     * product, at the end
     */
    public array $stocks = [];
    /** How often a replica became a master. */
    public int $failOvers = 0;

    public static function read(string $dir): self
    {
        $history = new self();
        foreach (glob("$dir/history/*.jsonl") as $path) {
            $history->addClient(basename($path, '.jsonl'), journal_entries($path));
        }
        is_file("$dir/runner.jsonl") && $history->addRunner(journal_entries("$dir/runner.jsonl"));
        foreach (glob("$dir/*.err") as $path) {
            filesize($path) > 0 && $history->crashes[] = [basename($path, '.err'), ['output' => substr(file_get_contents($path), 0, 500)]];
        }
        return $history;
    }

    /** @param iterable<array> $entries */
    public function addClient(string $name, iterable $entries): void
    {
        $attempts = [];
        foreach ($entries as $entry) {
            $attempt = $attempts[$entry['n'] ?? -1] ?? null;
            switch ($entry['o']) {
                case 'ask':
                    $attempt = new Attempt($name, $entry['n'], $entry['r'], $entry['timeout'], $entry['permits'] ?? 1, $entry['of'] ?? 1);
                    $attempt->asked = $entry['t0'];
                    $attempt->what = $entry['what'] ?? null;
                    $attempt->id = $entry['id'] ?? null;
                    $attempt->pieces = $entry['pieces'] ?? [];
                    $attempt->what === null || $this->trade[] = $attempt;
                    $this->attempts[] = $attempts[$entry['n']] = $attempt;
                    break;
                case 'got':
                    $attempt->answered = $entry['t1'];
                    $attempt->held = $entry['ok'];
                    $attempt->fence = $entry['fence'];
                    $attempt->error = $entry['e'];
                    $attempt->result = $entry['result'] ?? null;
                    break;
                case 'held':
                    $this->looks++;
                    if ($entry['held']) {
                        $attempt->believed = $entry['t0'];
                        if ($attempt->refused !== null) {
                            $this->heldAfterRefusal[] = [$attempt, $entry['t0']];
                        }
                    }
                    break;
                case 'open':
                    $entry['value'] < 0 && $attempt->refused ??= $entry['t1'];
                    break;
                case 'update':
                    if ($entry['ok']) {
                        $attempt->updates++;
                        $this->accepted[$entry['id']] = [$attempt->resource, $attempt];
                    } else {
                        $attempt->refused ??= $entry['t1'];
                    }
                    break;
                case 'released':
                    $entry['ok'] && $attempt->believed = $entry['t0'];
                    break;
                case 'attach':
                    $this->attached += $entry['ok'];
                    $this->attachedTwice += $entry['again'] && !$entry['ok'];
                    break;
                case 'broke':
                    $this->done['broke'] += $entry['done'];
                    break;
                case 'upgrade':
                case 'downgrade':
                    $this->done[$entry['o']] += $entry['ok'];
                    break;
                case 'child':
                    $this->children[] = ['client' => $name] + $entry;
                    break;
                case 'fault':
                    $this->faults[] = $entry;
                    break;
                case 'role':
                    $this->failOvers += $entry['before'] === 'slave' && $entry['role'] === 'master';
                    break;
                case 'audit':
                    $this->audits++;
                    array_push($this->wrongBooks, ...$entry['wrong']);
                    break;
                case 'crash':
                    $this->crashes[] = [$name, $entry];
                    break;
                case 'resources':
                    $this->resources[$name][] = $entry;
                    break;
                case 'start':
                    ($entry['sockets'] ?? 0) > 0 && $this->inherited[] = [$name, $entry];
                    break;
            }
        }
    }

    /** @param iterable<array> $entries */
    public function addRunner(iterable $entries): void
    {
        foreach ($entries as $entry) {
            match ($entry['o']) {
                'fault' => $this->faults[] = $entry,
                'ended' => $this->ended[] = $entry,
                'stuck' => $this->stuck[] = $entry,
                'reminded' => $this->reminded[] = $entry,
                'probe' => $this->probes[] = $entry,
                'left' => $this->left[] = $entry,
                'contest' => $this->contests[] = $entry,
                'lost by name' => $this->lostByName[] = $entry,
                'record' => $this->record[$entry['r']][] = $entry['entry'],
                'stock' => $this->stocks[$entry['r']] = $entry,
                'value' => $this->values[$entry['r']] = $entry['value'],
                default => null,
            };
        }
    }

    /**
     * ns within [from, to] for which a fault stopped the client's process. The rest of a name does not count: children,
     * strands and exec() add it.
     */
    public function stopped(string $client, int $from, int $to): int
    {
        $sum = 0;
        foreach ($this->faults as $fault) {
            if (isset($fault['name']) && preg_match('/^client .*stop/', $fault['kind'])
                    && preg_match('/^' . preg_quote(preg_replace('/x\d+$/', '', (string) $fault['name']), '/') . '($|[fhsx])/', $client)) {
                $sum += max(0, min($to, $fault['t1']) - max($from, $fault['t0']));
            }
        }
        return $sum;
    }
}
