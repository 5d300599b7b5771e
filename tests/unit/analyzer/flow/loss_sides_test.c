#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loss_sides.h"

/*
 * Of 9000 requests that ask for 3000 ACKs, and of 3000 responses. Both sides in sequences, but for the ACKs. What is expected
 * follows from the counts: an ACK is asked for by one request in three, so that of 900 lost 300 asked for one. Where nothing
 * tells the sides apart, ACKs are lost like all: 900 lost to 11 100 seen.
 */

static const struct row {
	const char *what;
	double requests_lost, answers_lost, acks; /* lost, lost, seen */
	double again;                             /* packets that passed twice */
	double wanted;                            /* ACKs lost */
	double off;                               /* by so many at most */
	double passed_over;                       /* requests of which a later one's ACK came */
} rows[] = {
	/* all lost alike: a tenth of what is */
	{ "both sides", 900, 300, 2700, 0, 300, 1, 0 },
	{ "one ACK for several", 900, 300, 1000, 0, 111, 1, 0 },
	/* every one that was asked for is here */
	{ "requests alone", 900, 0, 3000, 0, 0, 5, 0 },
	{ "requests alone, one ACK missing", 900, 0, 2999, 0, 1, 5, 0 },
	/* a mirror that loses what is long: of each three requests lost fewer than one asked for an ACK, and responses are lost, too */
	{ "what is long, all ACKs are here", 900, 300, 2850, 0, 0, 5, 0 },
	{ "what is long, and some ACKs", 900, 300, 2850, 0, 63, 2, 60 },
	{ "what is long, and more ACKs", 900, 300, 2850, 0, 317, 2, 90 },
	/* adapters that answer unasked, or for several, say nothing */
	{ "requests alone, ACKs unasked", 900, 0, 4000, 0, 324, 1, 0 },
	{ "requests alone, one ACK for several", 900, 0, 1500, 0, 122, 1, 0 },
	{ "requests alone, a few ACKs for several", 900, 0, 3000, 0, 0, 5, 20 },
	{ "ACKs unasked make up for those lost", 900, 0, 3000, 0, 243, 1, 243 },
	/* responses tell what becomes of ACKs */
	{ "answers alone", 0, 300, 2700, 0, 300, 1, 0 },
	{ "answers alone, one ACK for several", 0, 300, 900, 0, 100, 1, 0 },
	/* but no more than were asked for and are not here: a mirror may pass what is short */
	{ "all responses, no ACK", 0, 3000, 3000, 0, 0, 0.1, 0 },
	{ "nine responses of ten, one ACK in a hundred", 0, 2700, 2970, 0, 46, 1, 0 },
	/* too few to say */
	{ "three answers", 0, 3, 2997, 0, 0.8, 0.2, 0 },
	/* what is sent again asks for ACKs once more: their number says nothing, but whether requests have their own does */
	{ "requests alone, some of them sent again", 900, 0, 3000, 100, 243, 1, 243 },
	{ "requests alone, sent again, and have their own", 900, 0, 3000, 100, 0, 1, 0 },
	{ "both sides, some sent again, and have their own", 900, 300, 2500, 100, 0, 1, 0 },
	{ "requests alone, sent again, most have their own", 900, 0, 3000, 100, 49, 1, 60 },
};

static void check(const struct row *row)
{
	const struct ft_loss_evidence evidence = {
		.answers_seen = (uint64_t)(3000 - row->answers_lost),
		.answers_lost = (uint64_t)row->answers_lost,
		.requests_lost = (uint64_t)row->requests_lost,
		.asking = (uint64_t)(3000 - row->requests_lost / 3),
		.acks = (uint64_t)row->acks,
		.timed = 3000,
		.passed_over = (uint64_t)row->passed_over,
		.replies = (uint64_t)row->acks,
		.twice = (uint64_t)row->again,
	};
	double holes = row->requests_lost + row->answers_lost, spaces = 12000 - holes;
	const struct ft_loss_alike alike = { spaces, holes, row->acks, 1, 1 };
	double unseen = row->acks * holes / spaces;
	struct ft_inferred lost =
		ft_loss_by_side(&evidence, &alike, &(struct ft_loss_spared){ 0 },
				(struct ft_inferred){ .mean = unseen, .variance = 2 * unseen });

	if (lost.mean > row->wanted + row->off || lost.mean < row->wanted - row->off)
		fail_msg("%s: %f ACKs lost, not %f", row->what, lost.mean, row->wanted);
	assert_true(lost.variance >= 0);
}

static void acks_are_lost_like_what_they_answer_or_are_answered_by(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
}

/* A loss of a hundred frames in a row is one drawing: chance may have spared the answers. */
static void what_one_loss_took_says_little(void **state)
{
	static struct ft_loss_evidence evidence = {
		.answers_seen = 3000, .asking = 2967, .acks = 3000, .replies = 3000, .timed = 3000
	};
	const struct ft_inferred inferred = { .mean = 25, .variance = 2500 };
	struct ft_loss_alike alike = { 11900, 100, 3000, 100, 100 };
	const struct ft_loss_spared none = { 0 };

	(void)state;
	assert_true(ft_loss_by_side(&evidence, &alike, &none, inferred).mean == 25);
	alike.frames = alike.sequence = 1; /* one by one it is none */
	assert_true(ft_loss_by_side(&evidence, &alike, &none, inferred).mean < 1);
}

/*
 * Of 9000 requests 900 are lost, twelve frames in a row, and 300 of 3200 responses; 60 of those requests asked for an ACK. Where
 * losses take all alike, as many that are here lack theirs. Where none does, only what is long was lost; be it that the ACK of a
 * later one came, or none any more.
 */
static void acks_that_pass_between_losses_are_not_among_them(void **state)
{
	const struct {
		uint64_t acks, unseen, passed_over;
		bool spared;
	} cases[] = {
		{ 3000, 60, 0, true },  { 2995, 60, 0, true },  { 2940, 60, 54, false },
		{ 2940, 60, 0, false }, { 2950, 10, 0, false }, { 3000, 60, 54, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct ft_loss_evidence evidence = {
			.answers_seen = 2900,
			.answers_lost = 300,
			.requests_lost = 900,
			.asking = 2940,
			.timed = 2700,
			.passed_over = cases[i].passed_over,
			.acks = cases[i].acks,
			.replies = cases[i].acks,
			.acked_unseen = cases[i].unseen,
		};
		const struct ft_loss_alike alike = { 11000, 1200, (double)cases[i].acks, 12, 3 };
		const struct ft_inferred all = { .mean = 320, .variance = 2000 };
		const struct ft_loss_spared spared = ft_loss_spared_of(&evidence, 1200 / 11000., 3);
		struct ft_inferred lost = ft_loss_by_side(&evidence, &alike, &spared, all);

		assert_true(cases[i].spared ? lost.mean < all.mean / 8 : lost.mean == all.mean);
	}
}

/*
 * 400 frames are in no sequence, 300 of them ACKs, and 40 are inferred to be lost: 30 ACKs. Where no request that they are for is in view,
 * as in a view of one direction, nothing tells that any is; else they are told, by the requests that lack theirs.
 */
static void of_acks_alone_nothing_tells_what_is_lost(void **state)
{
	const struct ft_loss_alike alike = { 1000, 100, 400, 1, 1 };
	struct ft_loss_evidence evidence = { .acks = 300, .replies = 300, .requests_lost = 100 };
	struct ft_inferred lost;

	(void)state;
	lost = ft_loss_by_side(&evidence, &alike, &(struct ft_loss_spared){ 0 },
			       (struct ft_inferred){ .mean = 40, .variance = 80 });
	assert_true(lost.mean > 39.9 && lost.mean < 40.1);
	assert_true(lost.untold > 29.9 && lost.untold < 30.1);
	evidence.timed = 300;
	evidence.passed_over = 30;
	lost = ft_loss_by_side(&evidence, &alike, &(struct ft_loss_spared){ 0 },
			       (struct ft_inferred){ .mean = 40, .variance = 80 });
	assert_true(lost.untold == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_are_lost_like_what_they_answer_or_are_answered_by),
		cmocka_unit_test(what_one_loss_took_says_little),
		cmocka_unit_test(acks_that_pass_between_losses_are_not_among_them),
		cmocka_unit_test(of_acks_alone_nothing_tells_what_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
