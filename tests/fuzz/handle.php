<?php
/* Altered handles of detached leases, some with a right digest. If the handle is impossible, DistributedLock::attach()
 * throws ValueError, and nothing else. Otherwise it asks the server, which is down.
 *
 *   php handle.php SECONDS FILE [SEED]    writes FILE before each attempt, so that it has the handle of a crash
 *   php handle.php --repeat FILE */

declare(strict_types=1);

const TOKEN = '0123456789abcdef0123456789abcdef0123456789ab';
const PLAIN_TOKEN = '0123456789abcdef0123456789abcdef'; // of older versions

function encode(string $raw): string
{
	return 'dlock1.' . rtrim(strtr(base64_encode($raw), '+/', '-_'), '=');
}

function seal(string $payload): string
{
	return encode(substr(hash('sha256', "dlock1.$payload", true), 0, 16) . $payload);
}

/** Are these 2 to 64 names in the order of their bytes, each with its length and a colon in front? */
function areNames(string $text): bool
{
	$names = [];
	while (preg_match('/\A(\d{1,17}):/', $text, $match) === 1) {
		[$begin, $len] = [strlen($match[0]), (int) $match[1]];
		if ($len < 1 || $len > 1024 || $len > strlen($text) - $begin || ($names && strcmp(end($names), substr($text, $begin, $len)) >= 0)) {
			return false;
		}
		$names[] = substr($text, $begin, $len);
		$text = substr($text, $begin + $len);
	}
	return $text === '' && count($names) > 1 && count($names) <= 64;
}

/** Not the extension's way: one expression for all but the names of several locks. */
function isGood(string $handle): bool
{
	if (!str_starts_with($handle, 'dlock1.')) {
		return false;
	}
	$raw = base64_decode(strtr(substr($handle, 7), '-_', '+/'), true);
	if ($raw === false || strlen($raw) < 17 || seal(substr($raw, 16)) !== $handle) {
		return false;
	}
	return preg_match('/\Asingle\|(?!0+\|)(\d{1,17})\|0{0,16}([0-3])\|(?:9999999999:)?(?:[0-9a-f]{12})?[0-9a-f]{32}\|(.+)\z/Ds', substr($raw, 16), $match) === 1
		&& (int) $match[1] <= 31536000000 && ($match[2] < 2 ? strlen($match[3]) <= 1024 : areNames($match[3]));
}

function mutate(string $text): string
{
	static $pieces = ['|', '||', '0', '1', '00', '-1', '+1', ' ', "\0", "\n", '=', '.', 'dlock1.', 'single', 'quorum', 'zookeeper', '9223372036854',
		'9223372036855', '99999999999999999', '31536000000', '31536000001', '9007199254740991', '9007199254740992', '100000000000000000', '18446744073709551616', TOKEN, PLAIN_TOKEN, '9999999999:', '1:a', '01:a', '2:ab', '65:', "\xff", '%s%n'];

	for ($times = mt_rand(1, 3); $times > 0; $times--) {
		$at = mt_rand(0, strlen($text));
		$len = mt_rand(0, 3) === 0 ? mt_rand(0, strlen($text)) : mt_rand(0, 2);
		$text = match (mt_rand(0, 5)) {
			0 => substr($text, 0, $at),
			1 => substr_replace($text, chr(mt_rand(0, 255)), $at, mt_rand(0, 1)),
			2 => substr_replace($text, $pieces[array_rand($pieces)], $at, $len),
			3 => substr_replace($text, '', $at, $len),
			4 => substr_replace($text, substr($text, $at, $len), mt_rand(0, strlen($text)), 0),
			5 => substr_replace($text, str_repeat('x', mt_rand(0, 1100)), $at, 0),
		};
	}
	return $text;
}

function invent(): string
{
	static $kinds = ['single', 'single', 'single', 'quorum', 'zookeeper', 'singl', ''];
	$several = mt_rand(0, 2) === 0;
	$names = array_map(fn (int $i) => str_repeat('r', mt_rand(1, 30)) . $i, range(1, mt_rand(1, 70)));
	sort($names, SORT_STRING);
	$payload = implode('|', [$kinds[array_rand($kinds)], mt_rand(1, 100000), ($several ? 2 : 0) + mt_rand(0, 1), mt_rand(0, 3) > 0 ? TOKEN : PLAIN_TOKEN,
		$several ? implode('', array_map(fn (string $name) => strlen($name) . ":$name", $names)) : $names[0]]);

	return match (mt_rand(0, 4)) {
		0 => mutate(seal($payload)),
		1 => encode(mutate(substr(hash('sha256', "dlock1.$payload", true), 0, 16) . $payload)),
		default => seal(mt_rand(0, 9) === 0 ? $payload : mutate($payload)),
	};
}

/** What is wrong, or null. */
function attempt(DistributedLock $locks, string $handle): ?string
{
	try {
		$lease = $locks->attach($handle);
		return 'was attached';
	} catch (ValueError $error) {
		if (isGood($handle)) {
			return "was refused: {$error->getMessage()}";
		}
		return str_contains($error->getMessage(), 'must be a handle') || str_contains($error->getMessage(), 'must ') ? null
			: "was refused with a strange message: {$error->getMessage()}";
	} catch (Throwable $error) {
		$asked = str_contains($error->getMessage(), 'Redis at ');
		return isGood($handle) && $asked ? null : 'threw ' . get_class($error) . ': ' . $error->getMessage();
	}
}

function check(DistributedLock $locks, string $handle): void
{
	$wrong = attempt($locks, $handle);
	if ($wrong !== null) {
		fwrite(STDERR, "the handle in the file $wrong\n");
		exit(1);
	}
}

$locks = new DistributedLock('unix:///nonexistent/redis.sock');
if ($argv[1] === '--repeat') {
	check($locks, file_get_contents($argv[2]));
	exit(0);
}
$seed = (int) ($argv[3] ?? random_int(0, PHP_INT_MAX >> 1));
mt_srand($seed);
echo "seed $seed\n";
$good = 0;
$count = 0;
$file = fopen($argv[2], 'c+');
for ($end = time() + (int) $argv[1]; time() < $end;) {
	for ($i = 0; $i < 100; $i++) {
		$handle = invent();
		rewind($file);
		ftruncate($file, 0);
		fwrite($file, $handle);
		fflush($file);
		check($locks, $handle);
		$good += (int) isGood($handle);
		$count++;
	}
}
echo "$count handles, $good of them good\n";
unlink($argv[2]);
exit($good > 0 && $good < $count ? 0 : 1);
