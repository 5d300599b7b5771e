#include "books.h"

#include <string.h>

#include "subject.h"

enum { T0 = 1000, MARKED = 3 };

static void open_at_start(struct books *books, uint32_t findings)
{
	books_open(books, findings);
	books->frame.ts_ns = T0;
}

/* A packet from LID 1 to this LID that breaks the rules. */
static struct ft_item item_of(struct books *books, uint16_t dlid, uint32_t rules)
{
	struct ft_item item = {
		.frame = &books->frame,
		.from = RED,
		.to = BLUE,
		.rules = rules,
		.dest_qp = 17,
	};

	item.key = (struct ft_check_key){ IB(1, dlid, 0x8001) };
	return item;
}

static void add(struct books *books, const struct ft_item *item, uint64_t flow)
{
	struct ft_item_more more = {
		.flow = flow,
		.has_verdict = true,
		.verdict = {
			.src = { .endpoint = FT_NONE, .tenant = item->from },
			.dst = { .endpoint = FT_NONE, .tenant = item->to },
			.origin = { .file = FT_NONE },
			.crossing_origin = { .file = FT_NONE },
			.spoof_origin = { .file = FT_NONE },
		},
	};

	more.subject = ft_subject_digest(&item->key, &more.verdict, books->account.seed);
	books->frame.number++;
	assert_int_equal(ft_account_add(&books->account, books->source, item, &more), 0);
}

/* More subjects than the cache has room for, again and again. */
static void frames_of_a_subject_are_in_one_finding(void **state)
{
	enum { SUBJECTS = 40000, ROUNDS = 3 };
	const uint32_t rules = R(PKEY_UNDECLARED) | R(TENANT_CROSSING);
	struct books books;

	(void)state;
	open_at_start(&books, 1 << 17);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < SUBJECTS; i++) {
			struct ft_item item = item_of(&books, (uint16_t)(10 + i), rules);

			add(&books, &item, 0);
		}
	assert_int_equal(books.account.findings.count, 2 * SUBJECTS);
	for (unsigned i = 0; i < 2 * SUBJECTS; i++) {
		assert_int_equal(books.account.findings.items[i].packets, ROUNDS);
		assert_int_equal(books.account.findings.items[i].bytes, ROUNDS * BOOKS_BYTES);
		assert_int_equal(books.account.findings.items[i].frames[0], 1 + i / 2);
	}
	assert_int_equal(books.account.findings.dropped, 0);
	books_close(&books);
}

/* A subject is two ends, whoever's they are by now. */
static void a_subject_that_changes_hands_is_one_finding(void **state)
{
	struct books books;
	struct ft_item item;

	(void)state;
	open_at_start(&books, 16);
	item = item_of(&books, 9, R(PKEY_UNDECLARED));
	add(&books, &item, 0);
	item.to = RED;
	add(&books, &item, 0);
	assert_int_equal(books.account.findings.count, 1);
	assert_int_equal(books.account.findings.items[0].packets, 2);
	assert_int_equal(books.account.findings.items[0].subject.dst.tenant, BLUE);
	books_close(&books);
}

/* What is dropped are violations; a remark beyond the limit hides none. */
static void findings_beyond_the_limit_are_counted(void **state)
{
	struct books books;
	struct ft_item item;

	(void)state;
	open_at_start(&books, 2);
	for (unsigned i = 0; i < 10; i++) {
		item = item_of(&books, (uint16_t)(10 + i / 2), R(PKEY_UNDECLARED));
		add(&books, &item, 0);
	}
	item = item_of(&books, 20, R(TENANT_GRACE));
	add(&books, &item, 0);
	item = item_of(&books, 10, R(PKEY_UNDECLARED));
	add(&books, &item, 0);
	item.to = RED; /* whose it is, the subject does not say */
	add(&books, &item, 0);
	assert_int_equal(books.account.findings.count, 2);
	assert_int_equal(books.account.findings.items[0].packets, 4);
	assert_int_equal(books.account.findings.items[1].packets, 2);
	assert_int_equal(books.account.findings.dropped, 6);
	books_close(&books);
}

static void a_flow_tells_its_finding_about_wrong_icrcs(void **state)
{
	struct books books;
	struct ft_item item;

	(void)state;
	open_at_start(&books, 16);
	item = item_of(&books, 10, R(DECODE_BAD_ICRC));
	add(&books, &item, 77);
	item = item_of(&books, 11, R(DECODE_BAD_ICRC));
	add(&books, &item, 99);
	item = item_of(&books, 12, R(PKEY_UNDECLARED));
	add(&books, &item, 55);
	item = item_of(&books, 13, R(DECODE_BAD_ICRC));
	add(&books, &item, 0); /* no flow is known of it */
	assert_int_equal(ft_account_bad_icrc(&books.account, 77), 0);
	assert_int_equal(ft_account_bad_icrc(&books.account, 99), 1);
	assert_int_equal(ft_account_bad_icrc(&books.account, 55), FT_NONE);
	assert_int_equal(ft_account_bad_icrc(&books.account, 78), FT_NONE);
	books_close(&books);
}

/* All of them in the same corner of the table: the first 32 768 are known, and it ends. */
static void more_flows_than_places_are_left_out(void **state)
{
	enum { FLOWS = 40000, PLACES = 32768 };
	struct books books;
	struct ft_item item;

	(void)state;
	open_at_start(&books, 16);
	item = item_of(&books, 10, R(DECODE_BAD_ICRC));
	for (uint64_t i = 1; i <= FLOWS; i++)
		add(&books, &item, i << 33 | 1);
	for (uint64_t i = 1; i <= FLOWS; i++)
		assert_int_equal(ft_account_bad_icrc(&books.account, i << 33 | 1),
				 i <= PLACES ? 0 : FT_NONE);
	assert_int_equal(books.account.findings.items[0].packets, FLOWS);
	books_close(&books);
}

/* The short way takes what has nothing to tell, and does the same with it. */
static void quiet_frames_count_in_the_peaks(void **state)
{
	static const struct {
		const char *says;
		struct ft_observed observed;
		bool noisy, done;
	} rows[] = {
		{ "nothing to tell", { .has = FT_OBSERVED_BTH }, false, true },
		{ "judged for the first time", { .has = FT_OBSERVED_BTH }, true, true },
		{ "a number of the mirror",
		  { .has = FT_OBSERVED_MIRROR, .mirror_sequence_bits = 32 },
		  false,
		  true },
		{ "a mark", { .has = FT_OBSERVED_IP, .ecn = MARKED }, true, false },
		{ "a CNP", { .has = FT_OBSERVED_BTH, .opcode = 0x81 }, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct books books;
		struct ft_item item;

		open_at_start(&books, 16);
		item = item_of(&books, 2, 0);
		item.has_flow = true;
		item.quiet = !rows[i].noisy;
		item.observed = rows[i].observed;
		if ((ft_account_wants(&item) == FT_ACCOUNT_FRAME) != rows[i].done)
			fail_msg("%s", rows[i].says);
		if (rows[i].done)
			ft_account_frame(&books.account, item.frame, item.from);
		else
			add(&books, &item, 0);
		assert_int_equal(ft_peaks_most(&books.account.peaks, RED).bytes, BOOKS_BYTES);
		books_close(&books);
	}
}

/* The whole item where there is something to tell, the frame alone where only its time and length count. */
static void the_account_wants_what_it_needs(void **state)
{
	static const struct {
		const char *says;
		struct ft_item item;
		enum ft_account_wants wants;
	} rows[] = {
		{ "quiet", { .quiet = true }, FT_ACCOUNT_FRAME },
		{ "judged, and no more", { .has_flow = true }, FT_ACCOUNT_FRAME },
		{ "another packet of its frame", { .sub = 1 }, FT_ACCOUNT_NOTHING },
		{ "a copy", { .copy = true }, FT_ACCOUNT_NOTHING },
		{ "a copy that the mirror numbered",
		  { .copy = true, .observed.has = FT_OBSERVED_MIRROR },
		  FT_ACCOUNT_NOTHING },
		{ "quiet, and numbered by the mirror",
		  { .quiet = true, .observed.has = FT_OBSERVED_MIRROR },
		  FT_ACCOUNT_FRAME },
		{ "a frame numbered before",
		  { .sub = 1, .observed.has = FT_OBSERVED_MIRROR },
		  FT_ACCOUNT_NOTHING },
		{ "a rule broken", { .rules = 1 }, FT_ACCOUNT_ITEM },
		{ "a rule broken by another packet", { .sub = 1, .rules = 1 }, FT_ACCOUNT_ITEM },
		{ "a hole", { .gap = true }, FT_ACCOUNT_ITEM },
		{ "a pause", { .pause = true }, FT_ACCOUNT_ITEM },
		{ "a mark",
		  { .has_flow = true, .observed = { .has = FT_OBSERVED_IP, .ecn = MARKED } },
		  FT_ACCOUNT_ITEM },
		{ "a CNP", { .has_flow = true, .observed.opcode = 0x81 }, FT_ACCOUNT_ITEM },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (ft_account_wants(&rows[i].item) != rows[i].wants)
			fail_msg("%s", rows[i].says);
}

static void copies_and_further_packets_add_nothing_to_the_peaks(void **state)
{
	struct books books;
	struct ft_item item;

	(void)state;
	open_at_start(&books, 16);
	item = item_of(&books, 2, 0);
	item.copy = true;
	add(&books, &item, 0);
	item.copy = false;
	item.sub = 1;
	add(&books, &item, 0);
	assert_int_equal(ft_peaks_most(&books.account.peaks, RED).bytes, 0);
	books_close(&books);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_a_subject_are_in_one_finding),
		cmocka_unit_test(a_subject_that_changes_hands_is_one_finding),
		cmocka_unit_test(findings_beyond_the_limit_are_counted),
		cmocka_unit_test(a_flow_tells_its_finding_about_wrong_icrcs),
		cmocka_unit_test(more_flows_than_places_are_left_out),
		cmocka_unit_test(quiet_frames_count_in_the_peaks),
		cmocka_unit_test(the_account_wants_what_it_needs),
		cmocka_unit_test(copies_and_further_packets_add_nothing_to_the_peaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
