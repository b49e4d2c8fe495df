<?php
declare(strict_types=1);

/**
 * The code of a shop: it reads the stock, looks up the customer, requests the payment, and writes the stock less one
 * and the order. It is right only while no other process is between that read and that write. The lock around it
 * ensures that (buy.php).
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

        $lease?->assertHeld(); // costs nothing; an authorized payment that is not captured lapses
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
     * Sells one unit of a stock, without any lock: reserves it, and confirms it after the payment. If the buyer does
     * not pay, the reservation expires, and the next waiter reserves the unit.
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
        } catch (Dlock\ReservationExpiredException) { // an authorized payment that is not captured lapses
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

    /** Sets stock, price and customers, and deletes earlier orders. */
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
