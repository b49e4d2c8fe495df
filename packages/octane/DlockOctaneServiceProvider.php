<?php

declare(strict_types=1);

namespace Dlock\Octane;

use Illuminate\Contracts\Events\Dispatcher;
use Illuminate\Support\ServiceProvider;

/** Laravel discovers this provider. Without Octane, no events arrive, and it does nothing. */
final class DlockOctaneServiceProvider extends ServiceProvider
{
    private const EVENTS = [
        'Laravel\\Octane\\Events\\RequestReceived' => 'begin',
        'Laravel\\Octane\\Events\\TaskReceived' => 'begin',
        'Laravel\\Octane\\Events\\TickReceived' => 'begin',
        'Laravel\\Octane\\Events\\RequestTerminated' => 'end',
        'Laravel\\Octane\\Events\\TaskTerminated' => 'end',
        'Laravel\\Octane\\Events\\TickTerminated' => 'end',
    ];

    public function register(): void
    {
        $this->app->singleton(RequestScope::class);
    }

    public function boot(Dispatcher $events): void
    {
        $scope = $this->app->make(RequestScope::class);
        foreach (self::EVENTS as $event => $method) {
            $events->listen($event, static function () use ($scope, $method): void {
                $scope->$method();
            });
        }
    }
}
