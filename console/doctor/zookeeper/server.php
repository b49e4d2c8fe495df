<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** Seconds that ZooKeeper has to connect, and for each answer. */
const ZOOKEEPER_TIMEOUT = 5.0;

/** One member of the ensemble. */
final class ZooKeeperServer extends Server
{
    /** Its ensemble as it reports it; '': none, null: unknown. */
    public ?string $ensemble = null;
    public ?string $mode = null;
    /** Seconds that it grants a session. */
    public ?float $timeout = null;
    /** What conf returns; empty if it is not allowed. @var array<string, string> */
    public array $settings = [];

    public function examine(): void
    {
        try {
            $this->askWords();
            $this->openSession();
        } catch (Trouble $e) {
            $this->unusable('unreachable', "no session there: {$e->getMessage()}.",
                'No lock can be acquired there.',
                'Is it running? Does its ensemble have a majority? Are there too many connections from this host (maxClientCnxns)? '
                . '(A Redis server is given as redis://host:port.)');
            return;
        }
        $this->usable = true;
        foreach (Subjects::of(self::class) as $examine) {
            $examine($this);
        }
    }

    private function askWords(): void
    {
        $srvr = $this->ask('srvr') ?? ''; // srvr is always allowed
        $this->version = preg_match('/^Zookeeper version: (\d+(\.\d+)*)/m', $srvr, $found) ? $found[1] : null;
        $this->mode = preg_match('/^Mode: (\w+)/m', $srvr, $found) ? $found[1] : null;
        if ($this->mode === null && str_contains($srvr, 'not currently serving')) {
            throw new Trouble('it is not serving requests, since its ensemble has no majority');
        }
        $conf = $this->ask('conf');
        if ($conf !== null) {
            preg_match_all('/^(\w+)=(.*?)\r?$/m', $conf, $found);
            $this->settings = array_combine($found[1], $found[2]);
        } else {
            $this->note('unseen', 'could not be seen: tickTime'
                . ($this->plan->workers > 0 ? ', maxClientCnxns (60 by default)' : '') . ' (conf).',
                'What may be wrong with it stays unknown.', 'Add conf to 4lw.commands.whitelist, or look into zoo.cfg.');
        }
    }

    /** The answer to a four-letter word; null: it is not allowed. */
    private function ask(string $word): ?string
    {
        $stream = connect("tcp://$this->label", ZOOKEEPER_TIMEOUT);
        @fwrite($stream, $word);
        $answer = (string) @stream_get_contents($stream);
        if ($answer === '') {
            throw silence($stream, ZOOKEEPER_TIMEOUT, 'closes connections without a word');
        }
        return str_contains($answer, 'not executed because it is not in the whitelist') ? null : $answer;
    }

    private function openSession(): void
    {
        $zk = new ZooKeeperConnection($this->label, $this->plan->ttl);
        $this->timeout = $zk->timeout;
        for ($i = 0; $i < ROUND_TRIPS; $i++) {
            $start = clock();
            $zk->look();
            $this->trips[] = clock() - $start;
        }
        $config = $zk->data('/zookeeper/config');
        if ($config !== null) {
            preg_match_all('/^server\.\d+=.*$/m', $config, $found);
            sort($found[0]);
            $this->ensemble = implode("\n", $found[0]);
        }
        $zk->close();
    }
}
