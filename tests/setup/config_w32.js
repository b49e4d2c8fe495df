/* Runs config.w32 as PHP's configure for Windows would, with functions in place of that one's (win32/build/confutils.js) that
 * write down what they are asked for. Before this, scripts/check-config-w32.sh defines `source`, the text of config.w32, and
 * `files`, the names of the C files in the checkout. Prints what is wrong, and nothing else. */

/* Not for Windows: the ZooKeeper client's threads; memcached:// and memory://; the thread that renews leases, with its rounds, and what wakes it. */
var left_out = /^src\/(zookeeper\/.*|memcached\/.*|memory\/.*|php\/zk_lock|lock\/renewal_(list|thread)|base\/wakeup)\.c$/;

var asked, settings;

function wrong(what) { print('config.w32, ' + settings.name + ': ' + what); }
function same(expected, actual, what) {
	if (expected !== actual) {
		wrong(what + ': expected ' + expected + ', got ' + actual);
	}
}

/* PHP's own. Each is given at least so many arguments, and at most so many, as it has there. */
function define(name, least, most, effect) {
	this[name] = function () {
		if (arguments.length < least || arguments.length > most) {
			wrong(name + '() has ' + least + ' to ' + most + ' arguments');
		}
		for (var i = 0; i < arguments.length; i++) {
			if (arguments[i] === undefined) {
				wrong('argument ' + (i + 1) + ' of ' + name + '() is undefined');
			}
		}
		return effect.apply(null, arguments);
	};
}
var global = this;
define.call(global, 'ARG_ENABLE', 3, 3, function (name, help, value) { asked.options.push('--enable-' + name + '=' + value); });
define.call(global, 'CHECK_LIB', 1, 4, function (names, target) {
	asked.libraries.push(names);
	same('dlock', target, 'for whom the library is');
	return settings.has_library || names.indexOf('hiredis') < 0;
});
define.call(global, 'CHECK_HEADER_ADD_INCLUDE', 2, 6, function (name, flags) {
	asked.headers.push(name);
	same('CFLAGS_DLOCK', flags, 'whose flags');
	return settings.has_header;
});
define.call(global, 'EXTENSION', 2, 6, function (name, sources, shared, flags) {
	asked.extensions.push(name);
	same('yes', shared, 'is it a DLL?');
	same(true, flags.indexOf('/DZEND_ENABLE_STATIC_TSRMLS_CACHE=1') >= 0, 'has it the cache for ZTS?');
	add('.', sources);
});
define.call(global, 'ADD_SOURCES', 2, 4, function (directory, sources, target) {
	same('dlock', target, 'whose sources');
	same(1, asked.extensions.length, 'extensions before its sources'); // else their flags are not there yet
	same(0, directory.indexOf(configure_module_dirname + '/'), 'are the sources below the module?');
	add(directory.substring(configure_module_dirname.length + 1), sources);
});
define.call(global, 'AC_DEFINE', 2, 4, function (name, value) { asked.defines.push(name + '=' + value); });
define.call(global, 'ERROR', 1, 1, function (text) { asked.errors.push(text); throw new End(); }); // PHP's ends configure
define.call(global, 'WARNING', 1, 1, function (text) { asked.warnings.push(text); });

function End() {}

function add(directory, sources) {
	var names = sources.split(/\s+/);
	for (var i = 0; i < names.length; i++) {
		asked.sources.push((directory === '.' ? '' : directory + '/') + names[i]);
	}
}

/* Those of config.m4, where it is built: all but what is left out, each once, and no two with one name, as all objects of an
 * extension that phpize builds are put into one directory there. */
function look_at_sources() {
	var wanted = [], seen = {};
	for (var i = 0; i < files.length; i++) {
		if (!left_out.test(files[i])) {
			wanted.push(files[i]);
		}
	}
	for (i = 0; i < asked.sources.length; i++) {
		var name = asked.sources[i].replace(/^.*\//, '');
		same(undefined, seen[name], 'another source with the name of ' + asked.sources[i]);
		seen[name] = asked.sources[i];
	}
	same(wanted.sort().join(' '), asked.sources.slice().sort().join(' '), 'sources');
}

var configure_module_dirname = 'C:/php/pecl/dlock', PHP_PHP_BUILD = 'C:\\php\\deps', PHP_DLOCK, PHP_DLOCK_SHARED = 'yes', TARGET_ARCH = 'x64';

function run(name, enabled, has_library, has_header) {
	settings = { name: name, has_library: has_library, has_header: has_header };
	asked = { options: [], libraries: [], headers: [], extensions: [], sources: [], defines: [], warnings: [], errors: [] };
	PHP_DLOCK = enabled;
	try {
		(0, eval)(source);
	} catch (e) {
		if (!(e instanceof End)) {
			wrong(e);
		}
	}
	same('--enable-dlock=no', asked.options.join(), 'options');
}

run('with hiredis', 'yes', true, true);
same('dlock', asked.extensions.join(), 'extensions');
same('hiredis.lib;hiredis_a.lib,ws2_32.lib,bcrypt.lib,mincore.lib', asked.libraries.join(), 'libraries');
same('hiredis/hiredis.h', asked.headers.join(), 'headers');
same('HAVE_DLOCK=1', asked.defines.join(), 'defines');
same('', asked.warnings.join(), 'warnings');
look_at_sources();

run('without the library', 'yes', false, true);
same('/1', asked.extensions.join() + '/' + asked.warnings.length, 'extensions/warnings');
run('without the header', 'yes', true, false);
same('/1', asked.extensions.join() + '/' + asked.warnings.length, 'extensions/warnings');
TARGET_ARCH = 'x86';
run('32 bits', 'yes', true, true);
same('dlock needs a PHP with 64-bit integers: fencing tokens do not fit into 32 bits', asked.errors.join(), 'error');
same('', asked.libraries.join() + asked.extensions.join(), 'what is asked for');
run('not wanted, 32 bits', 'no', true, true);
same('', asked.errors.join(), 'errors');
TARGET_ARCH = 'arm64';
run('ARM', 'yes', true, true);
same('dlock/0', asked.extensions.join() + '/' + asked.errors.length, 'extensions/errors');
run('not wanted', 'no', true, true);
same('', asked.libraries.join() + asked.extensions.join() + asked.warnings.join(), 'what is asked for');
