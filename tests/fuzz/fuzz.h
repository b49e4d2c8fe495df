#ifndef DLOCK_TESTS_FUZZ_H
#define DLOCK_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the targets share: scripts/fuzz.sh tells how they are built and run. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program where something does not hold that must hold for every input; the fuzzer keeps that input. */
#define MUST(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* Stands for a password; the dictionaries have it, so that it comes to be in every part of an input. */
#define SECRET "s3cr3t"

/* The next line of the input as a copy of just its size, so that a read past its end is seen. To be freed. */
static inline char *take_line(const uint8_t **data, size_t *size, size_t *len)
{
	const uint8_t *newline = *size ? memchr(*data, '\n', *size) : NULL;

	*len = newline ? (size_t) (newline - *data) : *size;
	char *line = malloc(*len + 1);
	MUST(line);
	if (*len) {
		memcpy(line, *data, *len);
	}
	line[*len] = '\0';
	*data += *len + (newline != NULL);
	*size -= *len + (newline != NULL);
	return line;
}

#endif
