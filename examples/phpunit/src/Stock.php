<?php
declare(strict_types=1);

/** What is for sale: a table of the database, in the application. */
interface Stock
{
    public function read(string $sku): int;

    /** Refuses a write whose fencing token is lower than an earlier one. */
    public function write(string $sku, int $left, int $fencingToken): void;
}
