<?php
/* Sales over time, as text and as SVG. */
declare(strict_types=1);

/** Seconds for each bar. */
const BAR = 0.5;

/** Counts the times in each half second, also empty ones. @param list<float> $times  @return array<int, int> */
function bars(array $times): array
{
    $numbers = array_map(fn (float $time) => (int) floor($time / BAR), $times);
    return array_count_values($numbers) + array_fill_keys(range(min($numbers), max($numbers)), 0);
}

/** @param list<float> $sales times in s  @param array<string, float> $events event => time in s */
function text_plot(array $sales, array $events): string
{
    $bars = bars($sales);
    ksort($bars);
    $text = '';
    foreach ($bars as $bar => $count) {
        $happened = array_keys(array_filter($events, fn (float $time) => (int) floor($time / BAR) === $bar));
        $line = sprintf('%6.1f s  %s%s', $bar * BAR, str_repeat('█', $count), $count > 0 ? " $count" : '');
        $text .= $line . ($happened === [] ? '' : str_repeat(' ', max(2, 48 - preg_match_all('/./u', $line))) . '← ' . implode(', ', $happened)) . "\n";
    }
    return $text;
}

/** The same as SVG, in mid-tone grays and colors for light and dark pages. */
function svg_plot(string $title, array $sales, array $events): string
{
    $bars = bars($sales);
    [$width, $height, $left, $top, $bottom, $grey] = [760, 320, 60, 84, 48, '#808080'];
    [$first, $last, $most] = [min(array_keys($bars)), max(array_keys($bars)) + 1, max($bars)];
    $step = ($width - $left - 20) / ($last - $first);
    $base = $height - $bottom;
    $x = fn (float $bar) => round($left + ($bar - $first) * $step, 1);
    $y = fn (float $count) => round($base - $count / $most * ($base - $top), 1);
    $svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 $width $height\" width=\"$width\" height=\"$height\" font-family=\"sans-serif\" font-size=\"13\" fill=\"$grey\">\n"
        . "<title>$title</title>\n<text x=\"$left\" y=\"24\" font-size=\"16\" font-weight=\"bold\">$title</text>\n"
        . "<path d=\"M$left {$base}H{$x($last)}\" stroke=\"$grey\"/>\n<text x=\"" . ($left - 8) . "\" y=\"{$y($most)}\" text-anchor=\"end\">$most</text>\n"
        . "<text x=\"" . ($left - 8) . "\" y=\"$base\" text-anchor=\"end\">0</text>\n"
        . "<text x=\"18\" y=\"" . ($top + $base) / 2 . "\" text-anchor=\"middle\" transform=\"rotate(-90 18 " . ($top + $base) / 2 . ")\">sales in " . BAR . " s</text>\n"
        . "<text x=\"{$x(($first + $last) / 2)}\" y=\"" . ($height - 8) . "\" text-anchor=\"middle\">seconds since the master was killed</text>\n";
    foreach (array_filter($bars) as $bar => $count) {
        $svg .= sprintf("<rect x=\"%s\" y=\"%s\" width=\"%.1f\" height=\"%.1f\" fill=\"#2f81d8\"/>\n", $x($bar), $y($count), $step - 1, $base - $y($count));
    }
    for ($second = (int) ceil($first * BAR); $second <= $last * BAR; $second++) {
        $svg .= $second % 2 === 0 ? "<text x=\"{$x($second / BAR)}\" y=\"" . ($base + 18) . "\" text-anchor=\"middle\">$second</text>\n" : '';
    }
    $row = 44;
    foreach ($events as $what => $time) {
        $at = $x($time / BAR);
        $svg .= "<path d=\"M$at {$row}V$base\" stroke=\"#d9534f\" stroke-dasharray=\"4 3\"/>\n<text x=\"" . ($at + 5) . "\" y=\"" . ($row + 8) . "\">$what</text>\n";
        $row += 16;
    }
    return "$svg</svg>\n";
}
