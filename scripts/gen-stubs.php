#!/usr/bin/env php
<?php
/* Writes packages/stubs/dlock.php from stubs/dlock.stub.php: declarations that PHP can load, in an order in which it
 * can. They have the generics of synchronized() that PHPStan, Psalm and IDEs read, and lack what only gen_stub.php
 * needs. With --check it writes nothing and fails if they differ. */
declare(strict_types=1);

chdir(dirname(__DIR__));
const STUB = 'stubs/dlock.stub.php';
const TARGET = 'packages/stubs/dlock.php';

function replaced(string $pattern, string $replacement, string $text, int $at_least = 1): string
{
    $text = preg_replace($pattern, $replacement, $text, -1, $count);
    $count >= $at_least || throw new Exception(STUB . ": $pattern matches $count times, $at_least are expected");
    return $text;
}

preg_match('/^#define PHP_DLOCK_VERSION "(.*)"$/m', file_get_contents('php_dlock.h'), $version);
$text = file_get_contents(STUB);
$text = replaced('/^#(?:ifdef|endif).*\n/m', '', $text);
$text = replaced('~^ *\*? *@(?:generate-class-entries|strict-properties|not-serializable|cvalue .*)\n~m', '', $text);
// Analyzers inherit the interface's comment.
$text = replaced('~^( *)/\*\* @(?:implementation-)?alias (\S+) \*/\n~m', '', $text);
$text = replaced('~(?<=^     \*\n)(?: +\*\n)+|^ +\*\n(?= +\*/)~m', '', $text); // empty lines at the end of a comment
$text = replaced('/= UNKNOWN;/', "= '$version[1]';", $text);

// synchronized() returns what its callback returns.
$text = replaced('~^( +)\* @param callable \$criticalSection~m', "$1* @template T\n$1* @param callable(Lease): T \$criticalSection", $text, 2);
$text = replaced('~(@param callable\(Lease\): T \$criticalSection.*?)(\n +)(\* @throws)~s', '$1$2* @return T$2$3', $text, 2);
$text = replaced('~\s*\*/\n( +)(?=final class OrderPage )~', "\n$1 * @implements \\IteratorAggregate<int, Order>\n$1 */\n$1", $text);

// PHP declares a class when it reaches it, so interfaces come first.
preg_match('/^namespace \{\n.*?^\}\n/ms', $text, $global) && preg_match('/^namespace Dlock \{\n.*?^\}\n/ms', $text, $dlock)
    || throw new Exception(STUB . ' has not its two namespaces');
$text = "<?php\n\n/* Made by scripts/gen-stubs.php from " . STUB . ": do not edit. For IDEs and static analysers, not to be loaded with the extension. */\n\n"
    . replaced('/^( *\n)+(?=namespace)/m', '', $dlock[0], 0) . "\n$global[0]";

if (($argv[1] ?? '') === '--check') {
    if (@file_get_contents(TARGET) !== $text) {
        fwrite(STDERR, TARGET . ' is older than ' . STUB . ": run scripts/gen-stubs.php\n");
        exit(1);
    }
} else {
    file_put_contents(TARGET, $text);
}
