<?php
declare(strict_types=1);

/** The code under test. Its caller passes the locks, so it does not know which server they are on. */
final class Checkout
{
    public function __construct(private readonly Dlock\LockManager $locks, private readonly Stock $stock, private readonly float $timeout = 2.0)
    {
    }

    /** @return string "sold", "sold out" or "try again" */
    public function sell(string $sku): string
    {
        try {
            return $this->locks->synchronized("stock:$sku", function (Dlock\Lease $lease) use ($sku) {
                $left = $this->stock->read($sku);
                if ($left < 1) {
                    return 'sold out';
                }
                $lease->assertHeld();
                $this->stock->write($sku, $left - 1, $lease->fencingToken);
                return 'sold';
            }, timeout: $this->timeout);
        } catch (Dlock\AcquireTimeoutException | Dlock\LeaseLostException | Dlock\ConnectionException) {
            return 'try again';
        }
    }
}
