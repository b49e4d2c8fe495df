#ifndef TAP_H
#define TAP_H

/* Checks of a C test program, printed as TAP: "ok 1 - text" or "not ok 1 - text # file:line".
 * Children of fork() do not check: they report to their parent, which does. */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* check(condition, "text like printf's", ...) is whether it held. */
#define check(good, ...) tap_check((good), true, __FILE__, __LINE__, __VA_ARGS__)

/* Time in which a machine that does other things as well gets to whatever is to come at once. How soon it comes is
 * shown in virtual time. */
#define SOON (30 * DLOCK_SECOND)

/* What the design asks for and the code does not do yet: seen, but not counted as a failure. */
#define check_todo(good, ...) tap_check((good), false, __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 5, 6)))
bool tap_check(bool good, bool expected, const char *file, int line, const char *format, ...);

/* A remark on what follows. */
__attribute__((format(printf, 1, 2)))
void note(const char *format, ...);

typedef struct {
	const char *name;
	void (*run)(void);
} tap_test;

/* The entry of test_NAME(). */
#define TEST(name) { #name, test_##name }

/* Runs those whose name has `only` in it (NULL: all), each after `reset`. */
void tap_run(const tap_test *tests, size_t count, const char *only, void (*reset)(void));

/* The plan; returns the exit status. */
int tap_end(void);

/* What the tests of a program have in common. */
typedef struct {
	void (*begin)(void);
	void (*reset)(void); /* before each; both may be NULL */
} tap_setting;

/* A whole program; returns its exit status. The argument is a word in the names of the tests to run. */
int tap_main(int argc, char **argv, const tap_test *tests, size_t count, const tap_setting *setting);

#endif
