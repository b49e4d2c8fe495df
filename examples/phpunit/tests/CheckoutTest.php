<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/../src/Checkout.php';
require_once __DIR__ . '/../src/Stock.php';

/** These tests need no server, no mocks of locks and no sleep(). */
final class CheckoutTest extends TestCase
{
    /** memory:// with a new name for each test, so that no test sees the locks of another. */
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

    /** The other holder is an object of the same table. Without its own ttl, the wait would be a DeadlockException. */
    public function testIsBusyWhileAnotherHolds(): void
    {
        $stock = new StockInMemory(['42' => 1]);
        $other = (new DistributedLock($this->dsn))->acquire('stock:42', ttl: 60.0);

        $checkout = new Checkout(new DistributedLock($this->dsn), $stock, timeout: 0.01);
        $this->assertSame('try again', $checkout->sell('42'));
        $other->release();
        $this->assertSame('sold', $checkout->sell('42'));
    }

    /** The lease of the other holder expires, and the waiting checkout acquires the lock. */
    public function testWaitsForItsTurn(): void
    {
        $stock = new StockInMemory(['42' => 1]);
        $other = (new DistributedLock($this->dsn))->acquire('stock:42', ttl: 0.05);

        $this->assertSame('sold', (new Checkout(new DistributedLock($this->dsn), $stock))->sell('42'));
        $this->assertFalse($other->isHeld());
    }

    /** The section takes longer than the lease of 50 ms, which is not renewed. */
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

    /** No server listens at this port. */
    public function testSellsNothingWithoutTheServer(): void
    {
        $stock = new StockInMemory(['42' => 1]);

        $this->assertSame('try again', (new Checkout(new DistributedLock('redis://127.0.0.1:1'), $stock))->sell('42'));
        $this->assertSame(0, $stock->writes);
    }

    /** The section calls code that acquires the same lock. This mistake shows at once. */
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

    /** Code that calls new DistributedLock() can be tested in the same way, because phpunit.xml sets dlock.server. */
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

    /** @param array<string, int> $left  @param Closure|null $inSection read() calls it once */
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
