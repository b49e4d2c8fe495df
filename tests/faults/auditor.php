<?php
/* Looks at pools of permits, or stocks, on their server all the time, until it is killed: are the books right?
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
            $server = null; // it is under a fault
            continue;
        }
        $wrong = $books->errors(Setting::capacity($class));
        $entries += $books->size();
        $fence = -$books->number('fence');
        // A pool that nobody was interested in for long is gone.
        $books->isThere() && $fence < ($fences[$resource] ?? 0) && $wrong[] = "$resource: the last fencing token was $fences[$resource], and is $fence";
        $fences[$resource] = $books->isThere() ? $fence : 0;
        $journal->write('audit', ['r' => $resource, 't' => nanoseconds(), 'wrong' => $wrong]);
    }
    // A stock has an entry for each piece that was ever sold: reading is not to be what the server does most.
    usleep(max(200_000, 50 * $entries));
}
