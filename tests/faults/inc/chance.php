<?php
declare(strict_types=1);

/** Choices by a seed: the same seed and name give the same choices on every machine. */
final class Chance
{
    private Random\Engine\Mt19937 $engine;

    public function __construct(int $seed, string $name)
    {
        $this->engine = new Random\Engine\Mt19937(crc32("$seed/$name"));
    }

    /** 0 <= x < 1 */
    public function fraction(): float
    {
        return unpack('V', $this->engine->generate())[1] / 2 ** 32;
    }

    public function between(float $least, float $most): float
    {
        return $least + $this->fraction() * ($most - $least);
    }

    public function below(int $n): int
    {
        return (int) ($this->fraction() * $n);
    }

    public function happens(float $probability): bool
    {
        return $this->fraction() < $probability;
    }

    public function oneOf(array $values): mixed
    {
        return array_values($values)[$this->below(count($values))];
    }

    /** @param array<string, int|float> $weights by name */
    public function weighted(array $weights): string
    {
        $left = $this->fraction() * array_sum($weights);
        foreach ($weights as $name => $weight) {
            if (($left -= $weight) < 0) {
                break;
            }
        }
        return (string) $name;
    }
}
