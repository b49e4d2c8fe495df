--TEST--
packages/octane, roadrunner and symfony (Messenger, kernel) release what a worker's request forgot
--EXTENSIONS--
mbstring
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_integration('symfony/EndRequestMiddleware.php', 'php-symfony-messenger', '/usr/share/php/Symfony/Component/Messenger/autoload.php');
skip_unless_integration('octane/RequestScope.php', 'php-illuminate-events', '/usr/share/php/Illuminate/Events/autoload.php');
skip_unless_integration('octane/RequestScope.php', 'php-symfony-http-kernel', '/usr/share/php/Symfony/Component/HttpKernel/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
require __DIR__ . '/../inc/loops.inc';

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\HandleMessageMiddleware;
use Symfony\Component\Messenger\Stamp\ConsumedByWorkerStamp;

load_integrations();
foreach (['Messenger', 'HttpKernel', 'EventDispatcher', 'HttpFoundation'] as $component) {
    require_once "/usr/share/php/Symfony/Component/$component/autoload.php";
}
foreach (['Container', 'Events', 'Support'] as $component) {
    require_once "/usr/share/php/Illuminate/$component/autoload.php";
}
foreach (['octane/RequestScope', 'octane/DlockOctaneServiceProvider', 'roadrunner/functions', 'symfony/EndRequestMiddleware', 'symfony/EndRequestListener'] as $file) {
    require_once integration("$file.php");
}
$locks = new DistributedLock(redis_server());
$own = $locks->acquire(unique('own'), 0);
$forget = function (string $name) use ($locks, &$lease) {
    $lease = $locks->acquire(unique($name), 0);
    return $name;
};
$ended = function (string $what) use (&$lease, $own) {
    same([Dlock\LeaseState::Released, true], [$lease->state(), $own->isHeld()], $what);
};

// ---- RoadRunner, and any loop ----
$handle = Dlock\RoadRunner\scoped($forget);
same('roadrunner', $handle('roadrunner'), 'scoped(): the result');
$ended('scoped()');
same('of the handler', thrown_by(Dlock\RoadRunner\scoped(function () use ($forget) {
    $forget('throws');
    throw new LogicException('of the handler');
}))?->getMessage(), 'scoped(): what the handler throws');
$ended('scoped(), with an exception');

// ---- Octane: Laravel's own container and events, and the names of Octane's events ----
$container = new Illuminate\Container\Container();
$events = new Illuminate\Events\Dispatcher($container);
$provider = new Dlock\Octane\DlockOctaneServiceProvider($container);
$provider->register();
$provider->boot($events);
foreach (['Request', 'Task', 'Tick'] as $kind) {
    $events->dispatch("Laravel\\Octane\\Events\\{$kind}Received", []);
    $forget($kind);
    same(true, $lease->isHeld(), "Octane: during a $kind");
    $events->dispatch("Laravel\\Octane\\Events\\{$kind}Terminated", []);
    $ended("Octane: $kind");
}

// ---- Messenger: Symfony's own bus ----
$bus = new MessageBus([new Dlock\Symfony\EndRequestMiddleware(), new HandleMessageMiddleware(new HandlersLocator([
    stdClass::class => [fn (stdClass $message) => $forget('message')],
    ArrayObject::class => [fn (ArrayObject $message) => throw new LogicException($forget('failed'))],
]))]);
$bus->dispatch(new Envelope(new stdClass(), [new ConsumedByWorkerStamp()]));
$ended('Messenger: a message');
thrown_by(fn () => $bus->dispatch(new Envelope(new ArrayObject(), [new ConsumedByWorkerStamp()])));
$ended('Messenger: a message that fails');
$bus->dispatch(new stdClass());
same(true, $lease->isHeld(), 'Messenger: what is handled at once is its sender\'s');
$lease->release();

// ---- kernel events ----
$kernel = new class implements Symfony\Component\HttpKernel\HttpKernelInterface {
    public function handle($request, int $type = 1, bool $catch = true): Symfony\Component\HttpFoundation\Response
    {
        return new Symfony\Component\HttpFoundation\Response();
    }
};
$dispatcher = new Symfony\Component\EventDispatcher\EventDispatcher();
$dispatcher->addSubscriber(new Dlock\Symfony\EndRequestListener());
$request = new Symfony\Component\HttpFoundation\Request();
$dispatcher->dispatch(new Symfony\Component\HttpKernel\Event\RequestEvent($kernel, $request, 1), 'kernel.request');
$forget('kernel');
$dispatcher->dispatch(new Symfony\Component\HttpKernel\Event\RequestEvent($kernel, $request, 2), 'kernel.request'); // a subrequest
$dispatcher->dispatch(new Symfony\Component\HttpKernel\Event\TerminateEvent($kernel, $request, $kernel->handle($request)), 'kernel.terminate');
$ended('kernel.terminate');
echo "done\n";
?>
--EXPECT--
done
