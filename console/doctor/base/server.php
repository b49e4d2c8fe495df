<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** One server to examine. */
abstract class Server
{
    /** Can locks be acquired there? */
    public bool $usable = false;
    public ?string $version = null;
    /** Round trips in seconds. @var list<float> */
    public array $trips = [];

    public function __construct(public readonly string $label, public readonly Plan $plan)
    {
    }

    public function problem(string $id, string $seen, string $why, string $do): void
    {
        $this->plan->report->add(Severity::Problem, $id, $this->label, $seen, $why, $do);
    }

    public function warning(string $id, string $seen, string $why, string $do): void
    {
        $this->plan->report->add(Severity::Warning, $id, $this->label, $seen, $why, $do);
    }

    public function note(string $id, string $seen, string $why, string $do): void
    {
        $this->plan->report->add(Severity::Note, $id, $this->label, $seen, $why, $do);
    }

    /** Reports a problem that prevents locks there. */
    public function unusable(string $id, string $seen, string $why, string $do): void
    {
        $this->usable = false;
        $this->plan->report->add(Severity::Problem, $id, $this->label, $seen, $why, $do, true);
    }
}
