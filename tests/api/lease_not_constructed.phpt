--TEST--
A Lease that an extension made without its constructor, as PDO::fetchObject() does, holds nothing and reports it
--EXTENSIONS--
ffi
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

// The call of such extensions. A lease has a private constructor, and PHP code cannot avoid that.
$php = FFI::cdef('
    typedef struct { uint64_t value, type; } zval;
    void *zend_strpprintf(size_t most, const char *format, ...);
    void *zend_lookup_class(void *name);
    int object_init_ex(zval *object, void *class);
    int zend_set_local_var_str(const char *name, size_t length, zval *value, bool force);
');
$lease = (function () use ($php): Dlock\Lease {
    $lease = null;
    $object = $php->new('zval');
    $php->object_init_ex(FFI::addr($object), $php->zend_lookup_class($php->zend_strpprintf(0, '%s', Dlock\Lease::class)));
    $php->zend_set_local_var_str('lease', 5, FFI::addr($object), true);
    return $lease;
})();

same([Dlock\LeaseState::Released, false, 0.0, false], [$lease->state(), $lease->isHeld(), $lease->remaining(), $lease->release()], 'the lease');
foreach (['assertHeld' => [], 'refresh' => [5], 'detach' => []] as $method => $arguments) {
    fails(Dlock\LeaseLostException::class, 'The lock "" has been released or detached', fn () => $lease->$method(...$arguments), $method);
}
foreach (['resource', 'token', 'fencingToken'] as $property) {
    fails(Error::class, "Typed property Dlock\Lease::\$$property must not be accessed before initialization", fn () => $lease->$property);
}
var_dump($lease);
unset($lease);
echo "done\n";
?>
--EXPECTF--
object(Dlock\Lease)#%d (%d) {
%A}
done
