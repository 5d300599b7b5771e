#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include <partition/load.h>

/* What the tests of maps share: sample files, and documents read back from what was written. */

#define SAMPLES FT_TEST_DATA "/partitions/"
#define FABRIC  SAMPLES "runtime/v03_ibnetdiscover.txt"

/* Load with the fabric's topology (or NULL); fails the test if it is refused. */
struct ft_declared *load_sample(const char *map, const char *topology);

/* "x.conf" -> the document x.expected.json */
json_t *expected_of(const char *map);

/* What `map show --json` says, also of a refused map. */
json_t *shown(const struct ft_declared *declared);

/* Every key that `want` has is in `have` with the same value. */
void assert_has(const json_t *have, const json_t *want);

/* The same set of (place, code, severity), where the place is `key` ("line" or "where"). */
void assert_same_diagnostics(const json_t *have, const json_t *want, const char *key);

/* The files of a folder of samples with this ending and first letter, sorted; NULL after the last. */
enum { MOST_SAMPLES = 64 };
void list_samples(const char *folder, const char *ending, char first, char *names[MOST_SAMPLES]);
void forget_samples(char *names[MOST_SAMPLES]);
