#include "cmocka_headers.h"

#include <string.h>

#include <report/frame.h>

#include "written.h"

/* What stands behind a packet that is NCCL's: the rows are made by hand. */

static const struct ft_frame frame = { .captured = 64, .original = 64, .wire = 64, .number = 9 };
static const struct ft_packet packet = { .has = FT_HAS_BTH, .opcode = 0x0a };

static const struct ft_nccl_connection connection = { .connection = 3,
						      .has_family = true,
						      .family = FT_NCCL_F };
static const struct ft_nccl_connection unread = { .connection = 0 };

static const struct ft_nccl_request asked[] = {
	{ .has_tag = true,
	  .tag = -7,
	  .has_offered = true,
	  .offered = 8256,
	  .va = 0x7f7eac00000,
	  .rkeys = { 0x1bfa, 0 },
	  .rkey_count = 2 },
	{ .va = 0x10 },
};
static const struct ft_nccl_request unknown = { 0 };
static const struct ft_nccl_request written[] = { { .has_written = true, .written = 4096 },
						  { .has_written = true },
						  { .written = 5 } };

static const struct row {
	const char *sentence;
	struct ft_nccl_shown shown;
	bool keys;
	const char *text, *object;
} rows[] = {
	{ "a clear-to-send for two, of which one was cut",
	  { .role = FT_NCCL_FRAME_CTS,
	    .connection = &connection,
	    .has_k = true,
	    .k = 41,
	    .requests = asked,
	    .request_count = 2 },
	  false,
	  " nccl 3 cts k 41 family F offered 8256,? tag -7,?\n",
	  "{\"role\":\"cts\",\"connection\":3,\"k\":41,\"again\":false,\"family\":\"F\","
	  "\"requests\":["
	  "{\"tag\":-7,\"offered_size\":8256,\"va\":\"0x000007f7eac00000\"},"
	  "{\"tag\":null,\"offered_size\":null,\"va\":\"0x0000000000000010\"}]}" },
	{ "keys when they are asked for",
	  { .role = FT_NCCL_FRAME_CTS,
	    .connection = &connection,
	    .has_k = true,
	    .requests = asked,
	    .request_count = 2 },
	  true,
	  " nccl 3 cts k 0 family F offered 8256,? tag -7,? rkeys 0x00001bfa/0x00000000,?\n",
	  "{\"role\":\"cts\",\"connection\":3,\"k\":0,\"again\":false,\"family\":\"F\","
	  "\"requests\":["
	  "{\"tag\":-7,\"offered_size\":8256,\"va\":\"0x000007f7eac00000\","
	  "\"rkeys\":[\"0x00001bfa\",\"0x00000000\"]},"
	  "{\"tag\":null,\"offered_size\":null,\"va\":\"0x0000000000000010\",\"rkeys\":[]}]}" },
	{ "a clear-to-send that could not be read, again",
	  { .role = FT_NCCL_FRAME_CTS,
	    .connection = &unread,
	    .again = true,
	    .requests = &unknown,
	    .request_count = 1 },
	  true,
	  " nccl 0 cts again\n",
	  "{\"role\":\"cts\",\"connection\":0,\"k\":null,\"again\":true,\"family\":null,"
	  "\"requests\":["
	  "{\"tag\":null,\"offered_size\":null,\"va\":null,\"rkeys\":[]}]}" },
	{ "data",
	  { .role = FT_NCCL_FRAME_DATA,
	    .connection = &connection,
	    .has_k = true,
	    .k = UINT64_C(1) << 40,
	    .protocol = FT_NCCL_LL128 },
	  false,
	  " nccl 3 data k 1099511627776 LL128\n",
	  "{\"role\":\"data\",\"connection\":3,\"k\":1099511627776,\"again\":false,\"family\":"
	  "\"F\","
	  "\"protocol\":\"LL128\"}" },
	{ "data of a message that is not known",
	  { .role = FT_NCCL_FRAME_DATA, .connection = &unread },
	  false,
	  " nccl 0 data\n",
	  "{\"role\":\"data\",\"connection\":0,\"k\":null,\"again\":false,\"family\":null,"
	  "\"protocol\":\"unknown\"}" },
	{ "a completion",
	  { .role = FT_NCCL_FRAME_COMPLETION,
	    .connection = &connection,
	    .has_k = true,
	    .k = 2,
	    .protocol = FT_NCCL_SIMPLE },
	  false,
	  " nccl 3 completion k 2 SIMPLE\n",
	  "{\"role\":\"completion\",\"connection\":3,\"k\":2,\"again\":false,\"family\":\"F\","
	  "\"protocol\":\"SIMPLE\"}" },
	{ "sizes, of which one is not known",
	  { .role = FT_NCCL_FRAME_SIZES,
	    .connection = &connection,
	    .has_k = true,
	    .k = 2,
	    .requests = written,
	    .request_count = 3 },
	  true,
	  " nccl 3 sizes k 2 written 4096,0,?\n",
	  "{\"role\":\"sizes\",\"connection\":3,\"k\":2,\"again\":false,\"family\":\"F\","
	  "\"requests\":["
	  "{\"written_bytes\":4096},{\"written_bytes\":0},{\"written_bytes\":null}]}" },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static struct ft_frame_view view_of(const struct row *row)
{
	return (struct ft_frame_view){ .frame = &frame,
				       .packet = &packet,
				       .followed = true,
				       .nccl = &row->shown,
				       .keys = row->keys };
}

static void expect_end(int (*write)(FILE *, const struct ft_frame_view *),
		       const struct ft_frame_view *view, const char *sentence, const char *end)
{
	struct written out;
	const char *text;

	written_open(&out);
	assert_int_equal(write(out.out, view), 0);
	text = written_close(&out);
	if (strlen(text) < strlen(end) || strcmp(text + strlen(text) - strlen(end), end) != 0)
		fail_msg("%s: %s", sentence, text);
	written_free(&out);
}

static void a_line_ends_with_what_the_packet_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		struct ft_frame_view view = view_of(&rows[i]);

		expect_end(ft_frame_text, &view, rows[i].sentence, rows[i].text);
	}
}

static void an_object_has_it_as_a_member(void **state)
{
	char end[512];

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		struct ft_frame_view view = view_of(&rows[i]);

		snprintf(end, sizeof end, ",\"nccl\":%s}\n", rows[i].object);
		expect_end(ft_frame_json, &view, rows[i].sentence, end);
	}
}

static void what_is_none_of_it_says_so_only_if_it_was_looked_for(void **state)
{
	struct ft_frame_view view = { .frame = &frame, .packet = &packet, .followed = true };

	(void)state;
	expect_end(ft_frame_json, &view, "looked for", ",\"nccl\":null}\n");
	expect_end(ft_frame_text, &view, "looked for", " icrc ?\n");
	view.followed = false;
	expect_end(ft_frame_json, &view, "not looked for", ",\"truncated\":null}\n");
}

/* Fields of the rows above, in their order. */
static void fields_are_values_alone(void **state)
{
	static const struct {
		const char *name;
		const char *values[ROWS];
	} cases[] = {
		{ "nccl.role", { "cts", "cts", "cts", "data", "data", "completion", "sizes" } },
		{ "nccl.connection", { "3", "3", "0", "3", "0", "3", "3" } },
		{ "nccl.k", { "41", "0", "", "1099511627776", "", "2", "2" } },
		{ "nccl.again", { "false", "false", "true", "false", "false", "false", "false" } },
		{ "nccl.family", { "F", "F", "", "F", "", "F", "F" } },
		{ "nccl.protocol", { "", "", "", "LL128", "unknown", "SIMPLE", "" } },
		{ "nccl.n", { "2", "2", "1", "", "", "", "3" } },
		{ "nccl.tag", { "-7,", "-7,", "", "", "", "", "" } },
		{ "nccl.offered_size", { "8256,", "8256,", "", "", "", "", "" } },
		{ "nccl.va",
		  { "0x000007f7eac00000,0x0000000000000010",
		    "0x000007f7eac00000,0x0000000000000010", "", "", "", "", "" } },
		{ "nccl.written_bytes", { "", "", "", "", "", "", "4096,0," } },
		{ "nccl.rkeys",
		  { "0x00001bfa/0x00000000,", "0x00001bfa/0x00000000,", "", "", "", "", "" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ft_field *field = ft_field_find(cases[i].name);

		assert_non_null(field);
		for (size_t j = 0; j < ROWS; j++) {
			struct ft_frame_view view = view_of(&rows[j]);
			struct written out;
			char line[128];

			snprintf(line, sizeof line, "%s\n", cases[i].values[j]);
			written_open(&out);
			assert_int_equal(ft_fields_write(out.out, &field, 1, &view), 0);
			if (strcmp(written_close(&out), line) != 0)
				fail_msg("%s of %s", cases[i].name, rows[j].sentence);
			written_free(&out);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_ends_with_what_the_packet_is),
		cmocka_unit_test(an_object_has_it_as_a_member),
		cmocka_unit_test(what_is_none_of_it_says_so_only_if_it_was_looked_for),
		cmocka_unit_test(fields_are_values_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
