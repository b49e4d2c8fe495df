/* PHP in many threads of one process: each starts and ends requests that lock, wait, hold, throw and exit, on all lock
 * classes and the same few resources, while other threads are started and ended. That no two ever hold the same lock is
 * seen here, below PHP, by atomics that all threads share. What requests do is in requests.php.
 *
 *   threads [--seconds N] [--threads N] [--fatal] [-d name=value …] requests.php
 *
 *   --fatal     requests that end by fatal errors and the memory limit as well (they leave memory to the request's end)
 *
 * Needs DLOCK_TEST_REDIS and DLOCK_TEST_ZK, see tests/setup/servers.sh. Links with a thread-safe PHP's libphp.a. The
 * last line is "N passed, N failed". Built and run by scripts/test-zts.sh. */

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "php.h"
#include "php_main.h"
#include "php_variables.h"
#include "SAPI.h"
#include "TSRM.h"
#include "zend_signal.h"

#ifndef ZTS
#error "this PHP has no threads"
#endif

ZEND_TSRMLS_CACHE_DEFINE()

enum { CLASSES = 3, SLOTS = 3, MAX_THREADS = 64, MAX_SETTINGS = 16, OUTPUT = 4096 };

static const char *const classes[CLASSES] = { "DistributedLock", "RedLock", "ZkLock" };

typedef struct {
	const char *name;
	const char *output; /* which the request is to print, somewhere; NULL: nothing at all */
	bool fatal;
} scenario;

static const scenario scenarios[] = {
	{ "synchronized", NULL, false },
	{ "lock", NULL, false },
	{ "hold", NULL, false },
	{ "acquire", NULL, false },
	{ "timeout", NULL, false },
	{ "many", NULL, false },
	{ "throw", "thrown on purpose", false },
	{ "leave", NULL, false },
	{ "throw_in_section", "thrown on purpose", false },
	{ "exit", "exit on purpose", false },
	{ "cycle", NULL, false },
	{ "detach", NULL, false },
	{ "fatal", "fatal on purpose", true },
	{ "memory", "Allowed memory size", true },
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static int seconds = 30, threads = 6;
static bool with_fatal;

/* At most: its bell, and connections to four servers, at two paces. */
#define RENEWAL_DESCRIPTORS 9
static const char *settings[MAX_SETTINGS], *script;
static int settings_given;
static char run_name[32];

/* ---- what all threads see
 * -------------------------------------------------------------------------------------------- */

static struct {
	atomic_int inside;
	atomic_llong last_token;
} resources[CLASSES][SLOTS];

static atomic_int overlaps[CLASSES], stale_tokens[CLASSES], sections[CLASSES];
static atomic_int ended[CLASSES][SCENARIOS]; /* requests that came to where they wanted to be */
static atomic_int timeouts, started, finished, complaints;
static atomic_uint sequence;
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static void complain(const char *format, ...)
{
	va_list arguments;

	pthread_mutex_lock(&printing);
	if (atomic_fetch_add(&complaints, 1) < 20) { /* the first ones tell all */
		printf("# ");
		va_start(arguments, format);
		vprintf(format, arguments);
		va_end(arguments);
		putchar('\n');
		fflush(stdout);
	}
	pthread_mutex_unlock(&printing);
}

/* ---- this thread's request
 * ------------------------------------------------------------------------------------------- */

static _Thread_local struct {
	int class, scenario;
	char output[OUTPUT];
	size_t len;
} request;

static bool slot_of(zend_long slot, zend_long class)
{
	if (class >= 0 && class < CLASSES && slot >= 0 && slot < SLOTS) {
		return true;
	}
	zend_throw_error(NULL, "no such slot");
	return false;
}

/* task(): [int class, string class, string scenario, string run] */
ZEND_FUNCTION(task)
{
	ZEND_PARSE_PARAMETERS_NONE();
	array_init(return_value);
	add_next_index_long(return_value, request.class);
	add_next_index_string(return_value, classes[request.class]);
	add_next_index_string(return_value, scenarios[request.scenario].name);
	add_next_index_string(return_value, run_name);
}

/* enter(int class, int slot, int fencing token or 0): the lock was just taken. */
ZEND_FUNCTION(enter)
{
	zend_long class, slot, token;

	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_LONG(class)
		Z_PARAM_LONG(slot)
		Z_PARAM_LONG(token)
	ZEND_PARSE_PARAMETERS_END();
	if (!slot_of(slot, class)) {
		RETURN_THROWS();
	}
	if (atomic_fetch_add(&resources[class][slot].inside, 1) != 0) {
		atomic_fetch_add(&overlaps[class], 1);
		complain("%s, slot %d: two hold it at once", classes[class], (int) slot);
	}
	if (token != 0 && atomic_exchange(&resources[class][slot].last_token, token) >= token) {
		atomic_fetch_add(&stale_tokens[class], 1);
		complain("%s, slot %d: a fencing token that does not rise", classes[class], (int) slot);
	}
	atomic_fetch_add(&sections[class], 1);
}

/* leave(int class, int slot): the lock is about to be given back. */
ZEND_FUNCTION(leave)
{
	zend_long class, slot;

	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_LONG(class)
		Z_PARAM_LONG(slot)
	ZEND_PARSE_PARAMETERS_END();
	if (!slot_of(slot, class)) {
		RETURN_THROWS();
	}
	atomic_fetch_sub(&resources[class][slot].inside, 1);
}

/* arrived(): the request did what its scenario is about. */
ZEND_FUNCTION(arrived)
{
	ZEND_PARSE_PARAMETERS_NONE();
	atomic_fetch_add(&ended[request.class][request.scenario], 1);
}

ZEND_FUNCTION(timed_out)
{
	ZEND_PARSE_PARAMETERS_NONE();
	atomic_fetch_add(&timeouts, 1);
}

ZEND_FUNCTION(complain)
{
	zend_string *message;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(message)
	ZEND_PARSE_PARAMETERS_END();
	complain("%s, %s: %s", classes[request.class], scenarios[request.scenario].name, ZSTR_VAL(message));
}

ZEND_BEGIN_ARG_INFO_EX(no_arguments, 0, 0, 0)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO_EX(three_arguments, 0, 0, 3)
	ZEND_ARG_INFO(0, class)
	ZEND_ARG_INFO(0, slot)
	ZEND_ARG_INFO(0, token)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO_EX(two_arguments, 0, 0, 2)
	ZEND_ARG_INFO(0, class)
	ZEND_ARG_INFO(0, slot)
ZEND_END_ARG_INFO()
ZEND_BEGIN_ARG_INFO_EX(one_argument, 0, 0, 1)
	ZEND_ARG_INFO(0, message)
ZEND_END_ARG_INFO()

static const zend_function_entry functions[] = {
	ZEND_FE(task, no_arguments)
	ZEND_FE(enter, three_arguments)
	ZEND_FE(leave, two_arguments)
	ZEND_FE(arrived, no_arguments)
	ZEND_FE(timed_out, no_arguments)
	ZEND_FE(complain, one_argument)
	ZEND_FE_END
};

/* ---- the SAPI
 * -------------------------------------------------------------------------------------------------------- */

static size_t take_output(const char *text, size_t len)
{
	size_t room = OUTPUT - 1 - request.len, taken = len < room ? len : room;

	memcpy(request.output + request.len, text, taken);
	request.len += taken;
	request.output[request.len] = '\0';
	return len;
}

static void take_log(const char *message, int type)
{
	(void) type;
	take_output(message, strlen(message));
}

static int start_module(sapi_module_struct *module)
{
#if PHP_VERSION_ID >= 80200
	return php_module_startup(module, NULL);
#else
	return php_module_startup(module, NULL, 0);
#endif
}

static int send_nothing(sapi_headers_struct *headers)
{
	(void) headers;
	return SAPI_HEADER_SENT_SUCCESSFULLY;
}

static char *no_cookies(void)
{
	return NULL;
}

static sapi_module_struct sapi = {
	.name = "cli", /* opcache knows which SAPIs it is for */
	.pretty_name = "PHP in threads",
	.startup = start_module,
	.shutdown = php_module_shutdown_wrapper,
	.ub_write = take_output,
	.sapi_error = php_error,
	.send_headers = send_nothing,
	.read_cookies = no_cookies,
	.log_message = take_log,
	.php_ini_ignore = 1,
	.additional_functions = functions,
};

static void php_start(void)
{
	static char ini[8192] = "display_errors=1\nhtml_errors=0\nlog_errors=0\nmax_execution_time=0\nmemory_limit=64M\n"
		"register_argc_argv=0\noutput_buffering=0\nimplicit_flush=1\nerror_reporting=-1\n";

	for (int i = 0; i < settings_given; i++) {
		size_t used = strlen(ini);
		snprintf(ini + used, sizeof ini - used, "%s\n", settings[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	php_tsrm_startup();
	zend_signal_startup();
	sapi_startup(&sapi);
	sapi.ini_entries = ini;
	if (sapi.startup(&sapi) == FAILURE) {
		fputs("PHP does not start\n", stderr);
		exit(2);
	}
}

static void php_stop(void)
{
	php_module_shutdown();
	sapi_shutdown();
	tsrm_shutdown();
}

static void run_request(int class, int scenario)
{
	zend_file_handle file;

	request.class = class;
	request.scenario = scenario;
	request.len = 0;
	request.output[0] = '\0';
	if (php_request_startup() == FAILURE) {
		complain("a request does not start");
		return;
	}
	SG(headers_sent) = 1;
	SG(request_info).no_headers = 1;
	zend_stream_init_filename(&file, script);
	php_execute_script(&file);
	zend_destroy_file_handle(&file);
	php_request_shutdown(NULL);

	const char *expected = scenarios[scenario].output;
	if (expected ? !strstr(request.output, expected) : request.len > 0) {
		complain("%s, %s: printed \"%s\"", classes[class], scenarios[scenario].name, request.output);
	}
}

/* ---- threads
 * --------------------------------------------------------------------------------------------------------- */

static struct {
	pthread_t id;
	atomic_bool over;
} workers[MAX_THREADS];
static sem_t some_over;

static void *work(void *argument)
{
	int number = (int) (intptr_t) argument, available = SCENARIOS;
	int requests = 1 + (int) (atomic_load(&started) % 4);

	while (!with_fatal && scenarios[available - 1].fatal) {
		available--;
	}
	ts_resource(0);
	ZEND_TSRMLS_CACHE_UPDATE();
	for (int i = 0; i < requests; i++) {
		unsigned turn = atomic_fetch_add(&sequence, 1);
		run_request((int) (turn % CLASSES), (int) (turn / CLASSES % (unsigned) available));
	}
	ts_free_thread();
	atomic_fetch_add(&finished, 1);
	atomic_store(&workers[number].over, true);
	sem_post(&some_over);
	return NULL;
}

static bool start_worker(int number)
{
	atomic_store(&workers[number].over, false);
	atomic_fetch_add(&started, 1);
	return pthread_create(&workers[number].id, NULL, work, (void *) (intptr_t) number) == 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

/* Keeps that number of threads running until the time is over, each followed by a new one. */
static void run_threads(void)
{
	double end = now() + seconds, told = now();
	int running = 0;

	sem_init(&some_over, 0, 0);
	for (int i = 0; i < threads; i++) {
		running += start_worker(i);
	}
	while (running > 0) {
		sem_wait(&some_over);
		for (int i = 0; i < threads; i++) {
			if (atomic_exchange(&workers[i].over, false)) {
				pthread_join(workers[i].id, NULL);
				running--;
				running += now() < end && start_worker(i);
			}
		}
		if (now() - told >= 10) {
			told = now();
			printf("# %d threads started, %u requests\n", atomic_load(&started), atomic_load(&sequence));
			fflush(stdout);
		}
	}
}

/* ---- the result
 * ------------------------------------------------------------------------------------------------------ */

static int passed, failed;

static void check(bool good, const char *format, ...)
{
	va_list arguments;

	good ? passed++ : failed++;
	printf("%sok %d - ", good ? "" : "not ", passed + failed);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

static int entries(const char *directory)
{
	DIR *dir = opendir(directory);
	int n = 0;

	while (dir && readdir(dir)) {
		n++;
	}
	if (dir) {
		closedir(dir);
	}
	return n;
}

/* A client library's thread may take a moment to end. */
static bool settles_at(const char *directory, int wanted)
{
	for (double end = now() + 20; entries(directory) > wanted && now() < end; usleep(10000)) {
	}
	return entries(directory) <= wanted;
}

static void report(void)
{
	int least, total = 0;

	for (int c = 0; c < CLASSES; c++) {
		check(atomic_load(&overlaps[c]) == 0, "%s: never two at once (%d sections)", classes[c],
			atomic_load(&sections[c]));
		check(atomic_load(&stale_tokens[c]) == 0, "%s: fencing tokens rise", classes[c]);
		check(atomic_load(&sections[c]) > 0, "%s: there were sections", classes[c]);
	}
	for (int s = 0; s < SCENARIOS; s++) {
		if (scenarios[s].fatal && !with_fatal) {
			continue;
		}
		least = INT_MAX;
		for (int c = 0; c < CLASSES; c++) {
			int n = atomic_load(&ended[c][s]);
			least = n < least ? n : least;
			total += n;
		}
		check(least > 0, "%s: at least %d with each class", scenarios[s].name, least);
	}
	check(atomic_load(&timeouts) > 0, "some waited in vain (%d)", atomic_load(&timeouts));
	check(atomic_load(&started) > 2 * threads, "threads came and went (%d, %d requests)", atomic_load(&started), total);
	check(atomic_load(&finished) == atomic_load(&started), "all of them ended");
	check(atomic_load(&complaints) == 0, "nothing else was wrong (%d)", atomic_load(&complaints));
}

static bool take_options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--fatal")) {
			with_fatal = true;
		} else if (!strcmp(argv[i], "--seconds") && i + 1 < argc) {
			seconds = atoi(argv[++i]);
		} else if (!strcmp(argv[i], "--threads") && i + 1 < argc) {
			threads = atoi(argv[++i]);
		} else if (!strcmp(argv[i], "-d") && i + 1 < argc && settings_given < MAX_SETTINGS) {
			settings[settings_given++] = argv[++i];
		} else if (argv[i][0] == '-' || script) {
			return false;
		} else {
			script = realpath(argv[i], NULL); /* PHP's threads have working directories of their own */
		}
	}
	return script && seconds > 0 && threads > 0 && threads <= MAX_THREADS && getenv("DLOCK_TEST_REDIS")
		&& getenv("DLOCK_TEST_ZK");
}

int main(int argc, char **argv)
{
	if (!take_options(argc, argv)) {
		fputs("usage: see the top of threads.c\n", stderr);
		return 2;
	}
	snprintf(run_name, sizeof run_name, "threads-%d", (int) getpid());
	php_start();
	int descriptors = entries("/proc/self/fd"), tasks = entries("/proc/self/task");

	run_threads();
	/* The thread that renews, with its connections, is the process' and stays until its end. */
	check(settles_at("/proc/self/task", tasks + 1), "no other thread is left (%d before, %d after)", tasks,
		entries("/proc/self/task"));
	check(settles_at("/proc/self/fd", descriptors + RENEWAL_DESCRIPTORS),
		"no other descriptor is left (%d before, %d after)", descriptors, entries("/proc/self/fd"));
	report();
	php_stop();
	check(
		settles_at("/proc/self/task", tasks) && settles_at("/proc/self/fd", descriptors), "nothing at all at the end");
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}
