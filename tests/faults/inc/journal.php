<?php
/* What happened, one JSON object per line, by the machine's one monotonic clock (ns). Each line is one write() to a
 * file opened for appending, so SIGKILL loses no completed line and tears none. */
declare(strict_types=1);

function nanoseconds(): int
{
    return hrtime(true);
}

final class Journal
{
    /** @var resource */
    private $file;

    public function __construct(string $path)
    {
        $this->file = fopen($path, 'ab') ?: throw new RuntimeException("cannot write $path");
        stream_set_write_buffer($this->file, 0);
    }

    /** @param array<string, mixed> $entry */
    public function write(string $what, array $entry): void
    {
        fwrite($this->file, json_encode(['o' => $what] + $entry, JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
    }
}

/** The entries of a journal, in order, without a torn last line, as a full disk leaves it. */
function journal_entries(string $path): Generator
{
    $file = fopen($path, 'rb');
    while (($line = fgets($file)) !== false) {
        $entry = json_decode($line, true);
        if (is_array($entry)) {
            yield $entry;
        }
    }
    fclose($file);
}
