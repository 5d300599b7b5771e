#include "books.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <partition/map.h>

#include "cut_frame.h"
#include "subject.h"

/* What a finding keeps of the packets that are counted in it, and which of them become evidence: docs/findings.md. */

enum { MOST_EVIDENCE = 1 << 16 };

#define T0 UINT64_C(1000)

static int set_up(void **state)
{
	static struct books books;

	books_open(&books, 0);
	*state = &books;
	return 0;
}

static int tear_down(void **state)
{
	books_close(*state);
	return 0;
}

/* What a packet from LID 1 to LID 2 has come to; the tests change what they are about. */
struct told {
	struct ft_item item;
	struct ft_item_more more;
};

static struct told told_of(struct books *books, uint32_t rules)
{
	struct told told = {
		.item = { .frame = &books->frame,
			  .from = RED,
			  .to = BLUE,
			  .rules = rules,
			  .known = FT_NEED_ALL,
			  .dest_qp = 17,
			  .key = { IB(1, 2, 0x8001) } },
		.more = { .has_verdict = true,
			  .verdict = { .src = { .endpoint = FT_NONE, .tenant = RED },
				       .dst = { .endpoint = FT_NONE, .tenant = BLUE },
				       .origin = { .file = FT_NONE },
				       .crossing_origin = { .file = FT_NONE },
				       .spoof_origin = { .file = FT_NONE } } },
	};

	return told;
}

static void tell(struct books *books, struct told *told, uint64_t number)
{
	books->frame.number = number;
	books->frame.ts_ns = T0 + number;
	told->more.subject =
		ft_subject_digest(&told->item.key, &told->more.verdict, books->account.seed);
	assert_int_equal(ft_account_add(&books->account, books->source, &told->item, &told->more),
			 0);
}

static struct ft_finding *only_finding(struct books *books)
{
	assert_int_equal(books->account.findings.count, 1);
	return &books->account.findings.items[0];
}

/* --- what a finding keeps --- */

static void a_crossing_between_two_customers_is_critical(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(TENANT_CROSSING));

	tell(books, &told, 1);
	assert_int_equal(only_finding(books)->severity, FT_HIGH);
	told.item.key.slid = 5; /* another subject: the first one is known already */
	told.more.verdict.crossing_between_customers = true;
	tell(books, &told, 2);
	assert_int_equal(books->account.findings.count, 2);
	assert_int_equal(books->account.findings.items[1].severity, FT_CRITICAL);
	told.item.key.slid = 6;
	told.item.rules = R(PKEY_UNDECLARED);
	tell(books, &told, 3);
	assert_int_equal(books->account.findings.items[2].severity, FT_HIGH);
}

static void the_map_line_of_the_first_packet_is_kept(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(PKEY_LIMITED_TO_LIMITED));

	told.more.verdict.origin = (struct ft_origin){ .file = 0, .line = 12 };
	tell(books, &told, 1);
	told.more.verdict.origin.line = 99;
	tell(books, &told, 2);
	assert_int_equal(only_finding(books)->origin.line, 12);
	assert_ptr_equal(only_finding(books)->map, books->map);
}

static void the_base_before_is_that_of_the_first_packet(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(PKEY_CHANGED_ON_CONNECTION));

	told.more.first_base = 7;
	tell(books, &told, 1);
	told.more.first_base = 8;
	tell(books, &told, 2);
	assert_int_equal(only_finding(books)->first_base, 7);
}

/* The words are about the first packet; it is high if any of them looks like another sender's. */
static void the_suspicion_is_the_first_one_and_any_is_grave(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(SPOOF_PSN_CONFLICT));

	told.more.suspicion = (struct ft_suspicion){ .rules = R(SPOOF_PSN_CONFLICT), .psn = 5 };
	tell(books, &told, 1);
	assert_int_equal(only_finding(books)->suspicion.psn, 5);
	assert_false(only_finding(books)->suspicion.grave);
	told.more.suspicion.psn = 6;
	told.more.suspicion.grave = true;
	tell(books, &told, 2);
	told.more.suspicion.grave = false;
	tell(books, &told, 3);
	assert_int_equal(only_finding(books)->suspicion.psn, 5);
	assert_true(only_finding(books)->suspicion.grave);
	assert_int_equal(only_finding(books)->packets, 3);
}

/* A rule of the map is by the map alone, whatever else the packet is suspected of. */
static void a_suspicion_is_kept_with_its_own_rule(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(PKEY_UNDECLARED) | R(SPOOF_PSN_CONFLICT));

	told.more.suspicion =
		(struct ft_suspicion){ .rules = R(SPOOF_PSN_CONFLICT), .psn = 5, .grave = true };
	tell(books, &told, 1);
	assert_int_equal(books->account.findings.count, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct ft_finding *finding = &books->account.findings.items[i];
		bool spoof = finding->rule == FT_RULE_SPOOF_PSN_CONFLICT;

		assert_int_equal(finding->suspicion.rules != 0, spoof);
		assert_int_equal(finding->suspicion.grave, spoof);
	}
}

/* Where the DestQP was cut away it is not known. */
static void a_queue_pair_is_named_if_it_is_known(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(PKEY_UNDECLARED));

	told.item.known = FT_NEED_ALL & ~FT_NEED_DEST_QP;
	tell(books, &told, 1);
	assert_int_equal(only_finding(books)->dest_qp_count, 0);
	told.item.known = FT_NEED_ALL;
	tell(books, &told, 2);
	assert_int_equal(only_finding(books)->dest_qp_count, 1);
	assert_int_equal(only_finding(books)->dest_qps[0], 17);
}

/* Which packets of a search break no other rule: what the report may take back, or has to add. */
static void a_search_keeps_what_its_packets_break_else(void **state)
{
	static const struct {
		const char *what;
		uint32_t beside;
		bool unseen;
		uint64_t uncounted, counted;
	} rows[] = {
		{ "alone", 0, false, 0, 1 },
		{ "alone, the other side out of view", 0, true, 1, 0 },
		{ "beside a violation", R(TENANT_CROSSING), false, 0, 0 },
		{ "likewise, the other side out of view", R(TENANT_CROSSING), true, 0, 0 },
		{ "beside a remark", R(TENANT_GRACE), false, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_finding *finding = NULL;
		struct books *books;
		struct told told;
		void *opened;

		set_up(&opened);
		books = opened;
		told = told_of(books, R(SPOOF_QP_SCAN) | rows[i].beside);
		told.item.flow_key.src[3] = 9;
		told.more.suspicion = (struct ft_suspicion){ .rules = R(SPOOF_QP_SCAN),
							     .unseen = rows[i].unseen };
		for (uint64_t number = 40; number <= 42; number++)
			tell(books, &told, number);
		for (uint32_t k = 0; k < books->account.findings.count; k++)
			if (books->account.findings.items[k].rule == FT_RULE_SPOOF_QP_SCAN)
				finding = &books->account.findings.items[k];
		print_message("%s\n", rows[i].what);
		assert_non_null(finding);
		assert_int_equal(finding->from, 40);
		assert_int_equal(finding->to, 42);
		assert_int_equal(finding->unseen, rows[i].unseen ? 3 : 0);
		assert_int_equal(finding->uncounted, 3 * rows[i].uncounted);
		assert_int_equal(finding->counted, 3 * rows[i].counted);
		assert_int_equal(finding->ends.src[3], 9);
		tear_down(&opened);
	}
}

/* It is about the NAK, which went by before the ACK that shows it. */
static void an_outlived_nak_is_the_frame_that_is_named(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(SPOOF_NAK_OUTLIVED));

	told.more.suspicion = (struct ft_suspicion){ .rules = R(SPOOF_NAK_OUTLIVED),
						     .passed = 31,
						     .passed_ns = T0 + 31 };
	tell(books, &told, 40);
	assert_int_equal(only_finding(books)->frames[0], 31);
	assert_int_equal(only_finding(books)->first_ts_ns, T0 + 31);
	assert_int_equal(only_finding(books)->bytes, BOOKS_BYTES);
}

/* A packet out of the window waits until it is known not to be a new sequence. */
static void a_stray_is_none_until_it_is_settled(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(SPOOF_PSN_WINDOW));

	told.more.half = 4711;
	told.more.suspicion = (struct ft_suspicion){ .rules = R(SPOOF_PSN_WINDOW), .psn = 5 };
	tell(books, &told, 40);
	assert_int_equal(only_finding(books)->packets, 0);
	ft_account_settle(&books->account);
	assert_int_equal(only_finding(books)->packets, 1);
	assert_int_equal(only_finding(books)->frames[0], 40);
	assert_int_equal(only_finding(books)->dest_qps[0], 17);
	assert_int_equal(only_finding(books)->bytes, BOOKS_BYTES);
}

static void without_a_map_nothing_is_found(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(PKEY_UNDECLARED));
	const struct ft_map *map = books->account.map;

	books->account.map = NULL;
	tell(books, &told, 1);
	assert_int_equal(books->account.findings.count, 0);
	books->account.map = map;
}

/* --- evidence --- */

static const char *evidence_path(void)
{
	static char path[64];

	snprintf(path, sizeof path, "account-evidence-%d.pcapng", (int)getpid());
	return path;
}

static void begin_evidence(struct books *books)
{
	struct ft_writer_complaint complaint;

	assert_int_equal(
		ft_pcapng_create(&books->account.writer, evidence_path(), NULL, &complaint), 0);
}

static size_t end_evidence(struct books *books, uint8_t *evidence)
{
	struct ft_writer_complaint complaint;
	size_t size;
	FILE *file;

	assert_int_equal(ft_pcapng_close(books->account.writer, &complaint), 0);
	books->account.writer = NULL;
	file = fopen(evidence_path(), "rb");
	assert_non_null(file);
	size = fread(evidence, 1, MOST_EVIDENCE, file);
	fclose(file);
	unlink(evidence_path());
	return size;
}

/* Times that a text stands in it. */
static unsigned count_of(const uint8_t *evidence, size_t size, const char *text)
{
	const uint8_t *at = evidence, *end = evidence + size;
	unsigned count = 0;

	while ((at = memmem(at, (size_t)(end - at), text, strlen(text))) != NULL) {
		at += strlen(text);
		count++;
	}
	return count;
}

/* A frame that breaks several rules is there once, with the id and rule of each. */
static void a_frame_is_evidence_of_all_that_it_breaks(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(PKEY_UNDECLARED) | R(TENANT_CROSSING));
	uint8_t *evidence = malloc(MOST_EVIDENCE);
	size_t size;

	begin_evidence(books);
	memset(books->bytes, 0xab, sizeof books->bytes);
	tell(books, &told, 1);
	told.item.rules = 0;
	tell(books, &told, 2);
	size = end_evidence(books, evidence);
	assert_int_equal(count_of(evidence, size, "pkey.undeclared"), 1);
	assert_int_equal(count_of(evidence, size, "tenant.crossing"), 1);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(count_of(evidence, size, books->account.findings.items[i].id), 1);
	assert_int_equal(count_of(evidence, size, "\xab\xab\xab\xab\xab\xab\xab\xab"),
			 BOOKS_BYTES / 8);
	free(evidence);
}

/* The first frames of a finding, and no more. */
static void the_first_frames_of_a_finding_are_evidence(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(PKEY_UNDECLARED));
	uint8_t *evidence = malloc(MOST_EVIDENCE);
	size_t size;

	begin_evidence(books);
	for (uint64_t number = 1; number <= FT_FINDING_FRAMES + 5; number++)
		tell(books, &told, number);
	size = end_evidence(books, evidence);
	assert_int_equal(count_of(evidence, size, "pkey.undeclared"), FT_FINDING_FRAMES);
	assert_int_equal(only_finding(books)->packets, FT_FINDING_FRAMES + 5);
	free(evidence);
}

static struct ft_cut_frame passed_frame(struct books *books, uint64_t number)
{
	struct ft_cut_frame passed;

	ft_cut_frame_fill(&passed, &books->frame);
	passed.frame.number = number;
	memset(passed.bytes, 0xcd, BOOKS_BYTES);
	return passed;
}

/* The other one of two requests that differ is there too: once, though several differ from it. */
static void the_other_one_of_two_is_evidence_once(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(SPOOF_PSN_CONFLICT));
	struct ft_cut_frame passed = passed_frame(books, 30), later = passed_frame(books, 40);
	uint8_t *evidence = malloc(MOST_EVIDENCE);
	size_t size;

	told.more.suspicion = (struct ft_suspicion){ .rules = R(SPOOF_PSN_CONFLICT) };
	begin_evidence(books);
	told.more.passed = &passed;
	tell(books, &told, 40);
	tell(books, &told, 41);
	told.more.passed = &later; /* which is there already, as one of the finding */
	tell(books, &told, 42);
	size = end_evidence(books, evidence);
	assert_int_equal(count_of(evidence, size, "spoof.psn-conflict"), 3 + 1);
	assert_int_equal(count_of(evidence, size, "\xcd\xcd\xcd\xcd\xcd\xcd\xcd\xcd"),
			 BOOKS_BYTES / 8);
	free(evidence);
}

/* Of whichever rule the packet breaks, what passed is evidence of that. */
static void what_passed_is_evidence_of_the_rule_it_is_about(void **state)
{
	static const struct {
		uint32_t rules;
		const char *name;
	} rows[] = {
		{ R(SPOOF_PSN_CONFLICT), "spoof.psn-conflict" },
		{ R(SPOOF_PAYLOAD_CHANGED), "spoof.payload-changed" },
	};
	uint8_t *evidence = malloc(MOST_EVIDENCE);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_cut_frame passed;
		struct books *books;
		struct told told;
		void *opened;
		size_t size;

		set_up(&opened);
		books = opened;
		passed = passed_frame(books, 30);
		told = told_of(books, rows[i].rules);
		told.more.suspicion.rules = rows[i].rules;
		told.more.passed = &passed;
		begin_evidence(books);
		tell(books, &told, 40);
		size = end_evidence(books, evidence);
		assert_int_equal(count_of(evidence, size, rows[i].name), 2);
		tear_down(&opened);
	}
	free(evidence);
}

/* --- another map --- */

static void findings_go_on_under_another_map(void **state)
{
	struct books *books = *state;
	struct told told = told_of(books, R(PKEY_UNDECLARED));
	struct ft_map *next = compiled(ft_map_declared(books->map));

	told.more.verdict.origin = (struct ft_origin){ .file = 0, .line = 12 };
	tell(books, &told, 1);
	assert_int_equal(ft_account_change_map(&books->account, next), 0);
	tell(books, &told, 2);
	assert_ptr_equal(books->account.map, next);
	assert_int_equal(only_finding(books)->packets, 2);
	assert_ptr_equal(only_finding(books)->map, books->map); /* its line is of that one */
	told.item.key.slid = 5;
	tell(books, &told, 3);
	assert_int_equal(books->account.findings.count, 2);
	assert_ptr_equal(books->account.findings.items[1].map, next);
	ft_map_destroy(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_BOOKS(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		IN_BOOKS(a_crossing_between_two_customers_is_critical),
		IN_BOOKS(the_map_line_of_the_first_packet_is_kept),
		IN_BOOKS(the_base_before_is_that_of_the_first_packet),
		IN_BOOKS(the_suspicion_is_the_first_one_and_any_is_grave),
		IN_BOOKS(a_suspicion_is_kept_with_its_own_rule),
		IN_BOOKS(a_queue_pair_is_named_if_it_is_known),
		cmocka_unit_test(a_search_keeps_what_its_packets_break_else),
		IN_BOOKS(an_outlived_nak_is_the_frame_that_is_named),
		IN_BOOKS(a_stray_is_none_until_it_is_settled),
		IN_BOOKS(without_a_map_nothing_is_found),
		IN_BOOKS(a_frame_is_evidence_of_all_that_it_breaks),
		IN_BOOKS(the_first_frames_of_a_finding_are_evidence),
		IN_BOOKS(the_other_one_of_two_is_evidence_once),
		cmocka_unit_test(what_passed_is_evidence_of_the_rule_it_is_about),
		IN_BOOKS(findings_go_on_under_another_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
