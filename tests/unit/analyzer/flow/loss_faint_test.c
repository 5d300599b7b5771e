#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flow/loss_estimate.h>

/* A sender that goes back over and over: of a turn of so many frames the first few pass for the first time. */
enum { TURN = 200 };

struct world {
	const char *name;
	uint64_t frames;
	unsigned fresh, holes; /* in each turn; in all */
	bool faint;
};

static const struct world worlds[] = {
	{ "little that is new at a time, of which a loss would show", 15000, 20, 0, true },
	{ "of a longer capture one loss in a hundred would be enough to show", 60000, 20, 0,
	  false },
	{ "a short one shows as little if all passes once", 2000, 20, 0, false },
	{ "most passes once", 15000, 150, 0, false },
	{ "few holes say little of losses of which most leave none", 15000, 20, 3, true },
	{ "many say how often frames are lost", 15000, 20, 30, false },
};

static struct ft_loss_evidence evidence;

static void pass(const struct world *world)
{
	ft_loss_init(&evidence);
	for (uint64_t frame = 1; frame <= world->frames; frame++) {
		if (frame % TURN < world->fresh)
			ft_loss_space(&evidence, frame);
		else
			ft_loss_again(&evidence, frame);
	}
	for (uint64_t i = 0; i < world->holes; i++)
		ft_loss_hole(&evidence, (i + 1) * world->frames / (world->holes + 1), 1);
}

static void what_passes_again_and_again_hides_losses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
		struct ft_loss_estimate estimate;

		pass(&worlds[i]);
		ft_loss_estimate(&evidence, 0, &estimate);
		if (estimate.faint != worlds[i].faint || estimate.bounded == worlds[i].faint)
			fail_msg("%s: faint %d, bounded %d", worlds[i].name, estimate.faint,
				 estimate.bounded);
		assert_true(estimate.known);
		if (worlds[i].holes == 0)
			assert_int_equal(estimate.frames, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_passes_again_and_again_hides_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
