#include "cmocka_headers.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "known_verb.h"
#include "retell.h"

static const struct option words[] = { FT_JOB_WORDS, { 0 } };

enum { ROOM = 32 };

/* Reads `line`, split at spaces, as a verb does. 0, or what was refused. */
static int read_line(struct ft_job *job, char *line)
{
	char *argv[ROOM + 1] = { "audit" };
	struct ft_options options = { &known_verb, FT_JOB_LETTERS, words, 1, argv, false };
	char *rest;
	int code, error = 0;

	for (char *word = strtok_r(line, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest))
		argv[options.argc++] = word;
	assert_int_equal(ft_job_init(job, &known_verb, ROOM), 0);
	while (error == 0 && (code = ft_options_next(&options)) != FT_OPTION_END)
		error = code == FT_OPTION_BAD ? -1 : ft_job_option(job, code, optarg);
	for (int i = optind; error == 0 && i < options.argc; i++)
		ft_job_capture(job, argv[i]);
	return error;
}

static void options_and_captures_may_stand_anywhere(void **state)
{
	char line[] = "one.pcap -m map.json --topology net.txt -r two.pcap --topology=lids -c 12 "
		      "three.pcap --no-icrc "
		      "--rd dc --roce-port 4791 --roce-port 1021 --mirror-vlan 1 --mirror-vlan "
		      "4094 --flows 64";
	struct ft_job job;

	(void)state;
	assert_int_equal(read_line(&job, line), 0);
	assert_string_equal(job.files.map, "map.json");
	assert_int_equal(job.files.topology_count, 2);
	assert_string_equal(job.files.topologies[1], "lids");
	assert_int_equal(job.capture_count, 3);
	assert_string_equal(job.captures[0], "two.pcap");
	assert_string_equal(job.captures[2], "three.pcap");
	assert_int_equal(job.most_frames, 12);
	assert_int_equal(job.config.flows, 64);
	assert_int_equal(job.config.decode.rd, FT_RD_DC);
	assert_false(job.config.decode.check_icrc);
	assert_int_equal(job.config.decode.roce_port_count, 2);
	assert_int_equal(job.config.decode.roce_ports[1], 1021);
	assert_int_equal(job.config.decode.mirror_vlan_count, 2);
	assert_int_equal(job.config.decode.mirror_vlans[1], 4094);
	ft_job_close(&job);
}

static void what_is_left_out_has_its_default(void **state)
{
	char line[] = "-";
	struct ft_job job;

	(void)state;
	assert_int_equal(read_line(&job, line), 0);
	assert_null(job.files.map);
	assert_true(job.most_frames == UINT64_MAX);
	assert_true(job.config.decode.check_icrc);
	assert_int_equal(job.config.decode.roce_ports[0], 4791);
	assert_int_equal(job.config.decode.roce_port_count, 1);
	ft_job_close(&job);
}

static void what_is_wrong_or_said_twice_is_refused(void **state)
{
	static const char *const lines[] = {
		"-m one -m two",
		"--key a --key b",
		"--map-format xml",
		"-c 0",
		"-c x",
		"--flows 0",
		"--flows 268435457",
		"--rd rd",
		"--roce-port 0",
		"--roce-port 65536",
		"--mirror-vlan 0",
		"--mirror-vlan 4095",
		"--mirror-vlan 1 --mirror-vlan 2 --mirror-vlan 3 --mirror-vlan 4 --mirror-vlan 5 "
		"--mirror-vlan 6 --mirror-vlan 7 --mirror-vlan 8 --mirror-vlan 9",
		"--no-such",
		"-z",
		"-m",
		"--no-icrc=yes",
		"--roce-port 1 --roce-port 2 --roce-port 3 --roce-port 4 --roce-port 5 --roce-port "
		"6 --roce-port 7 "
		"--roce-port 8 --roce-port 9",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *line = strdup(lines[i]);
		struct ft_job job;

		if (read_line(&job, line) == 0)
			fail_msg("%s was taken", lines[i]);
		ft_job_close(&job);
		free(line);
	}
}

static void a_job_is_retold_as_it_was_typed(void **state)
{
	char line[] = "-m it's.json --topology net.txt --rd dc --roce-port 7 --mirror-vlan 9 "
		      "--no-icrc -c 5 "
		      "one.pcap two*.pcap -";
	struct ft_job job;
	char *told;

	(void)state;
	assert_int_equal(read_line(&job, line), 0);
	told = ft_retell(&job, NULL);
	assert_string_equal(told, "-m 'it'\\''s.json' --topology net.txt --rd dc --roce-port 7 "
				  "--mirror-vlan 9 --no-icrc -c 5 one.pcap "
				  "'two*.pcap' -");
	free(told);
	ft_job_close(&job);
}

static char *retold(size_t captures)
{
	char line[512] = "-m map.json";
	struct ft_job job;
	char *told;

	for (size_t i = 1; i <= captures; i++)
		snprintf(line + strlen(line), sizeof line - strlen(line), " %zu.pcap", i);
	assert_int_equal(read_line(&job, line), 0);
	told = ft_retell(&job, NULL);
	ft_job_close(&job);
	return told;
}

static void of_very_many_captures_the_first_is_retold(void **state)
{
	char *few = retold(20), *many = retold(21);

	(void)state;
	assert_non_null(strstr(few, " 1.pcap 2.pcap "));
	assert_non_null(strstr(few, " 19.pcap 20.pcap"));
	assert_null(strstr(few, "..."));
	assert_string_equal(many, "-m map.json 1.pcap ... (all 21 captures)");
	free(few);
	free(many);
}

static void a_job_that_cannot_be_done_is_refused_before_anything_is_opened(void **state)
{
	static const char *const lines[] = {
		"",    "--topology net.txt one.pcap",      "--key k.pem one.pcap",
		"- -", "-m /dev/null/no -r /dev/null/nor",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *line = strdup(lines[i]);
		struct ft_job job;

		assert_int_equal(read_line(&job, line), 0);
		assert_int_equal(ft_job_open(&job, NULL), FT_EXIT_FAILED);
		assert_null(job.source);
		assert_null(job.engine);
		ft_job_close(&job);
		free(line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_and_captures_may_stand_anywhere),
		cmocka_unit_test(what_is_left_out_has_its_default),
		cmocka_unit_test(what_is_wrong_or_said_twice_is_refused),
		cmocka_unit_test(a_job_is_retold_as_it_was_typed),
		cmocka_unit_test(of_very_many_captures_the_first_is_retold),
		cmocka_unit_test(a_job_that_cannot_be_done_is_refused_before_anything_is_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
