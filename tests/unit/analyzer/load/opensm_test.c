#include "samples.h"

#include <stdio.h>
#include <string.h>

static void assert_sample(const char *map)
{
	struct ft_declared *declared = load_sample(map, FABRIC);
	json_t *have = shown(declared), *want = expected_of(map);
	const json_t *partitions = json_object_get(have, "partitions"),
		     *wanted = json_object_get(want, "partitions");

	print_message("%s\n", map);
	assert_string_equal(json_string_value(json_object_get(have, "verdict")),
			    json_string_value(json_object_get(want, "verdict")));
	assert_int_equal(json_array_size(partitions), json_array_size(wanted));
	for (size_t i = 0; i < json_array_size(wanted); i++)
		assert_has(json_array_get(partitions, i), json_array_get(wanted, i));
	assert_same_diagnostics(json_object_get(have, "diagnostics"),
				json_object_get(want, "diagnostics"), "line");
	assert_true(
		json_equal(json_object_get(have, "effective"), json_object_get(want, "effective")));
	json_decref(have);
	json_decref(want);
	ft_declared_destroy(declared);
}

static void every_sample_is_what_opensm_made_of_it(void **state)
{
	char *names[MOST_SAMPLES];
	size_t count = 0;

	(void)state;
	for (const char *first = "vx"; *first != '\0'; first++) {
		list_samples(SAMPLES "opensm", ".conf", *first, names);
		for (size_t i = 0; names[i] != NULL; i++, count++)
			assert_sample(names[i]);
		forget_samples(names);
	}
	assert_int_equal(count, 16);
}

/* A row per rule of the parser: what it makes of a file, and what is said about it. */
struct row {
	const char *sentence, *text;
	enum ft_map_verdict verdict;
	const char *code; /* NULL: nothing is said */
	unsigned line;
	const char *tables; /* base and membership letters of the file's partitions: "0101:f,l" */
};

#define A "0x0000000000000021"
#define B "0x0000000000000031"

static const struct row rows[] = {
	{ "two definitions may share a line", "a=1:" A "=full; b=2:" B ";", FT_MAP_OK, NULL, 0,
	  "0001:f 0002:l" },
	{ "the last semicolon may be missing", "a=1:" A, FT_MAP_OK, "no-final-semicolon", 1,
	  "0001:l" },
	{ "items go on over lines", "a=1:\n" A "=full,\n" B "=full;\n", FT_MAP_OK, NULL, 0,
	  "0001:f,f" },
	{ "items on two lines need no comma", "a=1:" A "\n" B ";", FT_MAP_OK, NULL, 0, "0001:l,l" },
	{ "a comment ends a line anywhere", "a=1:" A "=full # ;\n;b", FT_MAP_FAIL_OPEN,
	  "semicolon-first", 2, "" },
	{ "blanks, semicolon, line feed fail", "a=1:" A "\n ;\n", FT_MAP_FAIL_OPEN,
	  "semicolon-first", 2, "" },
	{ "blanks, semicolon, end of file pass", "a=1:" A "\n ;", FT_MAP_WARN, "semicolon-first", 2,
	  "0001:l" },
	{ "semicolon, line feed pass", "a=1:" A "\n;\nb=2:" B ";", FT_MAP_WARN, "semicolon-first",
	  2, "0001:l 0002:l" },
	{ "semicolon, end of file fail", "a=1:" A "\n;", FT_MAP_FAIL_OPEN, "semicolon-first", 2,
	  "" },
	{ "semicolon, blank, line feed fail", "a=1:" A "\n; \n", FT_MAP_FAIL_OPEN,
	  "semicolon-first", 2, "" },
	{ "semicolon, definition fail", "a=1:" A "\n;b=2:" B ";", FT_MAP_FAIL_OPEN,
	  "semicolon-first", 2, "" },
	{ "semicolon, line feed fail behind a line of other length", "a=17:" A "\n;\n",
	  FT_MAP_FAIL_OPEN, "semicolon-first", 2, "" },
	{ "and behind a line of items", "a=1:\n" A "\n;\n", FT_MAP_FAIL_OPEN, "semicolon-first", 3,
	  "" },
	{ "and behind items that are indented", "a=1, ipoib :\n    " A ",\n    " B "\n;\n",
	  FT_MAP_FAIL_OPEN, "semicolon-first", 4, "" },
	{ "a shorter line between does not help", "ab=1:" A "\n\n\n;\n", FT_MAP_FAIL_OPEN,
	  "semicolon-first", 4, "" },
	{ "a comment as long does", "a=1:\n" A "\n# c\n;\n", FT_MAP_WARN, "semicolon-first", 4,
	  "0001:l" },
	{ "semicolon, blank, line feed pass behind a blank", "a=1 :" A "\n; \n", FT_MAP_WARN,
	  "semicolon-first", 2, "0001:l" },
	{ "semicolon, comment fail", "a=1 :" A "\n; # foo\n", FT_MAP_FAIL_OPEN, "semicolon-first",
	  2, "" },
	{ "but a definition is read out of the comment", "a=1 :" A "\n;# b=2:" B "\n", FT_MAP_WARN,
	  "semicolon-first", 2, "0001:l 0002:l" },
	{ "behind two semicolons the next one counts for nothing", "a=1:" A ";; b=2:" B ";",
	  FT_MAP_FAIL_OPEN, "bad-port-guid", 1, "" },
	{ "keywords match by prefix", "a=1:A,ALL_S=full,S;", FT_MAP_WARN, "keyword-abbreviated", 1,
	  "0001:l,f,l" },
	{ "N is NONE", "a=1:N=full," A ";", FT_MAP_OK, NULL, 0, "0001:l" },
	{ "but ALLX is nothing", "a=1:ALLX;", FT_MAP_FAIL_OPEN, "bad-port-guid", 1, "" },
	{ "mgid is written out", "a=1:mg=ff12::1,sl=1;", FT_MAP_FAIL_OPEN, "bad-port-guid", 1, "" },
	{ "no group is made of no MGID", "a=1:mgid=zz,sl=1\n" A ";", FT_MAP_WARN, "mgid-invalid", 1,
	  "0001:l" },
	{ "flags behind it are no definition", "a=1:" A ",mgid=zz,sl=1;", FT_MAP_FAIL_OPEN,
	  "mgid-invalid", 1, "" },
	{ "but a definition behind it is", "a=1:mgid=zz,b=2:" A ";", FT_MAP_WARN, "mgid-invalid", 1,
	  "0001: 0002:l" },
	{ "nor of a unicast one", "a=1:mgid=fe80::1,sl=1\n" A ";", FT_MAP_WARN, "mgid-invalid", 1,
	  "0001:l" },
	{ "a second semicolon fails", "a=1:" A ";;", FT_MAP_FAIL_OPEN, "no-partition-definition", 1,
	  "" },
	{ "a negative P_Key is cut like any", "a=-1:" A ";", FT_MAP_WARN, "pkey-truncated-16bit", 1,
	  "7fff:l,f,l" },
	{ "a name of more than 31 bytes is not found again",
	  "abcdefghijklmnopqrstuvwxyz0123456789:" A ";\nabcdefghijklmnopqrstuvwxyz0123456789:" B
	  ";",
	  FT_MAP_WARN, "pkey-autogenerated", 1, "0001:l 0002:l" },
	{ "of two of a name the one whose low byte is less is found", "a=0x102:;a=0x201:;a:" A ";",
	  FT_MAP_OK, "empty-partition", 1, "0102: 0201:l" },
	{ "also if that is Default", "Default=0x102:;Default:" A ";", FT_MAP_OK, NULL, 0,
	  "0102:l" },
	{ "a NUL ends a line", NULL, FT_MAP_OK, NULL, 0, "0001:l" },
	{ "a number alone is a P_Key", "0x33:" A ";", FT_MAP_OK, NULL, 0, "0033:l" },
	{ "a number with letters is none", "0x33g:" A ";", FT_MAP_FAIL_OPEN, "bad-pkey", 1, "" },
	{ "a P_Key of no digits is none", "a=:" A ";", FT_MAP_FAIL_OPEN, "bad-pkey", 1, "" },
	{ "P_Key 0 is one of its own", "a=0:" A ";", FT_MAP_WARN, "pkey-autogenerated", 1,
	  "0001:l" },
	{ "so is 0x8000", "a=0x8000:" A ";", FT_MAP_WARN, "pkey-membership-bit-dropped", 1,
	  "0001:l" },
	{ "generated numbers skip defined ones", "b=1:" A ";\na:" B ";", FT_MAP_WARN,
	  "pkey-autogenerated", 2, "0001:l 0002:l" },
	{ "a name finds its partition again", "a=0x101:" A ";\na:" B ";", FT_MAP_OK, NULL, 0,
	  "0101:l,l" },
	{ "Default needs no number", "Default:ALL=full;", FT_MAP_OK, NULL, 0, "7fff:l,f,f" },
	{ "GUID 0 is an error", "a=1:0;", FT_MAP_FAIL_OPEN, "bad-port-guid", 1, "" },
	{ "a GUID of letters needs 0x", "a=1:b8cef603;", FT_MAP_FAIL_OPEN, "bad-port-guid", 1, "" },
	{ "empty items count for nothing", "a=1:," A ",,;", FT_MAP_OK, NULL, 0, "0001:l" },
	{ "an empty default membership is full", "a=1,defmember=:" A ";", FT_MAP_WARN,
	  "membership-empty-means-full", 1, "0001:f" },
	{ "a default membership needs a value", "a=1,defmember:" A ";", FT_MAP_WARN,
	  "defmember-invalid-stays-limited", 1, "0001:l" },
	{ "s is scope, not sl", "a=1,s=5:" A ";", FT_MAP_WARN, "flag-abbreviated", 1, "0001:l" },
	{ "an empty flag is mtu", "a=1,=0x44:" A ";", FT_MAP_WARN, "flag-abbreviated", 1,
	  "0001:l" },
	{ "members behind mgid= are lost", "a=1:mgid=ff12::1,sl=1," A ";", FT_MAP_WARN,
	  "member-lost-after-mgid", 1, "0001:" },
	{ "a group without flags reads left-overs", "a=1:mgid=ff12::1\n" A ";", FT_MAP_WARN,
	  "mgid-without-flags", 1, "0001:l" },
	{ "a group of another P_Key is not made", "a=1:mgid=ff12:401b:8002::1,sl=1\n" A ";",
	  FT_MAP_WARN, "mgid-pkey-mismatch", 1, "0001:l" },
	{ "a group's mtu is the partition's", "a=1,mtu=5:mgid=ff12:401b::1,mtu=4\n" A ";",
	  FT_MAP_WARN, "mgid-mtu-mismatch", 1, "0001:l" },
	{ "SELF then ALL leaves SELF limited", "a=1:SELF=full,ALL;", FT_MAP_WARN,
	  "earlier-member-overridden", 1, "0001:f,l" },
	{ "ALL then SELF is how to write it", "a=1:ALL,SELF=full;", FT_MAP_OK, NULL, 0,
	  "0001:l,f" },
	{ "NONE is nobody", "a=1:NONE;", FT_MAP_OK, "empty-partition", 1, "0001:" },
	{ "comments alone are no file", "# a=1:ALL;\n", FT_MAP_FAIL_OPEN, "no-partition-definition",
	  0, "" },
	{ "CR is not white space", "a=1:" A ";\r\n", FT_MAP_FAIL_OPEN, "no-partition-definition", 1,
	  "" },
	{ "31 bytes of a name count", "abcdefghijklmnopqrstuvwxyz0123456789=1:" A ";", FT_MAP_WARN,
	  "name-truncated", 1, "0001:l" },
	{ "terminal escapes do not pass", "a\x1b[2J=1:" A ";b\x1b=1:" B ";", FT_MAP_WARN,
	  "same-pkey-different-name", 1, "0001:l,l" },
};

static void describe(const struct ft_declared *declared, char *text, size_t room)
{
	const char *letters = " lfb";
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < declared->partition_count && declared->verdict != FT_MAP_FAIL_OPEN;
	     i++) {
		const struct ft_interval *interval = declared->partitions[i].intervals;

		if (declared->partitions[i].origin.line == 0)
			continue;
		length += (size_t)snprintf(text + length, room - length,
					   "%s%04x:", length != 0 ? " " : "",
					   declared->partitions[i].base);
		for (size_t j = 0; j < interval->member_count; j++)
			length += (size_t)snprintf(text + length, room - length, "%s%c",
						   j != 0 ? "," : "",
						   letters[interval->members[j].membership]);
	}
}

static void assert_row(const struct row *row)
{
	static const char with_nul[] = "a=1:" A ";\0zzz\n";
	const char *bytes = row->text != NULL ? row->text : with_nul;
	size_t size = row->text != NULL ? strlen(row->text) : sizeof with_nul - 1;
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;
	char tables[200];

	print_message("%s\n", row->sentence);
	assert_int_equal(ft_map_load_memory(&declared, "row.conf", "opensm", (const uint8_t *)bytes,
					    size, &complaint),
			 0);
	assert_int_equal(declared->verdict, row->verdict);
	describe(declared, tables, sizeof tables);
	assert_string_equal(tables, row->tables);
	if (row->code == NULL) {
		assert_int_equal(declared->diagnostic_count, 0);
	} else {
		assert_true(declared->diagnostic_count > 0);
		assert_string_equal(declared->diagnostics[0].code, row->code);
		assert_int_equal(declared->diagnostics[0].origin.line, row->line);
	}
	for (size_t i = 0; i < declared->diagnostic_count; i++)
		assert_null(strchr(declared->diagnostics[i].text, '\x1b'));
	ft_declared_destroy(declared);
}

static void every_rule_of_the_parser_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_row(&rows[i]);
}

static void a_dropped_file_makes_everyone_full(void **state)
{
	struct ft_declared *declared = load_sample(SAMPLES "opensm/x01_bad_guid.conf", NULL);
	const struct ft_interval *interval;

	(void)state;
	assert_int_equal(declared->verdict, FT_MAP_FAIL_OPEN);
	assert_int_equal(declared->partition_count, 1);
	assert_int_equal(declared->partitions[0].base, FT_PKEY_DEFAULT);
	interval = declared->partitions[0].intervals;
	assert_int_equal(interval->member_count, 1);
	assert_int_equal(interval->members[0].kind, FT_MEMBER_ALL);
	assert_int_equal(interval->members[0].membership, FT_FULL);
	assert_int_equal(declared->intended_count, 2);
	assert_int_equal(declared->intended[0].base, 0x0101);
	ft_declared_destroy(declared);
}

static void tenants_are_the_names_of_partitions(void **state)
{
	static const struct {
		const char *name;
		enum ft_tenant_class class;
	} want[] = { { "Default", FT_MANAGEMENT },
		     { "red", FT_CUSTOMER },
		     { "blue", FT_CUSTOMER },
		     { "green", FT_CUSTOMER },
		     { "storage", FT_CUSTOMER } };
	struct ft_declared *declared = load_sample(SAMPLES "opensm/v01_three_tenants.conf", FABRIC);

	(void)state;
	assert_true(declared->last_rule_wins);
	assert_int_equal(declared->tenant_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(declared->tenants[i].name, want[i].name);
		assert_int_equal(declared->tenants[i].class, want[i].class);
		assert_int_equal(declared->partitions[i].tenant, i);
	}
	ft_declared_destroy(declared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_is_what_opensm_made_of_it),
		cmocka_unit_test(every_rule_of_the_parser_holds),
		cmocka_unit_test(a_dropped_file_makes_everyone_full),
		cmocka_unit_test(tenants_are_the_names_of_partitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
