<?php
declare(strict_types=1);

/** The faults of clients and servers during a run. */
interface Faults
{
    /** Called again and again. */
    public function tick(): void;

    /** Ends all active faults. */
    public function stop(): void;
}
