<?php
declare(strict_types=1);

namespace Dlock\Doctor;

function plural(int $n, string $word): string
{
    return "$n $word" . ($n === 1 ? '' : 's');
}

function seconds(float $seconds): string
{
    return $seconds < 1 ? sprintf($seconds < 0.01 ? '%.2f ms' : '%.3g ms', $seconds * 1000) : sprintf('%.4g s', $seconds);
}

function setting(string $name): float
{
    return (float) ini_get("dlock.$name");
}
