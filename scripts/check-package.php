<?php
/* Compares package.xml with the files of the checkout: fails on one that it lacks, and on one that it names in vain. */
declare(strict_types=1);
chdir(dirname(__DIR__));

/** @return list<string> the paths that package.xml names */
function listed(string $xml): array
{
    $contents = preg_match('~<contents>(.*?)</contents>~s', $xml, $m) ? $m[1] : exit("package.xml has no <contents>\n");
    preg_match_all('~<dir\b[^>]*?\bname="([^"]*)"[^>]*>|(</dir>)|<file\b[^>]*?\bname="([^"]*)"[^>]*>~', $contents, $tags, PREG_SET_ORDER);
    $path = $files = [];
    foreach ($tags as $tag) {
        if (isset($tag[3])) {
            $files[] = implode('/', [...array_filter($path, fn ($name) => $name !== '/'), ltrim($tag[3], '/')]);
        } elseif (isset($tag[2])) {
            array_pop($path);
        } elseif (!str_ends_with($tag[0], '/>')) {
            $path[] = trim($tag[1], '/') ?: '/';
        }
    }
    return $files;
}

/** @return list<string> the files that a release must have: sources, stubs, tests and their helpers, texts */
function wanted(): array
{
    exec('git ls-files --cached --others --exclude-standard 2>/dev/null', $files, $code);
    if ($code !== 0) { // no git, or not a clone
        exec("find . -type f -not -path './build/*' -not -path './.git/*' -printf '%P\\n'", $files);
    }
    return array_values(array_filter($files, fn ($file) => is_file($file) && preg_match(
        '~^(config\.(m4|w32)|[^/]+\.(c|h|md|stub\.php)|LICENSE|CREDITS|(src|stubs|docs)/.*|tests/.*\.(phpt|inc|c|h|sh))$~', $file)));
}

$listed = listed((string) file_get_contents('package.xml'));
$missing = array_diff(wanted(), $listed);
$vain = array_filter($listed, fn ($file) => !is_file($file));
$twice = array_keys(array_filter(array_count_values($listed), fn ($n) => $n > 1));
foreach (['lacks' => $missing, 'names, though there is none,' => $vain, 'names twice' => $twice] as $how => $files) {
    foreach ($files as $file) {
        echo "package.xml $how $file\n";
    }
}
exit($missing || $vain || $twice ? 1 : 0);
