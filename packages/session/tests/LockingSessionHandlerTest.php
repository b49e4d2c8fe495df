<?php

declare(strict_types=1);

namespace Dlock\Session\Tests;

use DistributedLock;
use Dlock\Session\LockingSessionHandler;
use PHPUnit\Framework\TestCase;

final class LockingSessionHandlerTest extends TestCase
{
    private function startSession(DistributedLock $locks): string
    {
        headers_sent() && self::markTestSkipped('sessions need phpunit --stderr');
        ini_set('session.use_cookies', '0');
        ini_set('session.cache_limiter', '');
        ini_set('session.save_path', sys_get_temp_dir());
        session_set_save_handler(new LockingSessionHandler($locks), true);
        session_id('dlocktest' . bin2hex(random_bytes(8)));
        session_start();
        return session_id();
    }

    public function testASessionIsLockedUntilItIsWritten(): void
    {
        $locks = new DistributedLock('memory://sessions');
        $id = $this->startSession($locks);
        self::assertTrue($locks->isLocked("session:$id"));
        $_SESSION['visits'] = 1;
        session_write_close();
        self::assertFalse($locks->isLocked("session:$id"));
        session_start();
        self::assertSame(1, $_SESSION['visits']);
        session_destroy();
        self::assertFalse($locks->isLocked("session:$id"));
    }

    public function testANewIdDoesNotTakeTheLockFromTheRunningSession(): void
    {
        $locks = new DistributedLock('memory://sessions');
        $id = $this->startSession($locks);
        $created = session_create_id();
        self::assertSame([true, false], [$locks->isLocked("session:$id"), $locks->isLocked("session:$created")]);
        $_SESSION['visits'] = 1;
        self::assertTrue(session_write_close());
        self::assertFalse($locks->isLocked("session:$id"));
        session_start(); // with an unchanged session, PHP writes only its time
        self::assertSame(1, $_SESSION['visits']);
        self::assertTrue(session_write_close());
        session_start();
        session_destroy();
        @unlink(sys_get_temp_dir() . "/sess_$created"); // the store of files makes one for each id that it looks at
    }

    public function testASessionWithAnotherIdHasTheLockOfThatId(): void
    {
        $locks = new DistributedLock('memory://sessions');
        foreach ([false, true] as $deletes) {
            $id = $this->startSession($locks);
            $_SESSION['visits'] = 1;
            self::assertTrue(session_regenerate_id($deletes));
            self::assertSame([false, true], [$locks->isLocked("session:$id"), $locks->isLocked('session:' . session_id())]);
            self::assertTrue(session_write_close());
            session_start();
            self::assertSame(1, $_SESSION['visits']);
            session_destroy();
            self::assertFalse($locks->isLocked('session:' . session_id()));
            @unlink(sys_get_temp_dir() . "/sess_$id");
        }
    }
}
