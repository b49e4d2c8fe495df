<?php
declare(strict_types=1);

/** What happens to clients and servers during a run. */
interface Faults
{
    /** Called all the time. */
    public function tick(): void;

    /** Ends all that goes on. */
    public function stop(): void;
}
