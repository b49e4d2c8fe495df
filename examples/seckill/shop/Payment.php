<?php
declare(strict_types=1);

/** The provider refuses, the buyer leaves, or the reservation expires. */
final class NotPaid extends RuntimeException
{
}

/**
 * Stands for the call to a payment provider over the network. It is the only simulated part of the shop. The page sets
 * how long a payment takes, and whether some payments hang or fail.
 */
final class Payment
{
    public const HANGS_EVERY = 40;   // payments
    public const HANGS_FOR = 3.0;    // s
    public const FAILS_EVERY = 10;   // buyers

    public function __construct(
        private readonly Redis $redis,
        private readonly int $milliseconds,
        private readonly bool $hangs,
        private readonly bool $fails,
    ) {
    }

    /**
     * @return string the provider's reference
     * @throws NotPaid
     */
    public function authorise(int $customer, int $cents): string
    {
        $number = $this->redis->incr('payments');
        $takes = $this->hangs && $number % self::HANGS_EVERY === 0 ? self::HANGS_FOR : $this->milliseconds / 1000;
        if ($takes > 0) {
            usleep((int) ($takes * 1e6));
        }
        if ($this->fails && $customer % self::FAILS_EVERY === 5) {
            throw new NotPaid();
        }
        return sprintf('P%06d-%d-%d', $number, $customer, $cents);
    }
}
