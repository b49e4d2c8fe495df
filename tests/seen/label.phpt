--TEST--
setLabel(), dlock.label and dlock.describe: what other processes see, and for how long
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/seen.inc';

use function Dlock\setLabel;

same(null, setLabel('one'), 'none before');
same('one', setLabel('two'), 'the one before');
same('two', setLabel(null), 'back to the setting');
same(null, setLabel(str_repeat('é', 60)), '120 bytes');
foreach ([str_repeat('x', 121), "a\nb", "\x7f", "\u{85}", "\xff", "\xc3"] as $label) {
    fails(ValueError::class, 'Dlock\setLabel(): Argument #1 ($label) must be at most 120 bytes of UTF-8 without control characters', fn () => setLabel($label));
}
setLabel(null);

$locks = new DistributedLock(redis_server(), ttl: 60);
$lease = $locks->acquire(unique());

/** What other processes see of a waiter with these settings: its label and its host. $code runs before the wait. */
function seen_of(string $settings, string $code = ''): array
{
    global $locks;
    $script = temporary_directory() . '/waits.php';
    file_put_contents($script, "<?php $code (new DistributedLock(" . var_export(redis_server(), true) . '))->tryAcquire(' . var_export(unique(), true) . ', 60);');
    $child = fork_child(fn () => new DoctorRun([], $settings, script: $script), end: 'kill');
    $party = wait_for_parties($locks, unique(), 1, 1)->waiters[0];
    posix_kill($party->pid ?: (int) trim((string) shell_exec('pgrep -f ' . escapeshellarg($script) . ' | head -n 1')), SIGKILL);
    $child->result();
    wait_for_parties($locks, unique(), 1, 0);
    return [$party->label, $party->host];
}

same(['waits.php', gethostname()], seen_of(''), "on the command line the script's name");
same([null, gethostname()], seen_of('-d dlock.label=none'), 'none');
same(['job 7', gethostname()], seen_of('-d dlock.label=none', 'Dlock\setLabel("job 7");'), 'a label of its own');
same([null, ''], seen_of('-d dlock.describe=0', 'Dlock\setLabel("job 7");'), 'nothing at all');
$lease->release();

// Without an origin tokens have random digits only, and attach() accepts handles of either kind.
$run = new DoctorRun([], '-d dlock.describe=0', script: (function () {
    file_put_contents($script = temporary_directory() . '/token.php', '<?php $l = (new DistributedLock(' . var_export(redis_server(), true) . '))->acquire('
        . var_export(unique('handle'), true) . ', ttl: 60); echo $l->token, " ", $l->detach();');
    return $script;
})());
[$token, $handle] = explode(' ', $run->output);
holds((bool) preg_match('/^[0-9a-f]{32}$/D', $token), 'a token without an origin', $token);
$lease = $locks->attach($handle);
same(44, strlen($lease->token), 'its successor');
$lease->release();

// The setting.
same('path', ini_get('dlock.label'), 'dlock.label');
same(false, @ini_set('dlock.label', 'all'), 'another word is refused');
same('path', ini_set('dlock.label', 'script'), 'and changed at runtime');
same(false, @ini_set('dlock.describe', '0'), 'dlock.describe is not');
?>
Done.
--EXPECT--
Done.
