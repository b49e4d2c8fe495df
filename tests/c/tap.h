#ifndef TAP_H
#define TAP_H

/* Checks of a C test program, printed as TAP: "ok 1 - text" or "not ok 1 - text # file:line".
 * Children of fork() do not check: they report to their parent, which checks. */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* check(condition, "text like printf's", ...) returns the condition. */
#define check(good, ...) tap_check((good), true, __FILE__, __LINE__, __VA_ARGS__)

/* What has to happen at once happens within this time, even on a busy machine. The simulator tests how soon. */
#define SOON (30 * DLOCK_SECOND)

/* For what the design asks for and the code does not do yet: a failure is printed, but does not count. */
#define check_todo(good, ...) tap_check((good), false, __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 5, 6)))
bool tap_check(bool good, bool expected, const char *file, int line, const char *format, ...);

/* Prints a remark. */
__attribute__((format(printf, 1, 2)))
void note(const char *format, ...);

typedef struct {
	const char *name;
	void (*run)(void);
} tap_test;

/* The entry for test_NAME(). */
#define TEST(name) { #name, test_##name }

/* Runs the tests whose name contains `only` (NULL: all), each after `reset`. */
void tap_run(const tap_test *tests, size_t count, const char *only, void (*reset)(void));

/* Prints the plan, and returns the exit status. */
int tap_end(void);

/* What the tests of a program have in common. */
typedef struct {
	void (*begin)(void);
	void (*reset)(void); /* before each test; both may be NULL */
} tap_setting;

/* Runs a whole program, and returns its exit status. The argument is a word in the names of the tests to run. */
int tap_main(int argc, char **argv, const tap_test *tests, size_t count, const tap_setting *setting);

#endif
