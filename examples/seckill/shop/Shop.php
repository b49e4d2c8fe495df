<?php
declare(strict_types=1);

/**
 * What a shop would write: read the stock, see to the customer and the payment, write the stock less one, and the order. Right
 * only while nobody else is between that read and that write; whether anybody is, decides the lock around it (buy.php).
 */
final class Shop
{
    public function __construct(private readonly Redis $redis, private readonly Payment $payment)
    {
    }

    /**
     * Sells one unit.
     * @return array{customer: int, price: int, payment: string, fencingToken: ?int, left: int}|null null: sold out
     */
    public function sell(string $goods, int $customer, ?Dlock\Lease $lease): ?array
    {
        $stock = (int) $this->redis->get("stock:$goods");
        if ($stock < 1) {
            return null;
        }

        $price = $this->price($goods, $customer);
        $payment = $this->payment->authorise($customer, $price);

        $lease?->assertHeld(); // costs nothing; an authorised payment that nobody captures goes back by itself
        $this->redis->set("stock:$goods", $stock - 1);
        $order = [
            'customer' => $customer,
            'price' => $price,
            'payment' => $payment,
            'fencingToken' => $lease?->fencingToken,
            'left' => $stock - 1,
        ];
        $this->redis->rPush("orders:$goods", json_encode($order));
        return $order;
    }

    /**
     * Sells one unit of a stock, without any lock: reserves it, and buys it when it is paid for. Where it never is, the reservation ends by itself, and
     * the unit is the next waiter's.
     * @param callable(int): void $reserved called with the fencing token
     * @return array{customer: int, price: int, payment: string, fencingToken: int, left: int}|null null: sold out
     */
    public function sellReserved(Dlock\Stock $stock, string $goods, int $customer, callable $reserved): ?array
    {
        $reservation = $stock->reserve($goods, buyer: (string) $customer, order: 'order', timeout: PATIENCE);
        if ($reservation === null) {
            return null;
        }
        $reserved($reservation->fencingToken);

        $price = $this->price($goods, $customer);
        $payment = $this->payment->authorise($customer, $price);

        try {
            $reservation->confirm();
        } catch (Dlock\ReservationExpiredException) { // an authorised payment that nobody captures goes back by itself
            throw new NotPaid();
        }
        $counts = $stock->counts($goods);
        $order = [
            'customer' => $customer,
            'price' => $price,
            'payment' => $payment,
            'fencingToken' => $reservation->fencingToken,
            'left' => $counts['available'] + $counts['reserved'],
        ];
        $this->redis->rPush("orders:$goods", json_encode($order));
        return $order;
    }

    /** In cents. Regular customers get a tenth off. */
    private function price(string $goods, int $customer): int
    {
        $price = (int) $this->redis->get("price:$goods");
        return $this->redis->hGet("customer:$customer", 'regular') === '1' ? intdiv($price * 9, 10) : $price;
    }

    /** Puts goods on the shelf, and forgets earlier orders. */
    public static function open(Redis $redis, string $goods, int $stock, int $price, int $customers): void
    {
        $redis->multi(Redis::PIPELINE);
        $redis->set("stock:$goods", $stock);
        $redis->set("price:$goods", $price);
        $redis->del("orders:$goods");
        for ($customer = 1; $customer <= $customers; $customer++) {
            $redis->hSet("customer:$customer", 'regular', $customer % 10 === 0 ? '1' : '0');
        }
        $redis->exec();
    }
}
