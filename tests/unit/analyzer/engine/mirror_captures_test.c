/*
 * Real mirror captures with frames left out: exactly those are counted. The captures' descriptions say
 * that none is missing to begin with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "captures.h"
#include "mirror_sequence.h"

static const char *const captures[] = { "mirror-erspan2-cut128.pcap", "mirror-erspan2.pcap",
					"mirror-erspan3.pcap" };

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

struct loss {
	unsigned per_mille, burst;
	unsigned times; /* that each frame comes */
};

/* Neither the first frame nor the last can be missed by their numbers. */
static void verify(const struct captured *frames, const struct loss *loss)
{
	struct ft_mirror_sequence *sequence;
	uint64_t random = 5;
	size_t gone_until = 0, gone = 0;

	assert_int_equal(ft_mirror_sequence_create(&sequence, 1), 0);
	for (size_t i = 0; i < frames->count; i++) {
		if (next_random(&random) % 1000 < loss->per_mille)
			gone_until = i + loss->burst;
		if (i < gone_until && i > 0 && i < frames->count - 1) {
			gone++;
			continue;
		}
		for (unsigned time = 0; time < loss->times; time++)
			ft_mirror_sequence_see(sequence, 0, &frames->at[i]);
	}
	assert_true(gone > 0 || loss->per_mille == 0);
	assert_int_equal(ft_mirror_sequence_lost(sequence, 0), gone);
	ft_mirror_sequence_destroy(sequence);
}

static void frames_left_out_are_counted(void **state)
{
	static const struct loss losses[] = {
		{ 0, 0, 1 },   { 0, 0, 2 },   { 10, 1, 1 },  { 100, 1, 1 },
		{ 300, 1, 1 }, { 10, 20, 1 }, { 100, 1, 2 },
	};
	struct captured frames;

	(void)state;
	for (size_t i = 0; i < sizeof captures / sizeof *captures; i++) {
		if (!captures_read(captures[i], &frames))
			continue;
		print_message("%s\n", captures[i]);
		for (size_t j = 0; j < sizeof losses / sizeof *losses; j++)
			verify(&frames, &losses[j]);
		captures_free(&frames);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_left_out_are_counted),
	};

	return cmocka_run_group_tests_name("mirror_captures", tests, NULL, NULL);
}
