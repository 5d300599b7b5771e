#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flow/loss_estimate.h>

/* Losses that last as long as connections, or longer: what shows is that their beginning is missing. */

static struct ft_loss_evidence evidence;

static void fill_spaces(void)
{
	ft_loss_init(&evidence);
	for (uint64_t frame = 1; frame <= 10000; frame++)
		ft_loss_space(&evidence, frame);
}

/*
 * Of a hundred half-connections that came up in the capture ten were met in the midst of their first message, ten frames
 * were lost before them at least. If as much was lost within sequences, one in ten, losses are as they seem. If nothing was,
 * they last longer than sequences: one in ten frames may be missing, or far more. Not if all were met soon after the beginning, or
 * most halves were met so: they are older than the capture, and take turns with many others.
 */
static void losses_that_cut_sequences_alone_outlast_them(void **state)
{
	const struct {
		uint64_t holes, late, forgotten;
		uint64_t from, apart; /* the frames of those met so .. */
		uint64_t met;         /* .. and of how many */
		uint64_t low, least;  /* of the estimate */
		bool lasting;
	} rows[] = {
		{ 0, 0, 0, 1000, 900, 100, 10, 10000 / 10, true },
		{ 1000, 0, 0, 1000, 900, 100, 1000, 1000, false },
		/* what overtook another may have come first; a half that had left the table may have come back */
		{ 0, 1, 0, 1000, 900, 100, 0, 0, false },
		{ 0, 0, 1, 1000, 900, 100, 0, 0, false },
		{ 0, 0, 0, 1000, 1, 100, 0, 0, false },
		/* soon before the end of the first quarter, and none before */
		{ 0, 0, 0, 2300, 1, 100, 10, 10000 / 10, true },
		{ 0, 0, 0, 1000, 900, 39, 0, 0, false },
		{ 0, 0, 0, 1000, 900, 29, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_loss_estimate estimate;

		fill_spaces();
		for (uint64_t n = 0; n < rows[i].holes; n++)
			ft_loss_hole(&evidence, 1 + 9 * n, 1);
		for (uint64_t n = 0; n < 10; n++)
			ft_loss_miss(&evidence, rows[i].from + rows[i].apart * n, 1, FT_LOSS_CUT);
		evidence.opened = rows[i].met;
		evidence.late = rows[i].late;
		evidence.forgotten = rows[i].forgotten;
		ft_loss_believe_cut(&evidence);
		ft_loss_estimate(&evidence, 0, &estimate);
		assert_int_equal(estimate.lasting, rows[i].lasting);
		assert_int_equal(estimate.bounded, !rows[i].lasting);
		assert_int_equal(estimate.low, rows[i].low);
		assert_in_range(estimate.frames, rows[i].least, rows[i].least + 10);
	}
}

/* `counted` halves, of which the count of messages shows so many to have begun before they were met, from `from` on. */
static struct ft_loss_estimate with_older(uint64_t counted, uint64_t older, uint64_t from,
					  uint64_t apart)
{
	struct ft_loss_estimate estimate;

	fill_spaces();
	evidence.counted = counted;
	for (uint64_t n = 0; n < older; n++)
		ft_loss_miss(&evidence, from + n * apart, 1, FT_LOSS_OLDER);
	ft_loss_believe_cut(&evidence);
	ft_loss_estimate(&evidence, 0, &estimate);
	return estimate;
}

/*
 * Ten of 1000 halves, all over the capture: of one in a hundred the beginning is missing, 100 of the 10 000 frames or far more.
 * Not where such halves are many or no others are met, for then connections are from before the capture; nor soon after its
 * beginning, where those show: three of five may be by chance, but not four.
 */
static void messages_counted_before_the_first_one_were_lost(void **state)
{
	const struct {
		uint64_t counted, older, from, apart;
		uint64_t low, wanted;
		bool lasting;
	} rows[] = {
		{ 1000, 10, 600, 900, 10, 100, true }, { 39, 10, 600, 900, 0, 0, false },
		{ 29, 1, 6000, 1, 0, 0, false },       { 1000, 10, 100, 200, 0, 0, false },
		{ 1000, 5, 1000, 700, 5, 50, true },   { 1000, 5, 1000, 400, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_loss_estimate estimate =
			with_older(rows[i].counted, rows[i].older, rows[i].from, rows[i].apart);

		assert_int_equal(estimate.lasting, rows[i].lasting);
		assert_int_equal(estimate.bounded, !rows[i].lasting);
		assert_int_equal(estimate.low, rows[i].low);
		assert_int_equal(estimate.frames, rows[i].wanted);
	}
}

/*
 * In the first quarter, but ten of them close together, and none before, as behind a silence of the mirror: those from before the
 * capture would be met from its beginning on. Where they are told of behind the first 512 frames alone, 600 is soon; and two
 * may be by chance.
 */
static void those_from_before_the_capture_are_met_from_its_beginning_on(void **state)
{
	const struct {
		uint64_t older, from, apart;
		bool told_late, lasting;
	} rows[] = {
		{ 10, 600, 20, false, true }, { 10, 600, 20, true, false },
		{ 10, 1500, 20, true, true }, { 10, 1, 80, false, false },
		{ 2, 600, 20, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_loss_estimate estimate;

		fill_spaces();
		evidence.counted = 1000;
		evidence.older_late = rows[i].told_late;
		for (uint64_t n = 0; n < rows[i].older; n++)
			ft_loss_miss(&evidence, rows[i].from + n * rows[i].apart, 1, FT_LOSS_OLDER);
		ft_loss_believe_cut(&evidence);
		ft_loss_estimate(&evidence, 0, &estimate);
		assert_int_equal(estimate.lasting, rows[i].lasting);
		assert_int_equal(estimate.bounded, !rows[i].lasting);
		assert_int_equal(estimate.low, rows[i].lasting ? rows[i].older : 0);
	}
}

/*
 * 20 frames are lost of 10 000, and 5 of 1000 halves are cut, where 2 would be by as many losses within sequences. One by one
 * that is chance; of losses of ten in a row it is two that went over the ends of sequences, and nobody knows how many more.
 */
static void losses_in_a_row_need_no_more_to_be_lasting(void **state)
{
	(void)state;
	for (unsigned in_a_row = 1; in_a_row <= 10; in_a_row += 9) {
		struct ft_loss_estimate estimate;

		fill_spaces();
		for (uint64_t n = 0; n < 20; n += in_a_row)
			ft_loss_hole(&evidence, 3000 + 100 * n, in_a_row);
		evidence.counted = 1000;
		for (uint64_t n = 0; n < 5; n++)
			ft_loss_miss(&evidence, 2000 + 1500 * n, 1, FT_LOSS_OLDER);
		ft_loss_believe_cut(&evidence);
		ft_loss_estimate(&evidence, 0, &estimate);
		assert_int_equal(estimate.lasting, in_a_row > 1);
	}
}

/*
 * Of 3000 halves, four are cut, and one frame is missing within a sequence: that one says little of how long losses last. As many as
 * that are cut by losses one by one.
 */
static void one_hole_does_not_tell_how_long_losses_last(void **state)
{
	(void)state;
	for (unsigned cut = 3; cut <= 4; cut++) {
		struct ft_loss_estimate estimate;

		fill_spaces();
		ft_loss_hole(&evidence, 5000, 1);
		evidence.counted = 3000;
		for (uint64_t n = 0; n < cut; n++)
			ft_loss_miss(&evidence, 3000 + 1500 * n, 1, FT_LOSS_OLDER);
		ft_loss_believe_cut(&evidence);
		ft_loss_estimate(&evidence, 0, &estimate);
		assert_int_equal(estimate.lasting, cut > 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_that_cut_sequences_alone_outlast_them),
		cmocka_unit_test(messages_counted_before_the_first_one_were_lost),
		cmocka_unit_test(those_from_before_the_capture_are_met_from_its_beginning_on),
		cmocka_unit_test(losses_in_a_row_need_no_more_to_be_lasting),
		cmocka_unit_test(one_hole_does_not_tell_how_long_losses_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
