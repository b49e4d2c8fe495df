<?php
declare(strict_types=1);

/** A shop that keeps its stock and its orders in files. It is right only while one process sells at a time. */
final class Shop
{
    public function __construct(private readonly string $directory)
    {
    }

    public function open(int $stock): void
    {
        file_put_contents("$this->directory/orders", '');
        file_put_contents("$this->directory/stock", $stock);
    }

    /** Sells one unit to the customer, under that lease. False: sold out. */
    public function sell(int $customer, Dlock\Lease $lease): bool
    {
        $stock = (int) file_get_contents("$this->directory/stock");
        if ($stock === 0) {
            return false;
        }
        usleep(20_000); // stands for the payment provider
        $lease->assertHeld();
        file_put_contents("$this->directory/stock", $stock - 1);
        file_put_contents("$this->directory/orders", implode(' ', [hrtime(true) / 1e9, $customer, $lease->fencingToken, $stock - 1]) . "\n", FILE_APPEND);
        return true;
    }

    /** First to last. @return list<array{time: float, customer: int, token: int, left: int}> */
    public function orders(): array
    {
        return array_map(function (string $line) {
            [$time, $customer, $token, $left] = explode(' ', $line);
            return ['time' => (float) $time, 'customer' => (int) $customer, 'token' => (int) $token, 'left' => (int) $left];
        }, file("$this->directory/orders", FILE_IGNORE_NEW_LINES));
    }
}
