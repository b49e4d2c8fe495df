#!/usr/bin/env -S php -n
<?php
/* Writes docs/reference.md from stubs/dlock.stub.php. Settings come from dlock.c (names, defaults, and comments with
 * their meaning) and src/php/settings.c (limits), options of servers from src/net/endpoint/options.c. With --check it
 * writes nothing and fails if they differ. It also fails if something is not documented: a method, a parameter, a
 * setting, a counter, an option. */
declare(strict_types=1);

chdir(dirname(__DIR__));
error_reporting(E_ALL);
set_error_handler(fn (int $code, string $message, string $file, int $line) => throw new ErrorException($message, 0, $code, $file, $line));

const REFERENCE = 'docs/reference.md';
const STUB = 'stubs/dlock.stub.php';
/** In the order of the reference; the rest of the stub follows. */
const FIRST = ['DistributedLock', 'RedLock', 'ZkLock', 'Dlock\Semaphore', 'Dlock\ReadWriteLock', 'Dlock\Stock', 'Dlock\Reservation', 'Dlock\LockManager', 'Dlock\Lease',
    'Dlock\LeaseState'];

final class Undocumented extends Exception
{
}

/** The contents of a docblock. */
final class Doc
{
    public string $text = '';
    /** @var list<array{name: string, text: string}> */
    private array $tags = [];

    public function __construct(string|false $comment)
    {
        $lines = preg_split('/\R/', preg_replace(['~^/\*\*\s?|\s*\*/$~', '~^[ \t]*\* ?~m'], '', (string) $comment));
        $tag = null;
        $text = [];
        foreach ($lines as $line) {
            if (preg_match('/^@([\w-]+)\s*(.*)/', $line, $found)) {
                $this->tags[] = ['name' => $found[1], 'text' => $found[2]];
                $tag = array_key_last($this->tags);
            } elseif ($tag !== null) {
                $this->tags[$tag]['text'] .= $this->tags[$tag]['name'] === 'example' ? "\n$line" : ' ' . trim($line);
            } else {
                $text[] = $line;
            }
        }
        // Lines of a paragraph belong together; a list keeps its lines.
        $this->text = trim(preg_replace('/(?<!\n)\n(?!\n|- )\s*/', ' ', implode("\n", $text)));
    }

    /** @return list<string> code */
    public function examples(): array
    {
        return array_map(fn (array $tag) => trim($tag['text']), array_values(array_filter($this->tags, fn (array $tag) => $tag['name'] === 'example')));
    }

    /**
     * @return list<array{type: string, text: string}> of each tag with that name; types continue after | and within
     * brackets
     */
    public function all(string $name): array
    {
        $found = [];
        foreach ($this->tags as $tag) {
            if ($tag['name'] === $name) {
                preg_match('/^((?:[^\s{<]+|\{[^}]*\}|<[^>]*>)+(?:\s*\|\s*[^\s{<]+)*)\s*(.*)$/s', trim($tag['text']), $parts);
                $found[] = ['type' => $parts[1] ?? '', 'text' => $parts[2] ?? ''];
            }
        }
        return $found;
    }
}

function code(string $text): string
{
    return "`$text`";
}

/** The parts of a docblock's text that are code. */
const CODE = <<<'PATTERN'
    ~ (?<! [\w`"'/] ) (
        \$\w+ (?:\ \.\ \$\w+)? (?!\()       # a parameter, or two with a point between
        | (?:[A-Z]\w+::)? \w+\(\)           # a call
        | \w+Exception
        | dlock\.\w+                        # a setting
        | \w+ (?:/[\w-]+)+ \.(?:md|php|sh)  # a file
        | \["?[\w,\ ]+\] | \['[^]]*\]       # an array
    ) (?! [\w`"'] ) ~xu
    PATTERN;

/** A docblock's text as Markdown. */
function prose(string $text): string
{
    $text = preg_replace(CODE, '`$1`', $text);
    $text = preg_replace_callback('~"((?:redis|rediss|unix|digest|h1)[^"]*)"~', fn ($m) => code(str_replace('`', '', $m[1])), $text);
    $text = preg_replace('~`docs/([\w-]+\.md)`~', '[`docs/$1`]($1)', $text);
    $text = preg_replace_callback('~^- ([\w, ]+):~m', fn ($m) => '- ' . implode(', ', array_map(code(...), explode(', ', $m[1]))) . ':', $text);
    return preg_replace('~(?<!<)(https://[^\s,)]*[^\s,).:])~', '<$1>', $text);
}

function cell(string $text): string
{
    return str_replace('|', '\|', prose($text));
}

function sentence(string $text): string
{
    return preg_match('/[.:]$/', $text) ? $text : "$text.";
}

/** The lines of a method or function in the stub, without attributes and body. */
function declaration(ReflectionFunctionAbstract $function): string
{
    $lines = array_slice(file(STUB), $function->getStartLine() - 1, $function->getEndLine() - $function->getStartLine() + 1);
    $text = preg_replace(['/#\[[^]]*\]\s*/', '/\s*\{\}\s*$|;\s*$/'], '', implode('', $lines));
    preg_match('/^ */', $text, $indent);
    return trim(preg_replace("/^$indent[0]/m", '', $text));
}

/** @return list<string> lines */
function callable_section(ReflectionFunctionAbstract $function, string $heading): array
{
    $doc = new Doc($function->getDocComment());
    $name = ($function instanceof ReflectionMethod ? "{$function->class}::" : '') . $function->name;
    $doc->text !== '' || throw new Undocumented("$name() has no description");
    $declaration = declaration($function);
    $out = [$heading, '', '```php', $declaration, '```', '', prose($doc->text), ''];

    $documented = [];
    foreach ($doc->all('param') as ['type' => $type, 'text' => $text]) {
        preg_match('/^\$(\w+)\s+(.+)$/s', $text, $parts)
            || throw new Undocumented("$name(): \"@param $type $text\" has no name or no text");
        $documented[$parts[1]] = [$type, $parts[2]];
    }
    $rows = [];
    foreach ($function->getParameters() as $parameter) {
        [$type, $text] = $documented[$parameter->name] ?? throw new Undocumented("$name(): no @param for \$$parameter->name");
        unset($documented[$parameter->name]);
        preg_match('/([\w|\\\\?]+) \$' . $parameter->name . '(?: = ([^,\n)]+))?/', $declaration, $found);
        $written = preg_replace('/^\?(.*)$/', '$1|null', $found[1]);
        $written === $type || throw new Undocumented("$name(): \$$parameter->name is $written, and documented as $type");
        $rows[] = '| ' . code("\$$parameter->name") . ' | ' . cell(code(str_replace('|', ' | ', $type))) . ' | '
            . (isset($found[2]) ? code($found[2]) : 'required') . ' | ' . cell($text) . ' |';
    }
    $documented === [] || throw new Undocumented("$name() has no parameter $" . implode(', $', array_keys($documented)));
    if ($rows !== []) {
        array_push($out, '| parameter | type | default | |', '|---|---|---|---|', ...[...$rows, '']);
    }
    foreach ($doc->all('return') as ['type' => $type, 'text' => $text]) {
        $type = str_replace('|', ' | ', preg_replace('/\s+/', ' ', $type));
        array_push($out, 'Returns ' . code($type) . ($text === '' ? '.' : ': ' . sentence(prose($text))), '');
    }
    $throws = [];
    foreach ($doc->all('throws') as ['type' => $type, 'text' => $text]) {
        $text !== '' || throw new Undocumented("$name(): @throws $type without a reason");
        $types = array_map(fn (string $class) => code(preg_replace('/^(Dlock\\\\)?(?=\w)/', '', ltrim(trim($class), '\\'))), explode('|', $type));
        $throws[] = '- ' . implode(', ', $types) . ': ' . sentence(prose($text));
    }
    if ($throws !== []) {
        array_push($out, 'Throws', '', ...[...$throws, '']);
    }
    return [...$out, ...examples($doc)];
}

/** @return list<string> lines of the class's own properties */
function properties(ReflectionClass $class): array
{
    $out = [];
    foreach ($class->getProperties(ReflectionProperty::IS_PUBLIC) as $property) {
        if ($property->class === $class->name) {
            $doc = new Doc($property->getDocComment());
            $text = $doc->text ?: ($doc->all('var')[0]['type'] ?? '');
            $text !== '' || throw new Undocumented("$class->name::\$$property->name has no description");
            $out[] = '| ' . code("\$$property->name") . ' | ' . code((string) $property->getType()) . ' | ' . cell($text) . ' |';
        }
    }
    return $out === [] ? [] : ['| property, read-only | type | |', '|---|---|---|', ...$out, ''];
}

/** @return list<string> lines */
function examples(Doc $doc): array
{
    return array_merge(...array_map(fn (string $example) => ['```php', $example, '```', ''], $doc->examples()));
}

/** @return list<string> lines */
function class_section(ReflectionClass $class): array
{
    $doc = new Doc($class->getDocComment());
    $doc->text !== '' || throw new Undocumented("$class->name has no description");
    $interfaces = array_filter($class->getInterfaceNames(), fn (string $name) => str_starts_with($name, 'Dlock\\'));
    $out = ['## ' . $class->name, '', prose($doc->text), ''];
    array_push($out, ...examples($doc));
    if ($interfaces !== []) {
        $links = array_map(fn ($name) => "[`$name`](#" . anchor($name) . ')', $interfaces);
        array_push($out, 'Implements ' . implode(', ', $links) . ': its methods are described there.', '');
    }
    if ($class->isEnum()) {
        array_push($out, '| case | means |', '|---|---|');
        foreach ((new ReflectionEnum($class->name))->getCases() as $case) {
            $out[] = '| ' . code($case->name) . ' | ' . cell((new Doc($case->getDocComment()))->text) . ' |';
        }
        return [...$out, ''];
    }
    array_push($out, ...properties($class));
    foreach ($class->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
        if ($method->class !== $class->name || is_inherited($class, $method)) {
            continue;
        }
        $heading = "### $class->name::$method->name";
        $doc = new Doc($method->getDocComment());
        $alias = $doc->all('alias') ?: $doc->all('implementation-alias');
        if ($doc->text === '' && $alias !== []) {
            array_push($out, $heading, '', 'The same as ' . code("$class->name::" . explode('::', $alias[0]['type'])[1] . '()') . '.', '');
        } else {
            array_push($out, ...callable_section($method, $heading));
        }
    }
    return $out;
}

/** True: an interface describes the method. */
function is_inherited(ReflectionClass $class, ReflectionMethod $method): bool
{
    foreach ($class->getInterfaces() as $interface) {
        if ($interface->hasMethod($method->name)) {
            return true;
        }
    }
    return false;
}

/** GitHub's anchor for a heading. */
function anchor(string $heading): string
{
    return preg_replace('/[^\w-]/', '', str_replace(' ', '-', strtolower($heading)));
}

/** @param list<ReflectionClass> $classes @return list<string> lines */
function exceptions_section(array $classes): array
{
    $out = ['## Exceptions', '', '| class | extends | |', '|---|---|---|'];
    $methods = [];
    foreach ($classes as $class) {
        $text = (new Doc($class->getDocComment()))->text;
        $text !== '' || throw new Undocumented("$class->name has no description");
        $out[] = '| ' . code($class->name) . ' | ' . code($class->getParentClass()->name) . ' | ' . cell($text) . ' |';
        $properties = properties($class);
        $properties === [] || array_push($methods, "### $class->name", '', ...$properties);
        foreach ($class->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
            if ($method->class === $class->name) {
                array_push($methods, ...callable_section($method, "### $class->name::$method->name"));
            }
        }
    }
    return [...$out, '', ...$methods];
}

/** @return list<string> lines */
function settings_section(): array
{
    $source = file_get_contents('dlock.c');
    $handlers = file_get_contents('src/php/settings.c');
    preg_match('/PHP_INI_BEGIN\(\)\n(.*)\nPHP_INI_END/s', $source, $lines);
    // /* what it means */, and below that the entry.
    preg_match_all('~^\t/\* (.*?) \*/\n\tS[A-Z_]+\("(?:dlock\.)?(\w+)", "([^"]*)", (?:PHP_INI_(?:ALL|SYSTEM), )?(\w+)~ms', $lines[1], $entries, PREG_SET_ORDER);
    count($entries) === substr_count($lines[1], "\n\tS") && str_starts_with($lines[1], "\t/* ")
        || throw new Undocumented('an INI entry of dlock.c could not be read: each has a comment above it');
    $limits = [];
    foreach ($entries as [, , , , $handler]) {
        preg_match("/\\($handler\\)\n\\{.*?\n\\}/s", $handlers, $body) || throw new Undocumented("settings.c has no $handler()");
        // Handlers of times name their range.
        preg_match('/, &(\w+),/', $body[0], $range) && (preg_match("/\\b$range[1] = \\{[^}]*\\}/", $handlers, $body)
            || throw new Undocumented("settings.c has no $range[1]"));
        $limits[$handler] = preg_match('/"must be (?:a number of )?([^"]*)"/', $body[0], $found) ? $found[1] : 'a DSN';
    }

    $out = ['## Settings', '', 'In `php.ini`, in a pool of PHP-FPM (`php_admin_value[dlock.ttl] = 8`), or by `ini_set()`; most are read when a lock'
        . ' object is made; the table names the others. Times are seconds. A value out of bounds is refused with a warning; in `php.ini` or a pool\'s file it makes each new lock object a `ValueError`.', ''];
    array_push($out, '| setting | default | may be | |', '|---|---|---|---|');
    foreach ($entries as [, $meaning, $name, $default, $handler]) {
        $meaning = str_replace("\n\t * ", ' ', $meaning);
        $shown = $handler === 'dlock_update_switch' ? ($default === '1' ? 'On' : 'Off') : $default;
        $out[] = '| ' . code("dlock.$name") . ' | ' . code($shown) . " | $limits[$handler] | $meaning |";
    }
    return [...$out, ''];
}

/** A number, or one of src/net/endpoint/endpoint.h or base/clock.h; times in seconds. */
function number_of(string $name): string
{
    $named = preg_match('/\b' . preg_quote($name) . '(?: = (\d+)| \(([^)]*)\))/', file_get_contents('src/net/endpoint/endpoint.h'), $found);
    $text = $named ? $found[1] . ($found[2] ?? '') : $name;
    $text = strtr($text, ['DLOCK_SECOND' => '1', 'DLOCK_MS' => '0.001']);
    preg_match('~^[\d.]+(?: [*/] [\d.]+)?$~', $text) || throw new Undocumented("src/net/endpoint/options.c: $name is no number");
    return (string) eval("return $text;");
}

/** @return list<string> lines */
function options_section(): array
{
    preg_match('/dlock_endpoint_options\[\] = \{\n(.*)\n\t\{ 0 \}/s', file_get_contents('src/net/endpoint/options.c'), $lines);
    // /* what it means */, and below that the row.
    preg_match_all('~^\t/\* (.*?) \*/\n\t\{ "(\w+)", (?:"(\w+)"|NULL), (\w+)\(\w+(?:, ([\w *]+), ([\w *]+))?\), ([\w |]+?), ([\w |]+) \},$~ms', $lines[1], $rows,
        PREG_SET_ORDER | PREG_UNMATCHED_AS_NULL);
    count($rows) === substr_count($lines[1], "\n\t{") || throw new Undocumented('a row of options.c could not be read: each has a comment above it');

    $out = ['## Options of a server', '', 'Of the servers of `DistributedLock` and `RedLock`, in the query of a DSN (`redis://h?read_timeout=1`) or in an array'
        . ' (`[\'host\' => \'h\', \'readTimeout\' => 1]`): [naming the servers](operations.md#naming-the-servers).', ''];
    array_push($out, '| in a DSN | in an array | may be | for | |', '|---|---|---|---|---|');
    foreach ($rows as [, $meaning, $name, $key, $type, $least, $most, $schemes, $flags]) {
        $in_query = preg_match('/QUERY|TIMEOUT|TLS|GUARD/', $flags);
        $in_array = $key ?? match (true) {
            str_contains($flags, 'TLS') => "ssl' => ['$name",
            str_starts_with($name, 'sentinel_') => 'sentinelAuth',
            default => ['tls' => 'ssl', 'socket' => 'host'][$name] ?? 'auth',
        };
        $may_be = match ($type) {
            'SECONDS', 'WHOLE' => number_of($least) . ' to ' . number_of($most) . ($type === 'SECONDS' ? ' s' : ''),
            'TEXT' => 'a text',
            'ON', 'OFF' => '0, 1, false, true',
        };
        $for = ['ANY' => 'all', 'REDIS' => 'Redis', 'SENTINEL' => 'Sentinels', 'REDIS | DATABASE' => 'Redis, databases', 'DATABASE' => 'databases',
            'PGSQL' => 'PostgreSQL'][$schemes];
        $out[] = '| ' . ($in_query ? code($name) : "($name)") . ' | ' . code(str_contains($in_array, "'") ? "'$in_array']" : $in_array) . " | $may_be | $for | "
            . str_replace("\n\t * ", ' ', $meaning) . ' |';
    }
    return [...$out, ''];
}

function check_counters(ReflectionFunction $stats): void
{
    preg_match_all('/add_assoc_\w+\(stats, "(\w+)"/', file_get_contents('src/php/stats.c'), $found);
    $doc = new Doc($stats->getDocComment());
    preg_match_all('/(\w+): (?:int|float)/', $doc->all('return')[0]['type'], $declared);
    [$known, $written] = [implode(', ', $found[1]), implode(', ', $declared[1])];
    $known === $written || throw new Undocumented("stats(): the stub has $written; stats.c has $known");
    foreach ($found[1] as $name) {
        preg_match("/^- .*\\b$name\\b.*:/m", $doc->text) || throw new Undocumented("stats() does not tell what $name is");
    }
}

function reference(): string
{
    !class_exists('DistributedLock', false) || throw new Exception('the extension is loaded, so the stub cannot be: run with php -n');
    define('UNKNOWN', ''); // the value of constants in stubs
    $known = [get_declared_classes(), get_declared_interfaces(), get_defined_functions()['user'], array_keys(get_defined_constants())];
    require STUB;
    $classes = array_diff([...get_declared_interfaces(), ...get_declared_classes()], $known[0], $known[1]);
    $functions = array_diff(get_defined_functions()['user'], $known[2]);
    $constants = array_filter(array_diff(array_keys(get_defined_constants()), $known[3]), fn ($name) => str_contains($name, '\\'));
    $order = array_flip(FIRST);
    usort($classes, fn ($a, $b) => ($order[$a] ?? 99) <=> ($order[$b] ?? 99));

    $body = $exceptions = $contents = [];
    foreach ($classes as $name) {
        $class = new ReflectionClass($name);
        if ($class->isSubclassOf(Throwable::class)) {
            $exceptions[] = $class;
            continue;
        }
        $contents[] = $name;
        array_push($body, ...class_section($class));
    }
    array_push($body, ...exceptions_section($exceptions));
    $contents[] = 'Exceptions';
    foreach ($functions as $name) {
        $function = new ReflectionFunction($name);
        if ((new Doc($function->getDocComment()))->all('internal') !== []) {
            continue;
        }
        if ($function->name === 'Dlock\stats') {
            check_counters($function);
        }
        $contents[] = $function->name;
        array_push($body, ...callable_section($function, "## $function->name"));
    }
    foreach ($constants as $name) {
        $name === 'Dlock\VERSION' || throw new Undocumented("the constant $name");
        array_push($body, '## Constants', '', '| constant | type | |', '|---|---|---|', "| `$name` | `string` | the extension's version |", '');
        $contents[] = 'Constants';
    }
    array_push($body, ...settings_section(), ...options_section());
    array_push($contents, 'Settings', 'Options of a server');

    $head = [
        '<!-- Made by scripts/gen-reference.php from stubs/dlock.stub.php, dlock.c, src/php/settings.c and src/net/endpoint/options.c. Do not edit. -->',
        '# API reference', '',
        'Times are seconds, as `float` or `int`, unless it says milliseconds. Exceptions without a namespace are in `Dlock`, except PHP\'s own.'
        . ' A bad argument is a `ValueError` or `TypeError` that names it and what it may be. No message, trace, `var_dump()` or `phpinfo()`'
        . ' shows a password (PHP 8.1: with `zend.exception_ignore_args = On`).', '',
        implode(' · ', array_map(fn ($name) => "[$name](#" . anchor($name) . ')', $contents)), '',
    ];
    return rtrim(implode("\n", [...$head, ...$body])) . "\n";
}

try {
    $text = reference();
} catch (Undocumented $e) {
    fwrite(STDERR, "gen-reference: {$e->getMessage()}\n");
    exit(1);
}
if (($argv[1] ?? '') === '--check') {
    if ($text !== @file_get_contents(REFERENCE)) {
        fwrite(STDERR, REFERENCE . " is not what the stub, dlock.c, settings.c and options.c give: run scripts/gen-reference.php\n");
        exit(1);
    }
} else {
    file_put_contents(REFERENCE, $text);
}
