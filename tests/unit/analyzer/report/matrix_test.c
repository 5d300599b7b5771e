#include "cmocka_headers.h"

#include <stdio.h>
#include <string.h>

#include <report/render.h>

#include "sample_report.h"
#include "written.h"

/* The tenants' table of a page: as a grid where it is small, else as a list; and who permitted what. */

enum { MOST = 64, TEXT = 16384 };

struct pairs {
	char names[MOST][64];
	struct ft_report_pair rows[MOST];
	size_t count;
};

static struct ft_report_pair *add(struct pairs *pairs, const char *from, const char *to)
{
	struct ft_report_pair *row = &pairs->rows[pairs->count++];

	assert_true(pairs->count <= MOST);
	*row = (struct ft_report_pair){ .from = from,
					.to = to,
					.packets = 1,
					.bytes = 100,
					.judged = 1,
					.verdict = "allowed" };
	return row;
}

/* A row for each of so many tenants, t00 on, to itself. */
static void add_tenants(struct pairs *pairs, size_t count, const char *form)
{
	for (size_t i = 0; i < count; i++) {
		snprintf(pairs->names[i], sizeof(pairs->names[i]), form, (unsigned)i);
		add(pairs, pairs->names[i], pairs->names[i]);
	}
}

/* The lines from TENANTS to the next empty one. */
static void table_of(const struct pairs *pairs, char text[TEXT])
{
	struct ft_report report = sample_report();
	struct ft_render_options look = { 0 };
	struct written written;
	const char *from, *to;

	report.matrix = pairs->rows;
	report.pair_count = pairs->count;
	written_open(&written);
	assert_int_equal(ft_render_text(written.out, &report, &look), 0);
	from = strstr(written_close(&written), "TENANTS ");
	text[0] = 0;
	if (from != NULL) {
		to = strstr(from, "\n\n");
		assert_non_null(to);
		assert_true(to - from + 2 < TEXT);
		snprintf(text, TEXT, "%.*s", (int)(to - from) + 1, from);
	}
	written_free(&written);
}

static bool is_grid(const struct pairs *pairs)
{
	char text[TEXT];

	table_of(pairs, text);
	return strstr(text, "from \\ to") != NULL;
}

static void no_pair_has_no_table(void **state)
{
	static const struct pairs none;
	char text[TEXT];

	(void)state;
	table_of(&none, text);
	assert_string_equal(text, "");
}

static void up_to_six_names_make_a_grid(void **state)
{
	static struct pairs six, seven, with_unknown, receiver;

	(void)state;
	add_tenants(&six, 6, "t%02u");
	assert_true(is_grid(&six));
	add_tenants(&seven, 7, "t%02u");
	assert_false(is_grid(&seven));
	add_tenants(&with_unknown, 6, "t%02u");
	add(&with_unknown, "t00", "unknown");
	assert_false(is_grid(&with_unknown));
	add_tenants(&receiver, 6, "t%02u");
	add(&receiver, "t00", "other"); /* that sent nothing itself */
	assert_false(is_grid(&receiver));
}

/* 12 columns, and for each name 10 beside its own, which are 6 at least. */
static void long_names_make_a_list(void **state)
{
	static struct pairs fit, exceed, wide;

	(void)state;
	add_tenants(&fit, 4, "a-tenant-of-17-%02u");
	assert_true(is_grid(&fit)); /* 12 + 4 * (10 + 17) is 120 */
	add_tenants(&exceed, 4, "a-tenant-of-18-c%02u");
	assert_false(is_grid(&exceed));
	add_tenants(&wide, 4, "\xc3\xa4-tenant-of-17-%02u"); /* a byte more, no column */
	assert_true(is_grid(&wide));
}

static void a_cell_is_marked_by_the_worst_of_it(void **state)
{
	static struct pairs pairs;
	struct ft_report_pair *row;
	char text[TEXT];

	(void)state;
	row = add(&pairs, "blue", "blue");
	row->violating = row->undecided = 1;
	row = add(&pairs, "blue", "red");
	row->undecided = 1;
	row->judged = 0;
	row = add(&pairs, "red", "blue");
	row->judged = 0;
	add(&pairs, "red", "red");
	table_of(&pairs, text);
	assert_non_null(strstr(text, "          blue         !1  100 B   ?1  100 B\n"
				     "          red          *1  100 B    1  100 B\n"));
}

static void a_list_has_the_violating_first_then_the_largest(void **state)
{
	static struct pairs pairs;
	char text[TEXT];

	(void)state;
	add_tenants(&pairs, 28, "t%02u");
	for (size_t i = 0; i < 28; i++)
		pairs.rows[i].bytes = 100 + i;
	pairs.rows[5].violating = 1;
	pairs.rows[6].violating = 1;
	pairs.rows[26].undecided = 3;
	pairs.rows[25].verdict = "unknown";
	table_of(&pairs, text);
	assert_non_null(strstr(text, "          from  to   frames  bytes\n"
				     "          t06   t06       1  106 B  1 violating\n"
				     "          t05   t05       1  105 B  1 violating\n"
				     "          t27   t27       1  127 B  allowed\n"
				     "          t26   t26       1  126 B  allowed, 3 undecided\n"
				     "          t25   t25       1  125 B  unknown\n"));
	assert_non_null(strstr(text, "          t04   t04       1  104 B  allowed\n"
				     "          and 4 pairs more, all of them in --json\n"));
	pairs.count = 24;
	table_of(&pairs, text);
	assert_null(strstr(text, "more, all of them"));
	pairs.count = 25;
	table_of(&pairs, text);
	assert_non_null(strstr(text, "          and 1 pair more, all of them in --json\n"));
}

static void an_exception_is_named_once_with_its_pairs(void **state)
{
	static const char *const both[] = { "ex-b", "ex-a" }, *const twice[] = { "ex-b", "ex-b" };
	static struct pairs pairs;
	char text[TEXT];

	(void)state;
	add_tenants(&pairs, 8, "t%u");
	for (size_t i = 0; i < 8; i++) {
		pairs.rows[i].exceptions = i == 7 ? twice : both;
		pairs.rows[i].exception_count = 2;
	}
	table_of(&pairs, text);
	assert_non_null(strstr(
		text, "          exception ex-b permitted t0>t0, t1>t1, t2>t2, t3>t3, t4>t4, "
		      "t5>t5, t6>t6, t7>t7\n"
		      "          exception ex-a permitted t0>t0, t1>t1, t2>t2, t3>t3, t4>t4, "
		      "t5>t5, t6>t6\n"));
	assert_null(strstr(text, "pairs more"));
	add(&pairs, "t8", "t8")->exceptions = both;
	add(&pairs, "t9", "t9")->exceptions = both;
	pairs.rows[8].exception_count = pairs.rows[9].exception_count = 1;
	table_of(&pairs, text);
	assert_non_null(strstr(text, "t7>t7 and 2\n          pairs more\n"));
}

static void a_dozen_exceptions_are_named(void **state)
{
	static char ids[14][8];
	static const char *each[14];
	static struct pairs pairs;
	char text[TEXT];

	(void)state;
	for (size_t i = 0; i < 14; i++) {
		snprintf(ids[i], sizeof(ids[i]), "x%02u", (unsigned)i);
		each[i] = ids[i];
	}
	add(&pairs, "red", "blue")->exceptions = each;
	pairs.rows[0].exception_count = 12;
	table_of(&pairs, text);
	assert_non_null(strstr(text, "exception x11 permitted red>blue\n"));
	assert_null(strstr(text, "exceptions more"));
	pairs.rows[0].exception_count = 14;
	table_of(&pairs, text);
	assert_null(strstr(text, "exception x12 "));
	assert_non_null(strstr(text, "          and 2 exceptions more, all of them in --json\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_pair_has_no_table),
		cmocka_unit_test(up_to_six_names_make_a_grid),
		cmocka_unit_test(long_names_make_a_list),
		cmocka_unit_test(a_cell_is_marked_by_the_worst_of_it),
		cmocka_unit_test(a_list_has_the_violating_first_then_the_largest),
		cmocka_unit_test(an_exception_is_named_once_with_its_pairs),
		cmocka_unit_test(a_dozen_exceptions_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
