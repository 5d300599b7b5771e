/* Addresses and numbers as text: RFC 4291 and 5952 for IPv6, RFC 4632 for prefixes, IEEE 802 for MACs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <partition/notation.h>

static void hex_numbers_are_read_whole(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t number;
	} rows[] = {
		{ "0x0", true, 0 },
		{ "0x7FFF", true, 0x7fff },
		{ "0x0002c90300a00011", true, 0x0002c90300a00011 },
		{ "0xffffffffffffffff", true, UINT64_MAX },
		{ "0x10000000000000000", false, 0 }, /* 65 bits */
		{ "0x00000000000000001", false, 0 }, /* 17 digits */
		{ "0x", false, 0 },
		{ "", false, 0 },
		{ "7fff", false, 0 },
		{ "0X7fff", false, 0 },
		{ "0x7ffg", false, 0 },
		{ "0x-1", false, 0 },
		{ "0x 1", false, 0 },
		{ " 0x1", false, 0 },
		{ "0x1 ", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t number = 77;

		if (ft_hex_read(rows[i].text, &number) != rows[i].good ||
		    number != (rows[i].good ? rows[i].number : 77))
			fail_msg("\"%s\": 0x%llx", rows[i].text, (unsigned long long)number);
	}
}

#define V4(a, b, c, d)                                                                             \
	{                                                                                          \
		[10] = 0xff, 0xff, a, b, c, d                                                      \
	}

/* What is written is what was read, or `back`. */
static const struct prefix_case {
	const char *text;
	struct ft_prefix prefix;
	const char *back; /* NULL: the same text */
} prefixes[] = {
	{ "10.1.2.3", { V4(10, 1, 2, 3), 128 }, NULL },
	{ "10.1.2.3/32", { V4(10, 1, 2, 3), 128 }, "10.1.2.3" },
	{ "10.1.2.0/31", { V4(10, 1, 2, 0), 127 }, NULL },
	{ "10.1.2.0/24", { V4(10, 1, 2, 0), 120 }, NULL },
	{ "128.0.0.0/1", { V4(128, 0, 0, 0), 97 }, NULL },
	{ "0.0.0.0/0", { V4(0, 0, 0, 0), 96 }, NULL },
	{ "::ffff:10.1.2.0/120", { V4(10, 1, 2, 0), 120 }, "10.1.2.0/24" },
	{ "::ffff:a01:203", { V4(10, 1, 2, 3), 128 }, "10.1.2.3" },
	{ "::fffe:0:0/95", { { [10] = 0xff, 0xfe }, 95 }, NULL },
	{ "::/0", { { 0 }, 0 }, NULL },
	{ "::", { { 0 }, 128 }, NULL },
	{ "8000::/1", { { 0x80 }, 1 }, NULL },
	{ "fe80::1", { { 0xfe, 0x80, [15] = 1 }, 128 }, NULL },
	{ "2001:db8::/33", { { 0x20, 0x01, 0x0d, 0xb8 }, 33 }, NULL },
	{ "2001:0DB8:0:0:8000::/65",
	  { { 0x20, 0x01, 0x0d, 0xb8, [8] = 0x80 }, 65 },
	  "2001:db8:0:0:8000::/65" },
	{ "0000:0000:0000:0000:0000:ffff:255.255.255.255",
	  { V4(255, 255, 255, 255), 128 },
	  "255.255.255.255" },
};

static bool same(const struct ft_prefix *a, const struct ft_prefix *b)
{
	return a->bits == b->bits && memcmp(a->address, b->address, sizeof a->address) == 0;
}

static void prefixes_are_read_and_written(void **state)
{
	char text[FT_NOTATION_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		const struct prefix_case *row = &prefixes[i];
		bool has_length = strchr(row->text, '/') != NULL;
		struct ft_prefix read = { .bits = 77 };

		if (!ft_prefix_read(row->text, true, &read) || !same(&read, &row->prefix))
			fail_msg("%s is not read", row->text);
		assert_int_equal(ft_prefix_read(row->text, false, &read), !has_length);
		assert_string_equal(ft_prefix_write(text, &row->prefix),
				    row->back != NULL ? row->back : row->text);
		assert_true(ft_prefix_read(text, true, &read) && same(&read, &row->prefix));
	}
}

static void what_is_no_prefix_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"/",
		"/24",
		"10.1.2",
		"10.1.2.3.4",
		"10.1.2.256",
		"10.1.2.03",
		"10.1.2.3/33",
		"10.1.2.3/-1",
		"10.1.2.3/+1",
		"10.1.2.0/024",
		"10.1.2.0/",
		"10.1.2.0/24x",
		"10.1.2.0/24/24",
		"10.1.2.0/0024",
		" 10.1.2.3",
		"10.1.2.3 ",
		"10.1.2.1/24",
		"10.1.2.128/24",
		"128.0.0.0/0",
		"::1/127",
		"::/129",
		"2001:db8:8000::/32",
		"::ffff:10.1.2.3/96",
		"fe80::1%eth0",
		"fe80:::1",
		"12345::",
		"::g",
		"0000:0000:0000:0000:0000:0ffff:255.255.255.255",
	};
	struct ft_prefix before, read;

	(void)state;
	memset(&before, 0x5a, sizeof before);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		read = before;
		if (ft_prefix_read(texts[i], true, &read) ||
		    memcmp(&read, &before, sizeof read) != 0)
			fail_msg("\"%s\" is read", texts[i]);
	}
}

static void macs_are_six_pairs_with_colons(void **state)
{
	static const char *const bad[] = { "",
					   "02:4e:61:00:00:7",
					   "02:4e:61:00:00:711",
					   "02-4e-61-00-00-71",
					   "02:4e:61:00:00-71",
					   "02:4e:61:00:00:7g",
					   "2:4e:61:00:00:0071",
					   "02:4e:61:00: 0:71",
					   "024e:61:00:00:71:" };
	uint8_t mac[6] = { 9, 9, 9, 9, 9, 9 };
	char text[FT_NOTATION_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (ft_mac_read(bad[i], mac) || mac[0] != 9 || mac[5] != 9)
			fail_msg("\"%s\" is read", bad[i]);
	assert_true(ft_mac_read("02:4E:61:fF:00:71", mac));
	assert_memory_equal(mac, ((uint8_t[]){ 0x02, 0x4e, 0x61, 0xff, 0x00, 0x71 }), 6);
	assert_string_equal(ft_mac_write(text, mac), "02:4e:61:ff:00:71");
}

static void numbers_have_all_their_digits(void **state)
{
	char text[FT_NOTATION_ROOM];

	(void)state;
	assert_string_equal(ft_guid_write(text, 0x0002c90300a00011), "0x0002c90300a00011");
	assert_string_equal(ft_guid_write(text, UINT64_MAX), "0xffffffffffffffff");
	assert_string_equal(ft_pkey_write(text, 1), "0x0001");
	assert_string_equal(ft_pkey_write(text, 0xffff), "0xffff");
	assert_string_equal(ft_membership_word(FT_LIMITED), "limited");
	assert_string_equal(ft_membership_word(FT_FULL), "full");
	assert_string_equal(ft_membership_word(FT_BOTH), "both");
	assert_string_equal(ft_class_word(FT_CUSTOMER), "customer");
	assert_string_equal(ft_class_word(FT_SHARED), "shared");
	assert_string_equal(ft_class_word(FT_MANAGEMENT), "management");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hex_numbers_are_read_whole),
		cmocka_unit_test(prefixes_are_read_and_written),
		cmocka_unit_test(what_is_no_prefix_is_refused),
		cmocka_unit_test(macs_are_six_pairs_with_colons),
		cmocka_unit_test(numbers_have_all_their_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
