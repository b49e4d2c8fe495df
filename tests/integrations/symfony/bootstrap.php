<?php
/* For scripts/test-symfony.sh: Symfony's own tests of stores, and Symfony Lock itself, from the directory in $DLOCK_SYMFONY_LOCK. */
declare(strict_types=1);

require __DIR__ . '/../../inc/servers.inc';

set_include_path('/usr/share/php'); // where Debian's packages find each other
require '/usr/share/php/Symfony/Component/Lock/autoload.php'; // for the other classes that Symfony Lock needs
spl_autoload_register(function (string $class) {
    $prefix = 'Symfony\Component\Lock\\';
    $file = test_env('DLOCK_SYMFONY_LOCK') . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    if (str_starts_with($class, $prefix) && is_file($file)) {
        require $file;
    }
}, prepend: true);
require __DIR__ . '/../../../packages/symfony/DlockStore.php';
require __DIR__ . '/../../../packages/symfony/ReadWriteStore.php';
