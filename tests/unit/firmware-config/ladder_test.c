#include "saved_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <firmware-config/passivity.h>
#include <jansson.h>

/* What is claimed of an interval in which a saved machine was changed, step by step up and down the ladder. */

#define DEV(bytes, packets)                                                                        \
	"Inter-|   Receive\n face |bytes\n  tap0: 9000000 9000 0 0 0 0 0 0 " bytes " " packets     \
	" 0 0 0 0 0 0\n"
#define STATISTICS(packets, bytes, pause)                                                          \
	"NIC statistics:\n     tx_packets_phy: " packets "\n     tx_bytes_phy: " bytes             \
	"\n     tx_pause_ctrl_phy: 0\n     tx_prio0_pause: " pause                                 \
	"\n     tx_vport_unicast_packets: 7\n"
#define STATUS(held, fixed, filter)                                                                \
	"CapInh:\t0000000000000000\nCapPrm:\t" held "\nCapEff:\t" held                             \
	"\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t" fixed              \
	"\nSeccomp:\t" filter "\n"
#define NETDEV  "proc/net/dev"
#define DRIVER  "ethtool/tap0/statistics"
#define PROCESS "proc/1234/status"

enum { CHANGES = 3 };
enum witness { NOBODY, ONE_WAY, SWITCH, BOTH };

static const struct claim {
	const char *sentence;
	struct {
		const char *path, *text; /* text NULL: the file goes */
	} changes[CHANGES];              /* between the readings; up to the first without a path */
	enum witness witness;
	uint64_t switch_rx[2];
	bool ended; /* the source did not last */
	enum ft_self_test self_test;
	enum ft_passive verdict;
	const char *reasons; /* all of them */
} claims[] = {
	{ .sentence = "nothing moved and nobody else looked",
	  .verdict = FT_PASSIVE_CONSISTENT,
	  .reasons = "no-witness" },
	{ .sentence = "nothing moved and there is no fibre",
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_PROVED,
	  .reasons = "one-way-stated phy-counters-unmoved" },
	{ .sentence = "nothing moved, nor at the switch",
	  .witness = SWITCH,
	  .switch_rx = { 12, 12 },
	  .verdict = FT_PASSIVE_PROVED,
	  .reasons = "switch-counter-unmoved phy-counters-unmoved" },
	{ .sentence = "two witnesses",
	  .witness = BOTH,
	  .switch_rx = { 0, 0 },
	  .verdict = FT_PASSIVE_PROVED,
	  .reasons = "one-way-stated switch-counter-unmoved phy-counters-unmoved" },
	{ .sentence = "the kernel sent a frame",
	  .changes = { { NETDEV, DEV("484", "8") } },
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_VIOLATED,
	  .reasons = "moved:netdev.tx_packets moved:netdev.tx_bytes" },
	{ .sentence = "the firmware sent a frame, of which the kernel does not know",
	  .changes = { { DRIVER, STATISTICS("12", "768", "0") } },
	  .verdict = FT_PASSIVE_VIOLATED,
	  .reasons = "moved:ethtool.tx_packets_phy moved:ethtool.tx_bytes_phy" },
	{ .sentence = "the port sent a pause frame",
	  .changes = { { DRIVER, STATISTICS("11", "704", "1") } },
	  .verdict = FT_PASSIVE_VIOLATED,
	  .reasons = "moved:ethtool.tx_prio0_pause" },
	{ .sentence = "only the switch saw a frame",
	  .witness = SWITCH,
	  .switch_rx = { 12, 13 },
	  .verdict = FT_PASSIVE_VIOLATED,
	  .reasons = "moved:switch.rx_packets" },
	{ .sentence = "one counter moved, another cannot be read",
	  .changes = { { NETDEV, DEV("484", "8") }, { DRIVER, NULL } },
	  .verdict = FT_PASSIVE_VIOLATED,
	  .reasons = "moved:netdev.tx_packets moved:netdev.tx_bytes" },
	{ .sentence = "the kernel's counters cannot be read",
	  .changes = { { NETDEV, NULL } },
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "unreadable:netdev.tx_packets unreadable:netdev.tx_bytes" },
	{ .sentence = "a counter is no number",
	  .changes = { { NETDEV, DEV("420", "-") } },
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "unreadable:netdev.tx_packets unreadable:netdev.tx_bytes" },
	{ .sentence = "the driver tells no more",
	  .changes = { { DRIVER, NULL } },
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "unreadable:ethtool.tx_packets_phy unreadable:ethtool.tx_bytes_phy "
		     "unreadable:ethtool.tx_pause_ctrl_phy unreadable:ethtool.tx_prio0_pause "
		     "unreadable:ethtool.tx_vport_unicast_packets unreadable:ethtool" },
	{ .sentence = "one of the driver's counters is gone",
	  .changes = { { DRIVER,
			 "NIC statistics:\n     tx_bytes_phy: 704\n     tx_pause_ctrl_phy: "
			 "0\n     tx_prio0_pause: 0\n     tx_vport_unicast_packets: 7\n" } },
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "unreadable:ethtool.tx_packets_phy" },
	{ .sentence = "counters began anew",
	  .changes = { { NETDEV, DEV("0", "0") } },
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "decreased:netdev.tx_packets decreased:netdev.tx_bytes" },
	{ .sentence = "the switch's counter began anew",
	  .witness = SWITCH,
	  .switch_rx = { 12, 3 },
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "decreased:switch.rx_packets" },
	{ .sentence = "the switch's counter was not read",
	  .witness = SWITCH,
	  .switch_rx = { 12, FT_TX_UNREADABLE },
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "unreadable:switch.rx_packets" },
	{ .sentence = "another interface took its name",
	  .changes = { { "sys/class/net/tap0/ifindex", "5\n" } },
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "interface-replaced" },
	{ .sentence = "the process kept a capability",
	  .changes = { { PROCESS, STATUS("0000000000002000", "1", "2") } },
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "process-has-capabilities" },
	{ .sentence = "the process has no filter and could gain rights",
	  .changes = { { PROCESS, STATUS("0000000000000000", "0", "0") } },
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "process-may-gain-privileges process-may-call-anything" },
	{ .sentence = "the process cannot be looked at",
	  .changes = { { PROCESS, NULL } },
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "unreadable:process.status" },
	{ .sentence = "a process without rights could send",
	  .self_test = FT_SELF_TEST_SENT,
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "self-test-sent" },
	{ .sentence = "a process without rights could not send",
	  .self_test = FT_SELF_TEST_BLOCKED,
	  .verdict = FT_PASSIVE_CONSISTENT,
	  .reasons = "no-witness" },
	{ .sentence = "the source vanished",
	  .ended = true,
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_NOT_PROVED,
	  .reasons = "source-ended" },
	{ .sentence = "addresses are no frames, but worth a word",
	  .changes = { { "ip/tap0/addresses", "4: tap0    inet 10.0.0.1/24 scope global tap0\\     "
					      "  valid_lft forever\n" },
		       { "sys/class/net/tap0/flags", "0x103\n" } },
	  .witness = ONE_WAY,
	  .verdict = FT_PASSIVE_PROVED,
	  .reasons = "one-way-stated phy-counters-unmoved setting:ipv4_addresses setting:arp" },
};

static void take_witness(const struct claim *claim, struct ft_witness *witness)
{
	if (claim->witness == ONE_WAY || claim->witness == BOTH)
		witness->one_way_by = "operator";
	if (claim->witness == SWITCH || claim->witness == BOTH)
		witness->switch_by = "operator";
	memcpy(witness->switch_rx, claim->switch_rx, sizeof witness->switch_rx);
}

static void change(const struct saved_machine *saved, const struct claim *claim)
{
	for (size_t i = 0; i < CHANGES && claim->changes[i].path != NULL; i++)
		saved_machine_put(saved, claim->changes[i].path, claim->changes[i].text);
}

/* As the program does it: counters, the interval, everything else, counters. */
static void observe(const struct claim *claim, const char *interface,
		    struct ft_transmitted readings[2], struct ft_passivity *passivity)
{
	struct saved_machine saved;

	saved_machine_make(&saved);
	saved_machine_fill(&saved);
	*passivity = (struct ft_passivity){
		.source = "pcap:tap0",
		.interface_known = interface != NULL,
		.lasted = !claim->ended,
		.self_test = claim->self_test,
	};
	take_witness(claim, &passivity->witness);
	ft_transmitted_read(&saved.machine, interface, NULL, &readings[0]);
	change(&saved, claim);
	ft_transmitted_read(&saved.machine, interface, NULL, &readings[1]);
	passivity->row_count = ft_transmitted_compare(&readings[0], &readings[1], passivity->rows);
	for (size_t i = 0; i < 2; i++)
		passivity->index[i] = readings[i].index;
	if (interface != NULL) {
		passivity->setting_count =
			ft_settings_read(&saved.machine, interface, passivity->settings);
		ft_port_facts_read(&saved.machine, interface, &passivity->port);
	}
	ft_process_facts_read(&saved.machine, 1234, &passivity->process);
	saved_machine_remove(&saved);
}

static void join(const struct ft_passive_verdict *verdict, char text[2048])
{
	text[0] = '\0';
	for (size_t i = 0; i < verdict->count; i++) {
		strcat(text, i == 0 ? "" : " ");
		strcat(text, verdict->reasons[i]);
	}
}

static void claims_are_as_strong_as_what_was_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
		struct ft_transmitted readings[2];
		struct ft_passivity passivity;
		struct ft_passive_verdict verdict;
		char reasons[2048];

		observe(&claims[i], "tap0", readings, &passivity);
		ft_passivity_judge(&passivity, &verdict);
		join(&verdict, reasons);
		if (verdict.verdict != claims[i].verdict || strcmp(reasons, claims[i].reasons) != 0)
			print_message("%s: %s\n", claims[i].sentence,
				      ft_passive_name(verdict.verdict));
		assert_int_equal(verdict.verdict, claims[i].verdict);
		assert_string_equal(reasons, claims[i].reasons);
	}
}

static void without_an_interface_nothing_is_claimed(void **state)
{
	static const struct claim nothing = { .witness = ONE_WAY };
	struct ft_transmitted readings[2];
	struct ft_passivity passivity;
	struct ft_passive_verdict verdict;

	(void)state;
	observe(&nothing, NULL, readings, &passivity);
	ft_passivity_judge(&passivity, &verdict);
	assert_int_equal(verdict.verdict, FT_PASSIVE_NOT_PROVED);
	assert_string_equal(verdict.reasons[0], "no-counters");
}

static void without_counters_of_the_port_a_witness_is_not_enough(void **state)
{
	struct saved_machine saved;
	struct ft_transmitted before, after;
	struct ft_passivity passivity = { .lasted = true, .interface_known = true };
	struct ft_passive_verdict verdict;

	(void)state;
	saved_machine_make(&saved);
	saved_machine_fill(&saved);
	saved_machine_put(&saved, DRIVER, "NIC statistics:\n     peer_ifindex: 3\n");
	ft_transmitted_read(&saved.machine, "tap0", NULL, &before);
	ft_transmitted_read(&saved.machine, "tap0", NULL, &after);
	passivity.row_count = ft_transmitted_compare(&before, &after, passivity.rows);
	ft_process_facts_read(&saved.machine, 1234, &passivity.process);
	passivity.witness.one_way_by = "operator";
	ft_passivity_judge(&passivity, &verdict);
	assert_int_equal(verdict.verdict, FT_PASSIVE_CONSISTENT);
	assert_string_equal(verdict.reasons[0], "no-phy-counters");
	saved_machine_remove(&saved);
}

/* --- RDMA ports --- */

static void rdma_ports_count_for_themselves(void **state)
{
	static const struct {
		const char *packets;
		enum ft_passive verdict;
		const char *reason;
	} cases[] = {
		{ "5000000000\n", FT_PASSIVE_PROVED, "one-way-stated" },
		{ "5000000001\n", FT_PASSIVE_VIOLATED, "moved:infiniband.port_xmit_packets" },
		{ "1\n", FT_PASSIVE_NOT_PROVED, "decreased:infiniband.port_xmit_packets" },
		{ "N/A\n", FT_PASSIVE_NOT_PROVED, "unreadable:infiniband.port_xmit_packets" },
	};
	const char *packets = "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_packets";

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct saved_machine saved;
		struct ft_transmitted before, after;
		struct ft_passivity passivity = { .lasted = true };
		struct ft_passive_verdict verdict;

		saved_machine_make(&saved);
		saved_machine_fill(&saved);
		saved_machine_put(&saved, packets, "5000000000\n");
		saved_machine_put(&saved,
				  "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data",
				  "90\n");
		ft_transmitted_read(&saved.machine, NULL, "mlx5_0/1", &before);
		saved_machine_put(&saved, packets, cases[i].packets);
		ft_transmitted_read(&saved.machine, NULL, "mlx5_0/1", &after);
		passivity.row_count = ft_transmitted_compare(&before, &after, passivity.rows);
		ft_process_facts_read(&saved.machine, 1234, &passivity.process);
		passivity.witness.one_way_by = "operator";
		ft_passivity_judge(&passivity, &verdict);
		assert_int_equal(verdict.verdict, cases[i].verdict);
		assert_string_equal(verdict.reasons[0], cases[i].reason);
		saved_machine_remove(&saved);
	}
}

/* --- the record --- */

static json_t *record_of(const struct claim *claim)
{
	struct ft_transmitted readings[2];
	struct ft_passivity passivity;
	struct ft_passive_verdict verdict;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *record;

	observe(claim, "tap0", readings, &passivity);
	ft_passivity_judge(&passivity, &verdict);
	assert_int_equal(ft_passivity_write(out, &passivity, &verdict), 0);
	fclose(out);
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	record = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(record);
	free(text);
	return record;
}

static void the_record_says_what_was_read(void **state)
{
	static const struct claim claim = { .witness = SWITCH, .switch_rx = { 12, 12 } };
	json_t *record = record_of(&claim);
	const char *verdict, *driver, *pci, *caps, *firmware;
	json_int_t phy[2], netdev[2], pause[2], rx[2], speed, seccomp, pipes;
	json_t *claimed;

	(void)state;
	assert_int_equal(
		json_unpack(record,
			    "{s:s, s:{s:s, s:s, s:s, s:I, s:o}, s:{s:[I,I], s:[I,I], s:[I,I]}, "
			    "s:{s:[I,I]}, s:{s:s, s:I, s:{s:I}}}",
			    "verdict", &verdict, "port", "driver", &driver, "pci", &pci, "fw",
			    &firmware, "speed", &speed, "oneway_claim", &claimed, "tx",
			    "phy_packets", &phy[0], &phy[1], "netdev", &netdev[0], &netdev[1],
			    "pause", &pause[0], &pause[1], "switch", "rx_packets", &rx[0], &rx[1],
			    "process", "caps", &caps, "seccomp", &seccomp, "fds", "pipe", &pipes),
		0);
	assert_string_equal(verdict, "proved");
	assert_string_equal(driver, "mlx5_core");
	assert_string_equal(firmware, "28.39.1002 (MT_0000000838)");
	assert_string_equal(pci, "0000:81:00.0");
	assert_string_equal(caps, "0");
	assert_int_equal(speed, 400000);
	assert_int_equal(phy[0], 11);
	assert_int_equal(phy[1], 11);
	assert_int_equal(netdev[0], 7);
	assert_int_equal(netdev[1], 7);
	assert_int_equal(pause[1], 0);
	assert_int_equal(rx[1], 12);
	assert_int_equal(seccomp, 2);
	assert_int_equal(pipes, 2);
	assert_true(json_is_null(claimed));
	json_decref(record);
}

static void what_is_not_known_is_null(void **state)
{
	static const struct claim claim = {
		.changes = { { DRIVER, NULL }, { PROCESS, NULL }, { "ethtool/tap0/pause", NULL } }
	};
	json_t *record = record_of(&claim), *after, *caps, *settings, *ok;
	json_int_t before;

	(void)state;
	assert_int_equal(json_unpack(record, "{s:{s:[I,o]}, s:{s:o}, s:o}", "tx", "phy_bytes",
				     &before, &after, "process", "caps", &caps, "settings",
				     &settings),
			 0);
	assert_int_equal(before, 704);
	assert_true(json_is_null(after));
	assert_true(json_is_null(caps));
	ok = json_object_get(json_array_get(settings, json_array_size(settings) - 1), "ok");
	assert_true(json_is_null(ok));
	json_decref(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_are_as_strong_as_what_was_read),
		cmocka_unit_test(without_an_interface_nothing_is_claimed),
		cmocka_unit_test(without_counters_of_the_port_a_witness_is_not_enough),
		cmocka_unit_test(rdma_ports_count_for_themselves),
		cmocka_unit_test(the_record_says_what_was_read),
		cmocka_unit_test(what_is_not_known_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
