#include "samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOPOLOGY FT_TEST_DATA "/maps/topology/"

/* A map that says nothing about ports, so that all of them come from the topology. */
static struct ft_declared *load_fabric(const char *const *topologies, size_t count)
{
	struct ft_map_files files = { .map = SAMPLES "opensm/v01_three_tenants.conf",
				      .topologies = topologies,
				      .topology_count = count };
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	if (ft_map_load(&declared, &files, NULL, &complaint) != 0)
		fail_msg("%s", complaint.text);
	return declared;
}

static const struct ft_port *find(const struct ft_declared *declared, uint64_t guid)
{
	for (size_t i = 0; i < declared->port_count; i++)
		if (declared->ports[i].has_guid && declared->ports[i].guid == guid)
			return &declared->ports[i];
	return NULL;
}

/* What a file says of one port; what it leaves open is NULL or 0. */
struct row {
	const char *file;
	size_t ports;
	uint64_t guid;
	const char *host;
	enum ft_node_kind kind;
	unsigned lid, lmc;
	const char *leaf;
	unsigned leaf_port;
	bool is_sm;
	unsigned line;
};

static const struct row rows[] = {
	{ "ibnetdiscover.txt", 14, 0x0002c90300a00011, "gpu01", FT_NODE_CA, 1, 0, "leaf1", 1, true,
	  117 },
	{ "ibnetdiscover.txt", 14, 0x0002c90300a000a1, "gpu10", FT_NODE_CA, 14, 0, "leaf2", 5,
	  false, 54 },
	{ "ibnetdiscover.txt", 14, 0x0002c90300a08040, "leaf2", FT_NODE_SWITCH, 6, 0, NULL, 0,
	  false, 11 },
	{ "ibnetdiscover_lmc.txt", 14, 0x0002c90300a00021, "gpu02", FT_NODE_CA, 12, 2, "leaf1", 2,
	  false, 110 },
	{ "ibnetdiscover_lmc.txt", 14, 0x0002c90300a09900, "spine1", FT_NODE_SWITCH, 9, 0, NULL, 0,
	  false, 32 },
	{ "ibnetdiscover_ports.txt", 14, 0x0002c90300a000a1, "gpu10", FT_NODE_CA, 14, 0, "leaf2", 5,
	  false, 2 },
	{ "ibnetdiscover_ports.txt", 14, 0x0002c90300a09940, "spine2", FT_NODE_SWITCH, 7, 0, NULL,
	  0, false, 14 },
	{ "guid2lid", 12, 0xb8cef60300100081, NULL, FT_NODE_CA, 11, 0, NULL, 0, false, 5 },
	{ "opensm_subnet.lst", 12, 0xb8cef60300100011, "sm1 mlx5_0", FT_NODE_CA, 1, 0, "leaf1", 1,
	  true, 1 },
	{ "opensm_subnet.lst", 12, 0xb8cef60300aa0200, "leaf2", FT_NODE_SWITCH, 3, 0, NULL, 0,
	  false, 8 },
	{ "sminfo.txt", 1, 0x0002c90300a00011, NULL, FT_NODE_CA, 1, 0, NULL, 0, true, 2 },
	{ "smpquery_nodeinfo.txt", 1, 0x0002c90300a00011, NULL, FT_NODE_CA, 1, 0, NULL, 0, false,
	  9 },
	{ "saquery_nodes.txt", 1, 0x0002c90300a08000, "leaf1", FT_NODE_SWITCH, 2, 0, NULL, 0, false,
	  17 },
};

static void every_tool_names_its_ports(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *row = &rows[i];
		char path[300];
		const char *topology = path;
		struct ft_declared *declared;
		const struct ft_port *port;

		snprintf(path, sizeof path, "%s%s", TOPOLOGY, row->file);
		declared = load_fabric(&topology, 1);
		print_message("%s\n", row->file);
		assert_int_equal(declared->port_count, row->ports);
		port = find(declared, row->guid);
		assert_non_null(port);
		if (row->host == NULL)
			assert_null(port->host);
		else
			assert_string_equal(port->host, row->host);
		assert_int_equal(port->kind, row->kind);
		assert_true(port->has_lid);
		assert_int_equal(port->lid, row->lid);
		assert_int_equal(port->lmc, row->lmc);
		if (row->leaf == NULL)
			assert_null(port->leaf);
		else
			assert_string_equal(port->leaf, row->leaf);
		assert_int_equal(port->leaf_port, row->leaf_port);
		assert_int_equal(port->is_sm, row->is_sm);
		assert_int_equal(port->origin.line, row->line);
		assert_int_equal(port->origin.file, 1);
		ft_declared_destroy(declared);
	}
}

static void files_complete_each_other_in_any_order(void **state)
{
	const char *const orders[][4] = {
		{ TOPOLOGY "guid2lid", TOPOLOGY "opensm_subnet.lst", FABRIC,
		  SAMPLES "runtime/v04_ibnetdiscover_ports.txt" },
		{ SAMPLES "runtime/v04_ibnetdiscover_ports.txt", FABRIC,
		  TOPOLOGY "opensm_subnet.lst", TOPOLOGY "guid2lid" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ft_declared *declared = load_fabric(orders[i], 4);
		const struct ft_port *port = find(declared, 0xb8cef60300100051);

		assert_int_equal(declared->port_count, 12);
		assert_int_equal(declared->diagnostic_count, 0);
		assert_string_equal(port->host, "st1 mlx5_0");
		assert_int_equal(port->lid, 8);
		assert_string_equal(port->leaf, "leaf1");
		assert_int_equal(port->leaf_port, 5);
		assert_true(find(declared, 0xb8cef60300100011)->is_sm);
		ft_declared_destroy(declared);
	}
}

static struct ft_declared *load_text(const char *text)
{
	char path[] = "/tmp/ft-topology-XXXXXX";
	const char *topology = path;
	int file = mkstemp(path);
	struct ft_declared *declared;

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	declared = load_fabric(&topology, 1);
	unlink(path);
	return declared;
}

static void the_answering_subnet_manager_beats_a_guess(void **state)
{
	struct ft_declared *declared =
		load_text("# Initiated from node 0001 port 0000000000000002\n"
			  "0x0000000000000002 0x0002 0x0002\n"
			  "0x0000000000000003 0x0003 0x0003\n"
			  "sminfo: sm lid 3 sm guid 0x3, activity count 1 priority 1 state 3 "
			  "SMINFO_MASTER\n");

	(void)state;
	assert_false(find(declared, 2)->is_sm);
	assert_true(find(declared, 3)->is_sm);
	ft_declared_destroy(declared);
}

static void a_lid_range_is_a_power_of_two(void **state)
{
	struct ft_declared *declared =
		load_text("0x0000000000000002 0x0008 0x000f\n0x0000000000000003 0x0010 0x0012\n");

	(void)state;
	assert_int_equal(find(declared, 2)->lid, 8);
	assert_int_equal(find(declared, 2)->lmc, 3);
	assert_null(find(declared, 3));
	assert_string_equal(declared->diagnostics[0].code, "lid-range-odd");
	assert_int_equal(declared->diagnostics[0].origin.line, 2);
	ft_declared_destroy(declared);
}

static void contradictions_are_told_and_the_first_word_stands(void **state)
{
	static const struct {
		const char *text, *code;
		unsigned line;
	} cases[] = {
		{ "0x0000000000000002 0x0008 0x0008\n0x0000000000000002 0x0009 0x0009\n",
		  "lid-differs", 2 },
		{ "0x0000000000000002 0x0008 0x0008\n0x0000000000000002 0x0008 0x0009\n",
		  "lmc-differs", 2 },
		{ "0x0000000000000002 0x0008 0x000b\n0x0000000000000003 0x000a 0x000a\n",
		  "lid-taken", 2 },
		{ "CA 8 1 0x0000000000000002 4x SDR - SW 3 5 0x0000000000000009 ( 'a' - 'leaf1' )\n"
		  "CA 8 1 0x0000000000000002 4x SDR - SW 4 5 0x0000000000000008 ( 'a' - 'leaf2' "
		  ")\n",
		  "leaf-differs", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ft_declared *declared = load_text(cases[i].text);
		bool told = false;

		for (size_t j = 0; j < declared->diagnostic_count; j++)
			told |= strcmp(declared->diagnostics[j].code, cases[i].code) == 0 &&
				declared->diagnostics[j].origin.line == cases[i].line &&
				declared->diagnostics[j].origin.file == 1;
		if (!told)
			fail_msg("%s is not told", cases[i].code);
		assert_int_equal(find(declared, 2)->lid, 8);
		ft_declared_destroy(declared);
	}
}

static void smpquery_records_find_their_port_by_lid(void **state)
{
	struct ft_declared *declared =
		load_text("$ smpquery nodeinfo 8\n# Node info: Lid 8\nNodeType:....Switch\n"
			  "PortGuid:....0x0000000000000002\n"
			  "# Port info: Lid 8 port 0\nLid:....8\nSMLid:....3\nLMC:....1\n"
			  "$ smpquery nodedesc 8\nNode Description:....leaf7\n"
			  "# Port info: Lid 8 port 3\nLid:....0\nSMLid:....0\nLMC:....0\n");
	const struct ft_port *port = find(declared, 2);

	(void)state;
	assert_string_equal(port->host, "leaf7");
	assert_int_equal(port->kind, FT_NODE_SWITCH);
	assert_int_equal(port->lid, 8);
	assert_int_equal(port->lmc, 1);
	ft_declared_destroy(declared);
}

static void what_no_tool_prints_is_refused(void **state)
{
	const char *topology = SAMPLES "tapmap/signer.pub.pem";
	struct ft_map_files files = { .map = SAMPLES "opensm/v01_three_tenants.conf",
				      .topologies = &topology,
				      .topology_count = 1 };
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;

	(void)state;
	assert_int_equal(ft_map_load(&declared, &files, NULL, &complaint), -EINVAL);
	assert_non_null(strstr(complaint.text, "signer.pub.pem: topology-unknown: "));
	topology = "/nonexistent";
	assert_int_equal(ft_map_load(&declared, &files, NULL, &complaint), -ENOENT);
	assert_null(declared);
}

static void failed_queries_are_told(void **state)
{
	const char *topologies[] = { FABRIC, SAMPLES "runtime/x01_smpquery_unreachable.txt" };
	struct ft_declared *declared = load_fabric(topologies, 2);

	(void)state;
	assert_string_equal(declared->diagnostics[0].code, "query-failed");
	assert_int_equal(declared->diagnostics[0].origin.file, 2);
	ft_declared_destroy(declared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tool_names_its_ports),
		cmocka_unit_test(files_complete_each_other_in_any_order),
		cmocka_unit_test(the_answering_subnet_manager_beats_a_guess),
		cmocka_unit_test(a_lid_range_is_a_power_of_two),
		cmocka_unit_test(contradictions_are_told_and_the_first_word_stands),
		cmocka_unit_test(smpquery_records_find_their_port_by_lid),
		cmocka_unit_test(what_no_tool_prints_is_refused),
		cmocka_unit_test(failed_queries_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
