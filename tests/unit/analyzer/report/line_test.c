#include "cmocka_headers.h"

#include <errno.h>
#include <string.h>

#include <report/render.h>

#include "human.h"
#include "line.h"
#include "utf8.h"
#include "written.h"

static void expect(void (*write)(struct ft_line *, const char *), const char *text,
		   const char *wanted)
{
	struct written written;
	struct ft_line line;

	written_open(&written);
	ft_line_open(&line, written.out);
	write(&line, text);
	assert_int_equal(ft_line_flush(&line), 0);
	assert_string_equal(written_close(&written), wanted);
	written_free(&written);
}

static void strings_of_json_are_escaped(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "", "\"\"" },
		{ "red", "\"red\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "line\nfeed\tand\rreturn", "\"line\\nfeed\\tand\\rreturn\"" },
		{ "\x01\x1b[31m\x7f", "\"\\u0001\\u001b[31m\\u007f\"" },
		{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		  "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"" },
		{ "\xff\xfe", "\"\\ufffd\\ufffd\"" },
		{ "cut \xe2\x82", "\"cut \\ufffd\\ufffd\"" },
		{ "overlong \xc0\xaf", "\"overlong \\ufffd\\ufffd\"" },
		{ "surrogate \xed\xa0\x80", "\"surrogate \\ufffd\\ufffd\\ufffd\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(ft_line_quoted, cases[i].text, cases[i].wanted);
}

static void names_cannot_act_on_a_terminal(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "gpu-01", "gpu-01" },
		{ "\033[2J\033[H", "\\x1b[2J\\x1b[H" },
		{ "two\nlines\r", "two\\x0alines\\x0d" },
		{ "c1 \xc2\x9b", "c1 \\xc2\\x9b" },
		{ "right to left \xe2\x80\xae", "right to left \\xe2\\x80\\xae" },
		{ "soft \u00ad", "soft \\xc2\\xad" },
		{ "\u061c\u180e", "\\xd8\\x9c\\xe1\\xa0\\x8e" },
		{ "no width \u200b", "no width \\xe2\\x80\\x8b" },
		{ "a line \u2028", "a line \\xe2\\x80\\xa8" },
		{ "isolated \u2066\u2069", "isolated \\xe2\\x81\\xa6\\xe2\\x81\\xa9" },
		{ "joined \u2060", "joined \\xe2\\x81\\xa0" },
		{ "\ufeff\ufff9", "\\xef\\xbb\\xbf\\xef\\xbf\\xb9" },
		{ "a tag \U000e0041", "a tag \\xf3\\xa0\\x81\\x81" },
		{ "\xe2\x82\xac", "\xe2\x82\xac" },
		{ "\xff", "\\xff" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(ft_line_name, cases[i].text, cases[i].wanted);
}

static void columns_are_those_of_the_escaped_name(void **state)
{
	(void)state;
	assert_int_equal(ft_utf8_columns("gpu-01"), 6);
	assert_int_equal(ft_utf8_columns("caf\xc3\xa9"), 4);
	assert_int_equal(ft_utf8_columns("cafe\u0301"), 4);
	assert_int_equal(ft_utf8_columns("\u6771\u4eac-1"), 6);
	assert_int_equal(ft_utf8_columns("\uac00\uff21\U0001f600"), 6);
	assert_int_equal(ft_utf8_columns("\u4dc0\u20ac\u03bb"), 3);
	assert_int_equal(ft_utf8_columns("\033["), 5);
}

static void values(struct ft_line *line, const char *text)
{
	static const uint8_t mapped[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 0, [14] = 100, [15] = 255
	};
	static const uint8_t local[16] = { 0xfe, 0x80, [15] = 1 };

	(void)text;
	ft_line_decimal(line, 0);
	ft_line_number(line, " ", UINT64_MAX);
	ft_line_char(line, ' ');
	ft_line_hex(line, 0x8001, 4);
	ft_line_char(line, ' ');
	ft_line_hex(line, 0xfedcba9876543210, 16);
	ft_line_char(line, ' ');
	ft_line_octets(line, (const uint8_t[]){ 0xf4, 0x80, 0x0d }, 3);
	ft_line_char(line, ' ');
	ft_line_mac(line, (const uint8_t[]){ 0x02, 0, 0xab, 0xcd, 0x0f, 0xf0 });
	ft_line_char(line, ' ');
	ft_line_ipv4(line, mapped + 12);
	ft_line_char(line, ' ');
	ft_line_ipv6(line, mapped);
	ft_line_char(line, ' ');
	ft_line_ipv6(line, local);
	ft_line_char(line, ' ');
	ft_line_ipv6_full(line, local);
	ft_line_word(line, " w=", "red");
	ft_line_word(line, " w=", NULL);
}

static void values_take_their_usual_forms(void **state)
{
	(void)state;
	expect(values, "",
	       "0 18446744073709551615 0x8001 0xfedcba9876543210 0xf4800d 02:00:ab:cd:0f:f0 "
	       "10.0.100.255 "
	       "::ffff:10.0.100.255 fe80::1 fe80:0000:0000:0000:0000:0000:0000:0001 w=\"red\" "
	       "w=null");
}

/* Instants worked out with date(1): date -u -d 2024-02-29T23:59:59Z +%s */
static void times(struct ft_line *line, const char *text)
{
	static const uint64_t seconds[] = { 0,          951782400,  951868800,  1709251199,
					    1795250704, 4102444799, 13569465600 };

	(void)text;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		ft_line_time(line, seconds[i] * 1000000000 + 7 * i);
		ft_line_char(line, '\n');
	}
}

static void times_are_rfc3339_with_nanoseconds(void **state)
{
	(void)state;
	expect(times, "",
	       "1970-01-01T00:00:00.000000000Z\n2000-02-29T00:00:00.000000007Z\n2000-03-01T00:00:"
	       "00.000000014Z\n"
	       "2024-02-29T23:59:59.000000021Z\n2026-11-21T08:45:04.000000028Z\n2099-12-31T23:59:"
	       "59.000000035Z\n"
	       "2400-01-01T00:00:00.000000042Z\n");
}

static void longer_text_than_the_buffer_comes_out_whole(void **state)
{
	static char text[50000], wanted[50002];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	snprintf(wanted, sizeof(wanted), "\"%s\"", text);
	expect(ft_line_add, text, text);
	expect(ft_line_quoted, text, wanted);
}

static void the_first_error_of_the_handle_is_kept(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct ft_line line;

	(void)state;
	if (full == NULL) {
		print_message("SKIPPED: no /dev/full here\n");
		skip();
	}
	setvbuf(full, NULL, _IONBF, 0);
	ft_line_open(&line, full);
	ft_line_add(&line, "does not fit");
	assert_int_equal(ft_line_flush(&line), -ENOSPC);
	ft_line_add(&line, "nor does this");
	assert_int_equal(ft_line_flush(&line), -ENOSPC);
	fclose(full);
}

static void numbers_for_people_keep_three_digits(void **state)
{
	struct ft_human human;

	(void)state;
	assert_string_equal(ft_human_count(&human, 0), "0");
	assert_string_equal(ft_human_count(&human, 999999), "999999");
	assert_string_equal(ft_human_count(&human, 1234567), "1.23 M");
	assert_string_equal(ft_human_bytes(&human, 999), "999 B");
	assert_string_equal(ft_human_bytes(&human, 1000), "1.00 kB");
	assert_string_equal(ft_human_bytes(&human, 123456), "123 kB");
	assert_string_equal(ft_human_bytes(&human, 999999), "1.00 MB");
	assert_string_equal(ft_human_bytes(&human, UINT64_MAX), "18.4 EB");
	assert_string_equal(ft_human_duration(&human, 0), "0 ns");
	assert_string_equal(ft_human_duration(&human, 61200000000), "61.2 s");
	assert_string_equal(ft_human_duration(&human, 7380000000000), "2 h 03 min");
	assert_string_equal(ft_human_duration(&human, 183600000000000), "2 d 03 h");
}

static void a_rate_has_digits_and_no_exponent(void **state)
{
	static const struct {
		double gbps;
		int digits;
		const char *text;
	} cases[] = {
		{ 0, 4, "0" },
		{ 12.5, 4, "12.5" },
		{ 0.25, 4, "0.25" },
		{ 11.2034, 4, "11.2" },
		{ 9.99996, 4, "10" },
		{ 100, 4, "100" },
		{ 10000, 4, "10000" },
		{ 51234.25, 4, "51234" },
		{ 51234.25, 6, "51234.2" },
		{ 5.12e-7, 4, "0.000000512" },
		{ 10.000000008, 4, "10" },
		{ 10.000000008, 10, "10.00000001" },
		{ 1e300, 4, "1.000e+300" },
	};
	struct ft_rate rate;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(ft_rate(&rate, cases[i].gbps, cases[i].digits), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_of_json_are_escaped),
		cmocka_unit_test(names_cannot_act_on_a_terminal),
		cmocka_unit_test(columns_are_those_of_the_escaped_name),
		cmocka_unit_test(values_take_their_usual_forms),
		cmocka_unit_test(times_are_rfc3339_with_nanoseconds),
		cmocka_unit_test(longer_text_than_the_buffer_comes_out_whole),
		cmocka_unit_test(the_first_error_of_the_handle_is_kept),
		cmocka_unit_test(numbers_for_people_keep_three_digits),
		cmocka_unit_test(a_rate_has_digits_and_no_exponent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
