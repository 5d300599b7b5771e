#include "cmocka_headers.h"

#include <string.h>

#include "extcap_line.h"

enum { ROOM = 32 };

/* Reads `text`, split at spaces, as the program's arguments; "-" is an empty one. */
static enum ft_exit read_line(struct ft_extcap_line *line, char *text)
{
	char *argv[ROOM + 1] = { "fabtap" }, *rest;
	int argc = 1;

	for (char *word = strtok_r(text, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = strcmp(word, "-") == 0 ? "" : word;
	assert_int_equal(ft_extcap_line_init(line, ROOM), 0);
	return ft_extcap_line_read(line, argc, argv);
}

static void wireshark_is_understood(void **state)
{
	static const struct {
		const char *text;
		enum ft_extcap_request request;
		const char *address;
	} cases[] = {
		{ "--extcap-interfaces --extcap-version=4.0", FT_EXTCAP_INTERFACES, NULL },
		{ "--extcap-dlts --extcap-interface fabtap-pcap:tap0", FT_EXTCAP_DLTS,
		  "pcap:tap0" },
		{ "--extcap-config --extcap-interface fabtap-verbs:mlx5_0/1", FT_EXTCAP_CONFIG,
		  "verbs:mlx5_0/1" },
		{ "--extcap-config --extcap-interface fabtap-dpdk --extcap-reload-option tenant "
		  "--map m",
		  FT_EXTCAP_RELOAD, "dpdk:" },
		{ "--extcap-capture-filter udp --extcap-interface fabtap-pcap:tap0",
		  FT_EXTCAP_FILTER, "pcap:tap0" },
		{ "--capture --extcap-interface fabtap-dpdk:0000:81:00.0 --fifo f",
		  FT_EXTCAP_CAPTURE, "dpdk:0000:81:00.0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_extcap_line line;
		char text[256] = "";

		strncat(text, cases[i].text, sizeof text - 1);
		assert_int_equal(read_line(&line, text), FT_EXIT_CLEAN);
		assert_int_equal(line.request, cases[i].request);
		if (cases[i].address == NULL)
			assert_null(line.address);
		else
			assert_string_equal(line.address, cases[i].address);
		ft_extcap_line_free(&line);
	}
}

static void a_capture_has_its_options(void **state)
{
	char text[] =
		"--capture --extcap-interface fabtap-dpdk --fifo f --extcap-capture-filter udp "
		"--device net_null0 --snap 128 --buffer 2M --allow-tx-queue --map m --topology t "
		"--key k --only-violations --tenant red --extcap-control-in i "
		"--extcap-control-out o";
	struct ft_extcap_line line;

	(void)state;
	assert_int_equal(read_line(&line, text), FT_EXIT_CLEAN);
	assert_string_equal(line.fifo, "f");
	assert_int_equal(line.job.live.count, 1);
	assert_string_equal(line.job.live.addresses[0], "dpdk:net_null0");
	assert_string_equal(line.job.live.config.filter, "udp");
	assert_int_equal(line.job.live.config.snap, 128);
	assert_int_equal(line.job.live.config.buffer_bytes, 2 << 20);
	assert_true(line.job.live.config.allow_tx_queue);
	assert_true(line.job.live.quiet);
	assert_string_equal(line.job.files.map, "m");
	assert_string_equal(line.job.files.topologies[0], "t");
	assert_string_equal(line.job.files.key, "k");
	assert_true(line.only_violations);
	assert_int_equal(line.choice.expressions, 1);
	ft_extcap_line_free(&line);
}

static void fields_left_empty_are_not_given(void **state)
{
	char text[] = "--capture --extcap-interface fabtap-pcap:tap0 --fifo f --snap - --buffer - "
		      "--map - "
		      "--topology - --key - --tenant - --extcap-capture-filter -";
	struct ft_extcap_line line;

	(void)state;
	assert_int_equal(read_line(&line, text), FT_EXIT_CLEAN);
	assert_int_equal(line.job.live.config.snap, 0);
	assert_int_equal(line.job.live.config.buffer_bytes, 0);
	assert_null(line.job.live.config.filter);
	assert_null(line.job.files.map);
	assert_null(line.job.files.key);
	assert_int_equal(line.job.files.topology_count, 0);
	assert_int_equal(line.choice.expressions, 0);
	ft_extcap_line_free(&line);
}

static void what_cannot_be_is_refused(void **state)
{
	static const char *const lines[] = {
		"--extcap-dlts",
		"--extcap-config --extcap-interface tap0",
		"--extcap-config --extcap-interface fabtap-tap0",
		"--extcap-config --extcap-interface pcap:tap0",
		"--capture --extcap-interface fabtap-pcap:tap0",
		"--capture --extcap-interface fabtap-dpdk --fifo f",
		"--capture --extcap-interface fabtap-pcap:tap0 --fifo f --snap 5",
		"--capture --extcap-interface fabtap-pcap:tap0 --fifo f --buffer many",
		"--capture --extcap-interface fabtap-pcap:tap0 --fifo f --only-violations",
		"--capture --extcap-interface fabtap-pcap:tap0 --fifo f --tenant red",
		"--capture --extcap-interface fabtap-pcap:tap0 --fifo f --colour red",
		"--capture --extcap-interface fabtap-pcap:tap0 --fifo f more",
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct ft_extcap_line line;
		char text[256] = "";

		strncat(text, lines[i], sizeof text - 1);
		if (read_line(&line, text) != FT_EXIT_FAILED)
			fail_msg("taken: %s", lines[i]);
		ft_extcap_line_free(&line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wireshark_is_understood),
		cmocka_unit_test(a_capture_has_its_options),
		cmocka_unit_test(fields_left_empty_are_not_given),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
