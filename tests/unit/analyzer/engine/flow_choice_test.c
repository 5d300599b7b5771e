#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <engine/flow_choice.h>

static struct ft_flow_choice choice;
static struct ft_flow_complaint complaint;

static int open_choice(void **state)
{
	(void)state;
	return ft_flow_choice_init(&choice);
}

static int close_choice(void **state)
{
	(void)state;
	ft_flow_choice_free(&choice);
	return 0;
}

static const struct ft_report_flow usual = {
	.flow = 7,
	.src = { "10.0.1.2", { [10] = 0xff, 0xff, 10, 0, 1, 2 }, .host = "gpu01", .tenant = "red" },
	.dst = { "10.0.2.3", { [10] = 0xff, 0xff, 10, 0, 2, 3 }, .host = "storage" },
	.dest_qp = 0x12ab,
	.has_pkey = true,
	.pkey = 0x8001,
	.transport = "RC",
	.verdict = "violated",
	.rules = { "pkey.undeclared", "spoof.second-sender" },
	.rule_count = 2,
	.nccl = { .class = "nccl", .connection = 12, .role = "data" },
};

/* Expressions, separated by blanks, and whether the usual row meets them all. */
static const struct {
	const char *expressions;
	bool met;
} cases[] = {
	{ "", true },
	{ "tenant=red", true },
	{ "tenant=blue", false },
	{ "tenant=unknown", true }, /* the destination has none */
	{ "tenant=blue,red", true },
	{ "tenant=re", false },
	{ "host=storage", true },
	{ "host=gpu01", true },
	{ "host=gpu0", false },
	{ "host=unknown", false },
	{ "address=10.0.1.2", true },
	{ "address=10.0.2.3", true },
	{ "address=10.0.3.2", false },
	{ "address=::ffff:10.0.1.2", true },
	{ "address=10.0.1.0/24", true },
	{ "address=10.0.0.0/22", true },
	{ "address=10.0.4.0/22", false },
	{ "address=10.0.1.0/30", true },
	{ "address=10.0.1.4/30", false },
	{ "address=0.0.0.0/0", true },
	{ "address=::/0", false },
	{ "address=::ffff:0:0/96", true },
	{ "address=lid:2", false },
	{ "qp=4779", true },
	{ "qp=0x12ab", true },
	{ "qp=4780", false },
	{ "pkey=0x8001", true },
	{ "pkey=0x0001", true },
	{ "pkey=1", true },
	{ "pkey=0x7fff", false },
	{ "rule=pkey.undeclared", true },
	{ "rule=spoof.*", true },
	{ "rule=pkey.invalid", false },
	{ "rule=tenant.*", false },
	{ "rule=tenant.*,pkey.*", true },
	{ "verdict=violated", true },
	{ "verdict=allowed", false },
	{ "vlan=0", true },
	{ "vlan=100", false },
	{ "vni=0", false },
	{ "transport=RC", true },
	{ "transport=rc", true },
	{ "transport=UD", false },
	{ "class=nccl", true },
	{ "class=ucx,nccl", true },
	{ "class=ucx", false },
	{ "class=unknown", false },
	{ "nccl=12", true },
	{ "nccl=0x0c", true },
	{ "nccl=1", false },
	{ "class=nccl nccl=12,13", true },
	{ "tenant=red qp=4779", true },
	{ "tenant=red qp=4780", false },
	{ "tenant=blue qp=4779", false },
	{ "qp=4780,4779 tenant=red,blue pkey=2,1", true },
	{ "qp=4779 qp=4780", false },
	{ "tenant=red tenant=unknown", true },
};

static void rows_are_taken_that_meet_every_expression(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char expressions[80];
		char *rest = expressions, *expression;

		ft_flow_choice_free(&choice);
		assert_int_equal(ft_flow_choice_init(&choice), 0);
		strcpy(expressions, cases[i].expressions);
		while ((expression = strsep(&rest, " ")) != NULL && *expression != 0)
			assert_int_equal(ft_flow_choice_where(&choice, expression, &complaint), 0);
		if (ft_flow_choice_takes(&choice, &usual) != cases[i].met)
			fail_msg("%s: %s", cases[i].expressions, cases[i].met ? "not met" : "met");
	}
}

static void a_row_by_lid_is_no_address(void **state)
{
	struct ft_report_flow row = usual;

	(void)state;
	row.src = (struct ft_report_flow_end){ "lid:17", { [15] = 17 }, true, NULL, NULL };
	row.dst =
		(struct ft_report_flow_end){ "lid:4660", { [14] = 0x12, 0x34 }, true, NULL, NULL };
	assert_int_equal(ft_flow_choice_where(&choice, "address=lid:0x1234", &complaint), 0);
	assert_true(ft_flow_choice_takes(&choice, &row));
	assert_false(ft_flow_choice_takes(&choice, &usual));
	assert_int_equal(ft_flow_choice_where(&choice, "address=0.0.0.0/0,::/0", &complaint), 0);
	assert_false(ft_flow_choice_takes(&choice, &row));
}

static void a_row_without_what_is_asked_for_is_not_taken(void **state)
{
	static const char *const expressions[] = { "pkey=0",          "vni=0",       "transport=RC",
						   "verdict=allowed", "rule=pkey.*", "host=gpu01",
						   "class=nccl",      "nccl=0" };
	const struct ft_report_flow bare = { .flow = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(expressions) / sizeof(expressions[0]); i++) {
		ft_flow_choice_free(&choice);
		assert_int_equal(ft_flow_choice_init(&choice), 0);
		assert_int_equal(ft_flow_choice_where(&choice, expressions[i], &complaint), 0);
		assert_false(ft_flow_choice_takes(&choice, &bare));
	}
}

static void a_value_may_have_commas_and_backslashes(void **state)
{
	static const struct {
		const char *expression, *tenant;
		bool met;
	} names[] = {
		{ "tenant=a\\,b", "a,b", true },       { "tenant=a\\,b", "a", false },
		{ "tenant=a,b", "a,b", false },        { "tenant=a,b", "b", true },
		{ "tenant=x,a\\,b,y", "a,b", true },   { "tenant=x,a\\,b,y", "y", true },
		{ "tenant=a\\\\,b", "a\\", true },     { "tenant=a\\\\,b", "b", true },
		{ "tenant=a\\\\\\,b", "a\\,b", true }, { "tenant=a\\b\\", "a\\b\\", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ft_report_flow row = usual;

		row.src.tenant = row.dst.tenant = names[i].tenant;
		ft_flow_choice_free(&choice);
		assert_int_equal(ft_flow_choice_init(&choice), 0);
		assert_int_equal(ft_flow_choice_where(&choice, names[i].expression, &complaint), 0);
		if (ft_flow_choice_takes(&choice, &row) != names[i].met)
			fail_msg("%s of %s", names[i].expression, names[i].tenant);
	}
}

static void one_tenant_is_chosen_by_its_name_as_it_is(void **state)
{
	struct ft_report_flow row = usual;

	(void)state;
	row.src.tenant = "qp=1,\\,b";
	assert_int_equal(ft_flow_choice_tenant(&choice, "qp=1,\\,b", &complaint), 0);
	assert_true(ft_flow_choice_takes(&choice, &row));
	assert_false(ft_flow_choice_takes(&choice, &usual));
	assert_int_equal(ft_flow_choice_check(&choice, NULL, &complaint), -EINVAL);
	assert_string_equal(complaint.text, "tenant=qp=1,\\,b: needs a map: -m FILE");
}

static void a_tagged_row_is_found_by_its_tags(void **state)
{
	struct ft_report_flow row = usual;

	(void)state;
	row.has_vlan = row.has_vni = true;
	row.vlan = 100;
	row.vni = 5001;
	assert_int_equal(ft_flow_choice_where(&choice, "vlan=100", &complaint), 0);
	assert_int_equal(ft_flow_choice_where(&choice, "vni=0x1389", &complaint), 0);
	assert_true(ft_flow_choice_takes(&choice, &row));
	assert_int_equal(ft_flow_choice_where(&choice, "vlan=0", &complaint), 0);
	assert_false(ft_flow_choice_takes(&choice, &row));
}

static const struct {
	const char *expression, *complaint;
} refused[] = {
	{ "", "not FIELD=VALUE" },
	{ "tenant", "not FIELD=VALUE" },
	{ "=red", "not FIELD=VALUE" },
	{ "colour=red", "fields are tenant, host, address, qp, pkey, rule" },
	{ "tenant=", "tenant=: not a tenant of the map" },
	{ "tenant=red,", "not a tenant of the map" },
	{ "tenant=red,qp=5", "qp=5: another condition takes another --where" },
	{ "qp=red", "qp=red: not a queue pair" },
	{ "qp=-1", "not a queue pair" },
	{ "qp=16777216", "not a queue pair" },
	{ "qp=99999999999999999999", "not a queue pair" },
	{ "pkey=0x10000", "not a P_Key" },
	{ "vlan=4096", "not a VLAN" },
	{ "vni=5001x", "not a VNI" },
	{ "address=10.0.0", "not an address" },
	{ "address=10.0.0.1/24", "not an address" }, /* bits below the prefix */
	{ "address=lid:", "not an address" },
	{ "address=lid:65536", "not an address" },
	{ "transport=TCP", "not RC, UC, UD" },
	{ "class=", "not a class of queue pairs" },
	{ "class=NCCL", "not a class of queue pairs" },
	{ "nccl=first", "not the number of a connection" },
	{ "nccl=4294967295", "not the number of a connection" },
};

static void what_is_no_expression_is_refused_with_a_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		int error = ft_flow_choice_where(&choice, refused[i].expression, &complaint);

		if (error != -EINVAL || strstr(complaint.text, refused[i].complaint) == NULL)
			fail_msg("%s: %d %s", refused[i].expression, error, complaint.text);
		assert_null(strchr(complaint.text, '\n'));
	}
}

static void what_only_following_nccl_tells_is_noted(void **state)
{
	static const char *const others[] = { "qp=5", "transport=RC", "vlan=0" };
	struct ft_report_flow row = { .flow = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(ft_flow_choice_where(&choice, others[i], &complaint), 0);
	assert_int_equal(ft_flow_choice_sort(&choice, "bytes", &complaint), 0);
	assert_false(choice.nccl);
	assert_int_equal(ft_flow_choice_sort(&choice, "-class", &complaint), 0);
	assert_true(choice.nccl);
	choice.nccl = false;
	assert_int_equal(ft_flow_choice_sort(&choice, "nccl", &complaint), 0);
	assert_true(choice.nccl);
	ft_flow_choice_free(&choice);
	assert_int_equal(ft_flow_choice_init(&choice), 0);
	assert_int_equal(ft_flow_choice_where(&choice, "class=unknown", &complaint), 0);
	assert_true(choice.nccl);
	assert_true(ft_flow_choice_takes(&choice, &row)); /* nothing is known */
	row.nccl.class = "unknown";
	assert_true(ft_flow_choice_takes(&choice, &row));
}

/* Those of NCCL need no map, but that its framing is followed; those of TCP hold of no row. */
static void rules_of_nccl_are_rules_without_a_map(void **state)
{
	static const struct {
		const char *expression, *complaint; /* NULL: good */
	} rules[] = {
		{ "rule=nccl.write-outside", NULL },
		{ "rule=nccl.*", NULL },
		{ "rule=nccl.crosses-tenants", NULL },
		{ "rule=nccl.foreign-setup", "not a rule" },
		{ "rule=nccl.colour", "not a rule" },
		{ "rule=nccl.replay,spoof.*", "rule=spoof.*: needs a map" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		ft_flow_choice_free(&choice);
		assert_int_equal(ft_flow_choice_init(&choice), 0);
		assert_int_equal(ft_flow_choice_where(&choice, rules[i].expression, &complaint), 0);
		assert_true(choice.nccl);
		if (rules[i].complaint == NULL) {
			assert_int_equal(ft_flow_choice_check(&choice, NULL, &complaint), 0);
			continue;
		}
		assert_int_equal(ft_flow_choice_check(&choice, NULL, &complaint), -EINVAL);
		assert_non_null(strstr(complaint.text, rules[i].complaint));
	}
}

static void names_need_a_map(void **state)
{
	(void)state;
	assert_int_equal(ft_flow_choice_where(&choice, "qp=5", &complaint), 0);
	assert_int_equal(ft_flow_choice_check(&choice, NULL, &complaint), 0);
	assert_int_equal(ft_flow_choice_where(&choice, "tenant=red", &complaint), 0);
	assert_int_equal(ft_flow_choice_check(&choice, NULL, &complaint), -EINVAL);
	assert_string_equal(complaint.text, "tenant=red: needs a map: -m FILE");
}

static void a_complaint_shows_a_value_as_it_was_written(void **state)
{
	static const struct {
		const char *expression, *complaint;
	} written[] = {
		{ "tenant=red\\, west,b", "tenant=red\\, west: needs a map: -m FILE" },
		{ "tenant=a\\\\,b", "tenant=a\\\\: needs a map: -m FILE" },
		{ "qp=1\\,2", "qp=1\\,2: not a queue pair, 24 bits" },
		{ "host=a,qp=\\\\", "qp=\\\\: another condition takes another --where" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		int error;

		ft_flow_choice_free(&choice);
		assert_int_equal(ft_flow_choice_init(&choice), 0);
		error = ft_flow_choice_where(&choice, written[i].expression, &complaint);
		if (error == 0)
			error = ft_flow_choice_check(&choice, NULL, &complaint);
		assert_int_equal(error, -EINVAL);
		assert_string_equal(complaint.text, written[i].complaint);
	}
}

static void names_that_the_map_has_not_are_refused(void **state)
{
	static const struct ft_tenant tenants[] = { { .name = "red", .quota_gbps = -1 } };
	static const struct ft_port ports[] = { { .host = "gpu01",
						  .has_ip = true,
						  .ip = { { [10] = 0xff, 0xff, 10, 0, 0, 1 },
							  128 } } };
	static const struct ft_declared declared = {
		.tenants = tenants, .tenant_count = 1, .ports = ports, .port_count = 1
	};
	static const struct {
		const char *expression;
		bool there;
	} names[] = {
		{ "tenant=red", true },      { "tenant=unknown", true },
		{ "tenant=rde", false },     { "host=gpu01", true },
		{ "host=gpu02", false },     { "rule=pkey.undeclared", true },
		{ "rule=pkey.*", true },     { "rule=pkey.undeclard", false },
		{ "rule=p.*", false },       { "verdict=unknown", true },
		{ "verdict=clean", false },  { "qp=3", true },
		{ "tenant=red,rde", false },
	};
	struct ft_map *map;

	(void)state;
	assert_int_equal(ft_map_compile(&map, &declared), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ft_flow_choice_free(&choice);
		assert_int_equal(ft_flow_choice_init(&choice), 0);
		assert_int_equal(ft_flow_choice_where(&choice, names[i].expression, &complaint), 0);
		if ((ft_flow_choice_check(&choice, map, &complaint) == 0) != names[i].there)
			fail_msg("%s", names[i].expression);
	}
	ft_map_destroy(map);
}

/* Ids in the order that `field` gives them. */
static void assert_order(const char *field, const struct ft_report_flow *rows, size_t count,
			 const char *expected)
{
	struct ft_flow_place places[8];
	char got[16] = "";

	assert_int_equal(ft_flow_choice_sort(&choice, field, &complaint), 0);
	for (size_t i = 0; i < count; i++)
		ft_flow_choice_place(&choice, &rows[i], &places[i]);
	ft_flow_choice_order(&choice, places, count);
	for (size_t i = 0; i < count; i++)
		got[i] = (char)('0' + places[i].id);
	if (strcmp(got, expected) != 0)
		fail_msg("--sort %s: %s, not %s", field, got, expected);
}

static void rows_stand_in_the_order_asked_for(void **state)
{
	const struct ft_report_flow rows[] = {
		{ .flow = 1,
		  .packets = 5,
		  .dest_qp = 30,
		  .transport = "UD",
		  .connection = FT_UNKNOWN,
		  .has_pkey = true,
		  .pkey = 0x8002,
		  .mtu = FT_UNKNOWN,
		  .verdict = "allowed",
		  .src = { "10.0.0.9", { [15] = 9 }, .tenant = "blue", .host = "h2" },
		  .dst = { .octets = { [15] = 3 } },
		  .has_vlan = true,
		  .vlan = 100,
		  .has_vni = true,
		  .vni = 7,
		  .sends = 1,
		  .writes = 1,
		  .naks = { 1, 2 },
		  .nccl = { .class = "ucx", .connection = FT_UNKNOWN },
		  .rules = { "tenant.crossing" },
		  .rule_count = 1 },
		{ .flow = 2,
		  .packets = 9,
		  .dest_qp = 20,
		  .transport = "RC",
		  .connection = 2,
		  .has_pkey = true,
		  .pkey = 0x0001,
		  .mtu = 1024,
		  .verdict = "violated",
		  .src = { "10.0.0.10", { [15] = 10 }, .tenant = NULL },
		  .dst = { .octets = { [15] = 2 } },
		  .has_vni = true,
		  .vni = 70000,
		  .reads = 5,
		  .nccl = { .class = "nccl", .role = "data", .connection = 7 },
		  .naks = { 0, 0, 4 } },
		{ .flow = 3,
		  .packets = 0,
		  .dest_qp = 10,
		  .transport = NULL,
		  .connection = 1,
		  .has_pkey = false,
		  .mtu = 4096,
		  .verdict = "unknown",
		  .src = { "10.0.0.2", { [0] = 1 }, .tenant = "azure", .host = "h1" },
		  .dst = { .octets = { [0] = 1 } },
		  .has_vlan = true,
		  .vlan = 5,
		  .nccl = { .connection = FT_UNKNOWN },
		  .rules = { "pkey.invalid" },
		  .rule_count = 1 },
		{ .flow = 4,
		  .packets = 5,
		  .dest_qp = 40,
		  .transport = "RC",
		  .connection = 1,
		  .has_pkey = true,
		  .pkey = 0x8001,
		  .mtu = 1024,
		  .verdict = "violated",
		  .nccl = { .class = "nccl", .role = "cts", .connection = 3 },
		  .src = { "10.0.0.9", { [15] = 9 }, .tenant = "blue", .host = "h2" },
		  .dst = { .octets = { [14] = 1, [15] = 3 }, .host = "a" },
		  .has_vlan = true,
		  .vlan = 100,
		  .has_vni = true,
		  .vni = 7,
		  .sends = 1,
		  .atomics = 1 },
	};
	static const struct {
		const char *field, *order;
	} orders[] = {
		{ "flow", "1234" },       { "-flow", "4321" },       { "packets", "2143" },
		{ "-packets", "3142" },   { "dest_qp", "3214" },     { "qp", "3214" },
		{ "-qp", "4123" },        { "transport", "2413" },   { "-transport", "1243" },
		{ "connection", "3421" }, { "-connection", "2341" }, { "pkey", "2413" },
		{ "mtu", "2431" },        { "-mtu", "3241" },        { "verdict", "2431" },
		{ "-verdict", "1324" },   { "src", "1423" },         { "address", "1423" },
		{ "-address", "3241" },   { "tenant", "3142" },      { "-tenant", "1432" },
		{ "naks", "2134" },       { "rule", "3124" },        { "class", "4213" },
		{ "-class", "1243" },     { "nccl", "4213" },        { "-nccl", "2413" },
		{ "dst", "2143" },        { "-dst", "3412" },        { "host", "3412" },
		{ "-host", "4132" },      { "vlan", "3142" },        { "-vlan", "1432" },
		{ "vni", "1423" },        { "-vni", "2143" },        { "messages", "2143" },
		{ "-messages", "3142" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		assert_order(orders[i].field, rows, 4, orders[i].order);
}

static void an_address_may_be_all_ones(void **state)
{
	const struct ft_report_flow rows[] = {
		{ .flow = 1,
		  .src = { .octets = { [8] = 0xff, 255, 255, 255, 255, 255, 255, 255 } } },
		{ .flow = 2, .src = { .octets = { [15] = 1 } } },
		{ .flow = 3, .src = { .octets = { 255, 255, 255, 255, 255, 255, 255, 255 } } },
	};

	(void)state;
	assert_order("src", rows, 3, "213");
	assert_order("-src", rows, 3, "312");
	assert_order("-address", rows, 3, "312");
}

static void rules_are_compared_one_after_the_other(void **state)
{
	const struct ft_report_flow rows[] = {
		{ .flow = 1,
		  .rules = { "pkey.invalid", "tenant.crossing", "tenant.unknown-endpoint" },
		  .rule_count = 3 },
		{ .flow = 2,
		  .rules = { "pkey.invalid", "tenant.crossing", "spoof.address-mismatch" },
		  .rule_count = 3 },
		{ .flow = 3, .rules = { "pkey.invalid", "tenant.crossing" }, .rule_count = 2 },
		{ .flow = 4, .rules = { "decode.bad-icrc" }, .rule_count = 1 },
		{ .flow = 5, .rules = { "pkey.invalid", "nccl.replay" }, .rule_count = 2 },
	};

	(void)state;
	assert_order("rules", rows, 5, "45213");
	assert_order("-rules", rows, 5, "12354");
}

static void a_field_that_there_is_not_is_refused(void **state)
{
	static const char *const fields[] = {
		"", "-", "colour", "packets ", "--packets", "PACKETS"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		assert_int_equal(ft_flow_choice_sort(&choice, fields[i], &complaint), -EINVAL);
	assert_non_null(strstr(complaint.text, "PACKETS: no such field"));
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, open_choice, close_choice)
	const struct CMUnitTest tests[] = {
		EACH(rows_are_taken_that_meet_every_expression),
		EACH(a_row_by_lid_is_no_address),
		EACH(a_row_without_what_is_asked_for_is_not_taken),
		EACH(a_tagged_row_is_found_by_its_tags),
		EACH(a_value_may_have_commas_and_backslashes),
		EACH(one_tenant_is_chosen_by_its_name_as_it_is),
		EACH(what_is_no_expression_is_refused_with_a_reason),
		EACH(what_only_following_nccl_tells_is_noted),
		EACH(rules_of_nccl_are_rules_without_a_map),
		EACH(names_need_a_map),
		EACH(a_complaint_shows_a_value_as_it_was_written),
		EACH(names_that_the_map_has_not_are_refused),
		EACH(rows_stand_in_the_order_asked_for),
		EACH(an_address_may_be_all_ones),
		EACH(rules_are_compared_one_after_the_other),
		EACH(a_field_that_there_is_not_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
