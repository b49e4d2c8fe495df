<?php
declare(strict_types=1);

namespace Dlock\Doctor;

use function Dlock\Console\printable;

enum Severity: string
{
    /** Locks cannot be acquired, or are lost although nothing goes wrong. */
    case Problem = 'problem';
    /** Locks cannot be acquired, or are lost, if something else goes wrong, or under load. */
    case Warning = 'warning';
    case Note = 'note';
}

final class Finding
{
    public function __construct(
        public readonly string $id,
        public Severity $severity,
        public readonly string $server,
        public readonly string $seen,
        public string $why,
        public readonly string $do,
        /** No lock can be acquired there. */
        public readonly bool $unusable = false,
    ) {
    }
}

final class Report
{
    /** @var list<Finding> */
    public array $findings = [];
    /** What was examined, for the summary. */
    public string $looked = '';

    public function add(Severity $severity, string $id, string $server, string $seen, string $why, string $do, bool $unusable = false): void
    {
        $this->findings[] = new Finding($id, $severity, $server, $seen, $why, $do, $unusable);
    }

    /** Turns problems of unusable servers into warnings, because locks work without them. */
    public function soften(string $why): void
    {
        foreach ($this->findings as $finding) {
            if ($finding->unusable) {
                $finding->severity = Severity::Warning;
                $finding->why = "$why $finding->why";
            }
        }
    }

    public function isHopeless(): bool
    {
        return (bool) array_filter($this->findings,
            fn (Finding $finding) => $finding->unusable && $finding->severity === Severity::Problem);
    }

    /** @param list<string> $ids */
    public function ignore(array $ids): void
    {
        $this->findings = array_values(array_filter($this->findings, fn (Finding $finding) => !in_array($finding->id, $ids, true)));
    }

    public function worst(): ?Severity
    {
        $severities = array_map(fn (Finding $finding) => $finding->severity, $this->findings);
        foreach (Severity::cases() as $severity) {
            if (in_array($severity, $severities, true)) {
                return $severity;
            }
        }
        return null;
    }

    public function status(): int
    {
        return match ($this->worst()) {
            Severity::Problem => 2,
            Severity::Warning => 1,
            default => 0,
        };
    }

    public function text(bool $coloured): string
    {
        $paint = fn (string $code, string $text) => $coloured ? "\e[{$code}m$text\e[0m" : $text;
        $servers = []; // the same finding of several servers is shown once, and counts once
        foreach ($this->findings as $finding) {
            $servers[$finding->severity->value]["$finding->id $finding->seen $finding->why $finding->do"][$finding->server] = $finding;
        }
        $text = '';
        $counts = [];
        foreach (Severity::cases() as $severity) {
            $n = count($servers[$severity->value] ?? []);
            $counts[] = $n === 0 ? "no {$severity->value}s" : plural($n, $severity->value);
            foreach ($servers[$severity->value] ?? [] as $findings) {
                $finding = current($findings);
                $word = $paint(['problem' => '1;31', 'warning' => '1;33', 'note' => '1;36'][$severity->value], $severity->value);
                $text .= "$word: " . printable(implode(', ', array_keys($findings)) . ": $finding->seen ")
                    . $paint('2', "[$finding->id]") . "\n    " . printable("$finding->why $finding->do") . "\n";
            }
        }
        return $text . match ($this->worst()) {
            null => $paint('1;32', 'All is well') . ": $this->looked.\n",
            default => ucfirst(implode(', ', $counts)) . ": $this->looked.\n",
        };
    }

    public function json(string $class): string
    {
        return json_encode([
            'class' => $class,
            'worst' => $this->worst()?->value,
            'looked' => $this->looked,
            'findings' => array_map(fn (Finding $finding) => [
                'id' => $finding->id, 'severity' => $finding->severity->value, 'server' => $finding->server,
                'seen' => $finding->seen,
                'why' => $finding->why, 'do' => $finding->do,
            ], $this->findings),
        ], JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR)
            . "\n";
    }
}
