<?php
/* Reads pools of permits, or stocks, on their server again and again until it is killed, and checks their books.
 *
 *   php auditor.php CONFIG      JSON: class, address, dir */
declare(strict_types=1);

require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/books.php';
require __DIR__ . '/../inc/redis_raw.inc';

const ANSWER = 0.3;

ini_set('memory_limit', '-1');
['class' => $class, 'address' => $address, 'dir' => $dir] = json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR);
$journal = new Journal("$dir/history/auditor.jsonl");
$fences = [];
$server = null;
for (;;) {
    $entries = 0;
    foreach (Setting::resources($class) as $resource) {
        try {
            $server ??= new RedisRaw($address, null, 'default', ANSWER);
            $books = new Books($server, Setting::prefix($class) . $resource);
        } catch (RuntimeException) {
            $server = null; // the server is under a fault
            continue;
        }
        $wrong = $books->errors(Setting::capacity($class));
        $entries += $books->size();
        $fence = -$books->number('fence');
        // A pool expires if no client uses it for long, and its last token with it.
        $books->isThere() && $fence < ($fences[$resource] ?? 0) && $wrong[] = "$resource: the last fencing token was $fences[$resource], and is $fence";
        $fences[$resource] = $books->isThere() ? $fence : 0;
        $journal->write('audit', ['r' => $resource, 't' => nanoseconds(), 'wrong' => $wrong]);
    }
    // A stock keeps entries of each order that was ever sold. Reading them must not be the server's main work.
    usleep(max(200_000, 50 * $entries));
}
