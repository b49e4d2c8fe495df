<?php

declare(strict_types=1);

namespace Dlock\Session\Tests;

use DistributedLock;
use Dlock\Session\LockingSessionHandler;
use PHPUnit\Framework\TestCase;

final class LockingSessionHandlerTest extends TestCase
{
    public function testASessionIsLockedUntilItIsWritten(): void
    {
        headers_sent() && self::markTestSkipped('sessions need phpunit --stderr');
        $locks = new DistributedLock('memory://sessions');
        ini_set('session.use_cookies', '0');
        ini_set('session.cache_limiter', '');
        ini_set('session.save_path', sys_get_temp_dir());
        session_set_save_handler(new LockingSessionHandler($locks), true);
        session_id('dlocktest' . bin2hex(random_bytes(8)));
        session_start();
        $id = session_id();
        self::assertTrue($locks->isLocked("session:$id"));
        $_SESSION['visits'] = 1;
        session_write_close();
        self::assertFalse($locks->isLocked("session:$id"));
        session_start();
        self::assertSame(1, $_SESSION['visits']);
        session_destroy();
        self::assertFalse($locks->isLocked("session:$id"));
    }
}
