<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/**
 * The subjects to examine. Each file registers its own: a function that examines a thing of some kind, and the IDs of
 * what it may find. The kinds are
 * - Plan::class: PHP and its settings, before any server
 * - the extension's name of a back end ("redis", "memcached", …): all servers of the plan. The function reports what it
 * saw by Plan::summarise()
 * - the classes of what that function makes, like RedisServer: it passes each object to the functions of its class
 * - "redis sentinel", "redis cluster": a RedisService, whose servers must be found
 * - "redis replica": a RedisServer that may be promoted, instead of RedisServer
 * - "redis role": a RedisServer before the functions of its class; false: they are not called
 * - "trial": after everything else
 */
final class Subjects
{
    /** @var array<string, list<callable>> */
    private static array $functions = [];
    /** @var list<string> */
    private static array $findings = [];

    /** @param list<string> $findings */
    public static function add(string $kind, callable $examine, array $findings): void
    {
        self::$functions[$kind][] = $examine;
        array_push(self::$findings, ...$findings);
    }

    /** @return list<callable> */
    public static function of(string $kind): array
    {
        return self::$functions[$kind] ?? [];
    }

    /** All possible findings. @return list<string> */
    public static function findings(): array
    {
        $all = array_values(array_unique(self::$findings));
        sort($all);
        return $all;
    }
}
