#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <control/connection_setup.h>

enum { HEADER = 24, MAD = 256, REQ = 0x10, REP = 0x13, RTU = 0x14 };

static const uint8_t there[16] = { [15] = 1 }, here[16] = { [15] = 2 };
static const struct ft_setup_carrier carrier = { there, here, false };

/* IBA vol. 1, 13.4.2: class, method and attribute of a common MAD header. */
static void start(uint8_t mad[MAD], uint8_t attribute)
{
	memset(mad, 0, MAD);
	mad[0] = 1;
	mad[1] = 7;
	mad[3] = 3;
	mad[17] = attribute;
}

/* IBA vol. 1, 12.6.5 */
static void start_req(uint8_t mad[MAD])
{
	static const uint8_t id[4] = { 0x11, 0x22, 0x33, 0x44 };
	static const uint8_t nvme[8] = { 0, 0, 0, 0, 0x01, 0x06, 0x11, 0x44 };
	static const uint8_t qpn[3] = { 0, 0x0a, 0xbc };

	start(mad, REQ);
	memcpy(mad + HEADER, id, sizeof id);
	memcpy(mad + HEADER + 8, nvme, sizeof nvme);
	memcpy(mad + HEADER + 32, qpn, sizeof qpn);
	memcpy(mad + HEADER + 56, there, sizeof there);
	memcpy(mad + HEADER + 72, here, sizeof here);
}

static void a_req_names_its_queue_pair_and_the_service(void **state)
{
	uint8_t mad[MAD];
	struct ft_connection_setup setup;

	(void)state;
	start_req(mad);
	setup = ft_connection_setup_of(mad, MAD, &carrier);
	assert_int_equal(setup.kind, FT_SETUP_REQUEST);
	assert_int_equal(setup.local_id, 0x11223344);
	assert_int_equal(setup.qpn, 0xabc);
	assert_true(setup.service_id == (FT_SERVICE_TCP | 4420));
	assert_false(setup.elsewhere);
	mad[HEADER + 87] = 3;
	assert_true(ft_connection_setup_of(mad, MAD, &carrier).elsewhere);
}

static void a_path_between_lids_is_compared_with_lids(void **state)
{
	const struct ft_setup_carrier native = { there, here, true };
	uint8_t mad[MAD];

	(void)state;
	start_req(mad);
	mad[HEADER + 53] = 1;
	mad[HEADER + 55] = 2;
	assert_false(ft_connection_setup_of(mad, MAD, &native).elsewhere);
	mad[HEADER + 52] = 1;
	assert_true(ft_connection_setup_of(mad, MAD, &native).elsewhere);
}

/* IBA vol. 1, 12.6.8 */
static void a_rep_names_both_numbers_and_no_service(void **state)
{
	static const uint8_t ids[8] = { 5, 6, 7, 8, 1, 2, 3, 4 };
	static const uint8_t qpn[3] = { 0xff, 0xfe, 0xfd };
	uint8_t mad[MAD];
	struct ft_connection_setup setup;

	(void)state;
	start(mad, REP);
	memcpy(mad + HEADER, ids, sizeof ids);
	memcpy(mad + HEADER + 12, qpn, sizeof qpn);
	setup = ft_connection_setup_of(mad, MAD, &carrier);
	assert_int_equal(setup.kind, FT_SETUP_REPLY);
	assert_int_equal(setup.local_id, 0x05060708);
	assert_int_equal(setup.remote_id, 0x01020304);
	assert_int_equal(setup.qpn, 0xfffefd);
	assert_true(setup.service_id == 0);
}

static void what_is_neither_says_nothing(void **state)
{
	static const struct {
		const char *why;
		uint8_t at, value;
	} cases[] = {
		{ "another class", 1, 3 },
		{ "another method", 3, 1 },
		{ "an RTU", 17, RTU },
		{ "an attribute with more bits", 16, 1 },
	};
	uint8_t mad[MAD];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		start_req(mad);
		mad[cases[i].at] = cases[i].value;
		if (ft_connection_setup_of(mad, MAD, &carrier).kind != FT_SETUP_NONE)
			fail_msg("%s", cases[i].why);
	}
}

static void a_message_is_read_up_to_its_queue_pair_at_least(void **state)
{
	uint8_t mad[MAD];

	(void)state;
	start_req(mad);
	for (uint32_t captured = 0; captured < HEADER + 35; captured++)
		assert_int_equal(ft_connection_setup_of(mad, captured, &carrier).kind,
				 FT_SETUP_NONE);
	assert_int_equal(ft_connection_setup_of(mad, HEADER + 35, &carrier).qpn, 0xabc);
	assert_int_equal(ft_connection_setup_of(NULL, 0, &carrier).kind, FT_SETUP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_req_names_its_queue_pair_and_the_service),
		cmocka_unit_test(a_path_between_lids_is_compared_with_lids),
		cmocka_unit_test(a_rep_names_both_numbers_and_no_service),
		cmocka_unit_test(what_is_neither_says_nothing),
		cmocka_unit_test(a_message_is_read_up_to_its_queue_pair_at_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
