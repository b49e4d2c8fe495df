<?php
declare(strict_types=1);

/** The units for sale. In the application, this is a table of the database. */
interface Stock
{
    public function read(string $sku): int;

    /** Refuses a write whose fencing token is lower than an earlier one. */
    public function write(string $sku, int $left, int $fencingToken): void;
}
