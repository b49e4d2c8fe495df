<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/../src/Checkout.php';
require_once __DIR__ . '/../src/Stock.php';

/** Without a server, without mocks of locks, without sleep(). */
final class CheckoutTest extends TestCase
{
    /** memory:// with a name of its own for each test: no test sees the locks of another. */
    private string $dsn;

    protected function setUp(): void
    {
        $this->dsn = 'memory://' . bin2hex(random_bytes(8));
    }

    public function testSellsOneUnderTheLock(): void
    {
        $locks = new DistributedLock($this->dsn);
        $stock = new StockInMemory(['42' => 2], fn () => $this->assertTrue($locks->isLocked('stock:42')));

        $this->assertSame('sold', (new Checkout($locks, $stock))->sell('42'));
        $this->assertSame(1, $stock->read('42'));
        $this->assertFalse($locks->isLocked('stock:42'));
    }

    public function testALaterSaleHasAGreaterFencingToken(): void
    {
        $stock = new StockInMemory(['42' => 2]);
        $checkout = new Checkout(new DistributedLock($this->dsn), $stock);

        $checkout->sell('42');
        $first = $stock->fencingToken;
        $checkout->sell('42');
        $this->assertGreaterThan($first, $stock->fencingToken);
    }

    /** Another holder is another object of the same table. With a lease time of its own, or the wait would be a DeadlockException. */
    public function testIsBusyWhileAnotherHolds(): void
    {
        $stock = new StockInMemory(['42' => 1]);
        $other = (new DistributedLock($this->dsn))->acquire('stock:42', ttl: 60.0);

        $checkout = new Checkout(new DistributedLock($this->dsn), $stock, timeout: 0.01);
        $this->assertSame('try again', $checkout->sell('42'));
        $other->release();
        $this->assertSame('sold', $checkout->sell('42'));
    }

    /** The lease of the other one ends by itself, and the checkout, which waits, gets the lock. */
    public function testWaitsForItsTurn(): void
    {
        $stock = new StockInMemory(['42' => 1]);
        $other = (new DistributedLock($this->dsn))->acquire('stock:42', ttl: 0.05);

        $this->assertSame('sold', (new Checkout(new DistributedLock($this->dsn), $stock))->sell('42'));
        $this->assertFalse($other->isHeld());
    }

    /** Leases of 50 ms that are not renewed, and a section that takes longer. */
    public function testWritesNothingWhenItHasLostTheLock(): void
    {
        $locks = new DistributedLock($this->dsn, ttl: 0.05, renew: false);
        $stock = new StockInMemory(['42' => 1], function () use ($locks) {
            while ($locks->isLocked('stock:42')) {
                // until it is lost
            }
        });

        $this->assertSame('try again', (new Checkout($locks, $stock))->sell('42'));
        $this->assertSame(0, $stock->writes);
    }

    /** A port at which nobody listens. */
    public function testSellsNothingWithoutTheServer(): void
    {
        $stock = new StockInMemory(['42' => 1]);

        $this->assertSame('try again', (new Checkout(new DistributedLock('redis://127.0.0.1:1'), $stock))->sell('42'));
        $this->assertSame(0, $stock->writes);
    }

    /** A mistake that shows at once: the section calls what takes the same lock. */
    public function testFindsAWaitForItself(): void
    {
        $locks = new DistributedLock($this->dsn);
        $checkout = null;
        $stock = new StockInMemory(['42' => 2], function () use (&$checkout) {
            $checkout->sell('42');
        });
        $checkout = new Checkout($locks, $stock);

        $this->expectException(Dlock\DeadlockException::class);
        $checkout->sell('42');
    }

    /** Code that makes its locks by new DistributedLock() is tested in the same way: phpunit.xml sets dlock.server. */
    public function testTheSettingIsOfMemory(): void
    {
        $held = (new DistributedLock())->acquire('stock:42', timeout: 0);
        $this->assertTrue((new DistributedLock('memory://tests'))->isLocked('stock:42'));
        $held->release();
    }
}

final class StockInMemory implements Stock
{
    public int $writes = 0;
    public int $fencingToken = 0;

    /** @param array<string, int> $left  @param Closure|null $inSection is called by read() */
    public function __construct(private array $left, private ?Closure $inSection = null)
    {
    }

    public function read(string $sku): int
    {
        $inSection = $this->inSection;
        $this->inSection = null;
        $inSection && $inSection();
        return $this->left[$sku];
    }

    public function write(string $sku, int $left, int $fencingToken): void
    {
        if ($fencingToken < $this->fencingToken) {
            throw new RuntimeException('a later holder was here');
        }
        $this->left[$sku] = $left;
        $this->fencingToken = $fencingToken;
        $this->writes++;
    }
}
