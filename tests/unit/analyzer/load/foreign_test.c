/* Files of other programs that declare partitions or name ports are no maps, and are named for what they are. */
#include "samples.h"

#include <errno.h>
#include <string.h>

struct file_case {
	const char *says, *text;
	const char *named; /* in the complaint; NULL: read as a map, by its own format */
};

/* clang-format off */
static const struct file_case cases[] = {
	{ "UFM's answer about all P_Keys",
	  "{\n \"0x7fff\": { \"partition\": \"management\", \"guids\": [] } }", "UFM" },
	{ "about one of them", "{ \"partition\": \"red\", \"ip_over_ib\": true, \"guids\": [] }", "UFM" },
	{ "as a list", "[ { \"guids\": [], \"pkey\": \"0x101\" } ]", "UFM" },
	{ "a running configuration of MLNX-OS",
	  "##\n## IB partition configuration\n##\n   ib partition red pkey 0x101\n", "MLNX-OS" },
	{ "an object of Kubernetes in YAML", "apiVersion: v1\nkind: Pod\n", "Kubernetes" },
	{ "and in JSON", "{ \"apiVersion\": \"v1\", \"kind\": \"Pod\" }", "Kubernetes" },
	{ "Slurm's jobs", "{ \"jobs\": [ { \"job_id\": 1001 } ] }", "Slurm" },
	{ "Slurm's switches", "# leaves\nSwitchName=leaf1 Nodes=gpu-a1\n", "Slurm" },
	{ "SONiC's tables", "{ \"VLAN\": { \"Vlan101\": { \"vlanid\": \"101\" } } }", "SONiC" },
	{ "and others of them", "{ \"VLAN_MEMBER\": {} }", "SONiC" },
	{ "ibnetdiscover's topology", "#\n# Topology file\n#\nvendid=0x2c9\ndevid=0x1\n", "--topology" },
	{ "ibnodes", "Ca\t: 0x0002c90300a00010 ports 1 \"a\"\n", "--topology" },
	{ "ibnetdiscover -p", "CA    12  1 0xb8cef60300100091 4x SDR - SW     3  5 0xb8cef60300aa0200 ( 'a' - 'b' )\n",
	  "--topology" },
	{ "OpenSM's guid2lid", "0xb8cef60300aa0300 0x0004 0x0004\n\n0xb8cef60300100011 0x0001 0x0001\n", "--topology" },
	{ "smpquery pkeys", "   0: 0xffff 0x8001 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n", "P_Key tables" },
	{ "saquery's P_Key tables", "PKeyTableRecord dump:\n\t\tLID........................2\n", "P_Key tables" },
	{ "OpenSM's dump of multicast groups", "MC Group 0xc001  (well known): mgid=0xff12401b81010000:0x0\n", "multicast" },
	{ "OpenSM's list of links", "{ SW Ports:02 SystemGUID:b8cef60300aa0300 }", "--topology" },
	{ "perfquery", "# Port counters: Lid 5 port 1\nPortSelect:......................1\n", "counters of a port" },
	{ "a P_Key alone, and members", "0: 0xb8cef60300100011, 0xb8cef60300100021 ;\n", NULL },
	{ "a tapmap behind a byte order mark", "\xef\xbb\xbf{ \"schema\": \"tapmap/1\" }",
	  "byte order mark" },
	{ "and a blank", "\xef\xbb\xbf\n { \"schema\": \"tapmap/1\" }", "byte order mark" },
	{ "a mark before OpenSM's words is for OpenSM to read", "\xef\xbb\xbf" "p=0x0007 : ALL=full ;\n", NULL },
	{ "a comment may say anything", "# ib partition red\nDefault=0x7fff : ALL=full ;\n", NULL },
	{ "and so may a partition's name", "ib=0x0007 : ALL=full ;\n", NULL },
	{ "a comment that does not end", "# ib partition", NULL },
	{ "a tapmap's first key need not be its schema",
	  "{ \"segments\": [ { \"name\": \"s\", \"tenant\": \"t\", \"intervals\": [ { \"from\": "
	  "\"2026-01-01T00:00:00Z\", \"to\": null, \"members\": [ { \"vlan\": 7 } ] } ] } ],\n"
	  "\"schema\": \"tapmap/1\", \"tenants\": [ { \"name\": \"t\", \"class\": \"customer\" } ] }", NULL },
};
/* clang-format on */

static int load(const char *text, const char *format, struct ft_map_complaint *complaint)
{
	struct ft_declared *declared = NULL;
	int failed = ft_map_load_memory(&declared, "m", format, (const uint8_t *)text, strlen(text),
					complaint);

	ft_declared_destroy(declared);
	return failed;
}

static void they_are_named_and_refused(void **state)
{
	struct ft_map_complaint complaint;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct file_case *row = &cases[i];
		int failed = load(row->text, NULL, &complaint);

		if (failed != (row->named != NULL ? -EINVAL : 0) ||
		    (row->named != NULL && (strstr(complaint.text, row->named) == NULL ||
					    strstr(complaint.text, "--map-format") == NULL)))
			fail_msg("%s: %d, \"%s\"", row->says, failed, complaint.text);
	}
}

/* What OpenSM itself is given it drops, whatever it is. */
static void a_format_that_is_named_is_believed(void **state)
{
	struct ft_map_complaint complaint;

	(void)state;
	assert_int_equal(load("   ib partition red pkey 0x101\n", "opensm", &complaint), 0);
	assert_int_equal(load("{ \"jobs\": [] }", "tapmap", &complaint), -EINVAL);
	assert_non_null(strstr(complaint.text, "/jobs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_named_and_refused),
		cmocka_unit_test(a_format_that_is_named_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
