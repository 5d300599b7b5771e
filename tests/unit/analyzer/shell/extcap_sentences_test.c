#include "cmocka_headers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extcap_sentences.h"

#define DPDK_TEMPLATE "dpdk:net_af_packet0,iface=NAME"

/* What is written to a handle, as text. */
struct said {
	FILE *out;
	char *text;
	size_t size;
};

static void listen_to(struct said *said)
{
	said->text = NULL;
	said->out = open_memstream(&said->text, &said->size);
	assert_non_null(said->out);
}

static void assert_said(struct said *said, const char *text)
{
	assert_int_equal(fclose(said->out), 0);
	assert_string_equal(said->text, text);
	free(said->text);
}

static void every_device_is_an_interface(void **state)
{
	static const struct ft_device_listing rows[] = {
		{ "pcap:tap0", "up", true },
		{ "pcap:eth1", "down", false },
		{ "dpdk:0000:81:00.0", "Ethernet, bound to vfio-pci", true },
		{ DPDK_TEMPLATE, "virtual: name an interface", false },
		{ "verbs:mlx5_0/1", "InfiniBand, port active, 400 Gbit/s", true },
	};
	struct said said;

	(void)state;
	listen_to(&said);
	ft_extcap_put_interfaces(said.out, "1.2.3", rows, sizeof rows / sizeof rows[0]);
	assert_said(&said,
		    "extcap {version=1.2.3}{display=fabtap, a passive tap for RDMA}\n"
		    "interface {value=fabtap-pcap:tap0}{display=fabtap pcap:tap0: up}\n"
		    "interface {value=fabtap-pcap:eth1}{display=fabtap pcap:eth1: not usable: "
		    "down}\n"
		    "interface {value=fabtap-dpdk:0000:81:00.0}{display=fabtap dpdk:0000:81:00.0: "
		    "Ethernet, bound to vfio-pci}\n"
		    "interface {value=fabtap-dpdk}{display=fabtap on a virtual DPDK device}\n"
		    "interface {value=fabtap-verbs:mlx5_0/1}{display=fabtap verbs:mlx5_0/1: "
		    "InfiniBand, port active, 400 Gbit/s}\n");
}

/* A name or a description that says a sentence of its own says it to nobody. */
static void what_would_end_a_sentence_is_not_said(void **state)
{
	static const struct ft_device_listing rows[] = {
		{ "pcap:a}{b", "up", true },
		{ "pcap:a\nb", "up", true },
		{ "pcap:tap0", "a {card}\nof \x7f mine", true },
		{ "verbs:", "this build has no libibverbs", false },
	};
	struct said said;

	(void)state;
	listen_to(&said);
	ft_extcap_put_interfaces(said.out, "1", rows, sizeof rows / sizeof rows[0]);
	assert_said(&said,
		    "extcap {version=1}{display=fabtap, a passive tap for RDMA}\n"
		    "interface {value=fabtap-pcap:tap0}{display=fabtap pcap:tap0: a ?card??of ? "
		    "mine}\n");
}

static void the_link_type_is_that_of_the_source(void **state)
{
	static const struct {
		const char *interface, *about, *sentence;
	} cases[] = {
		{ "fabtap-pcap:tap0", "up", "dlt {number=1}{name=EN10MB}{display=Ethernet}\n" },
		{ "fabtap-pcap:any", "up",
		  "dlt {number=113}{name=LINUX_SLL}{display=Linux cooked}\n" },
		{ "fabtap-verbs:mlx5_0/1", "InfiniBand, port active",
		  "dlt {number=197}{name=ERF}{display=InfiniBand in Endace records}\n" },
		{ "fabtap-verbs:mlx5_1/1", "Ethernet, port active",
		  "dlt {number=1}{name=EN10MB}{display=Ethernet}\n" },
		{ "fabtap-dpdk", NULL, "dlt {number=1}{name=EN10MB}{display=Ethernet}\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct said said;

		listen_to(&said);
		ft_extcap_put_dlt(said.out, cases[i].interface, cases[i].about);
		assert_said(&said, cases[i].sentence);
	}
}

static const char options[] =
	"arg {number=1}{call=--snap}{display=Bytes kept of each frame}{type=unsigned}"
	"{range=64,262144}{placeholder=all}{tooltip=The rest is cut off before it is copied}"
	"{group=Capture}\n"
	"arg {number=2}{call=--buffer}{display=Receive buffer}{type=string}{placeholder=64M}"
	"{validation=^[1-9][0-9]*[KMG]?$}{tooltip=Bytes, or 64K, 512M, 2G}{group=Capture}\n"
	"arg {number=3}{call=--allow-tx-queue}{display=Take a device with a transmit queue}"
	"{type=boolflag}{default=false}{tooltip=Where a driver cannot be had without one}"
	"{group=Capture}\n"
	"arg {number=4}{call=--map}{display=Tenant partition map}{type=fileselect}{mustexist=true}"
	"{tooltip=tapmap/1 or OpenSM's partitions.conf: frames that violate it get a comment}"
	"{group=Map}\n"
	"arg {number=5}{call=--topology}{display=Topology}{type=fileselect}{mustexist=true}"
	"{tooltip=ibnetdiscover, guid2lid, smpquery or saquery output}{group=Map}\n"
	"arg {number=6}{call=--key}{display=Public key}{type=fileselect}{mustexist=true}"
	"{tooltip=Refuse a map that this Ed25519 key has not signed}{group=Map}\n"
	"arg {number=7}{call=--only-violations}{display=Only frames that violate the map}"
	"{type=boolflag}{default=false}{group=Map}\n"
	"arg {number=8}{call=--tenant}{display=Only frames of}{type=selector}{reload=true}"
	"{tooltip=Load the tenants of the map}{group=Map}\n"
	"value {arg=8}{value=}{display=all tenants}{default=true}\n";

static void an_interface_has_options(void **state)
{
	struct said said;

	(void)state;
	listen_to(&said);
	ft_extcap_put_config(said.out, "fabtap-pcap:tap0");
	assert_said(&said, options);
}

static void a_virtual_device_must_be_named(void **state)
{
	static const char device[] =
		"arg {number=0}{call=--device}{display=DPDK device}{type=string}{required=true}"
		"{placeholder=net_af_packet0,iface=tap0}"
		"{tooltip=A PCI address or a virtual device with its arguments}{group=Capture}\n";
	char wanted[sizeof device + sizeof options];
	struct said said;

	(void)state;
	snprintf(wanted, sizeof wanted, "%s%s", device, options);
	listen_to(&said);
	ft_extcap_put_config(said.out, "fabtap-dpdk");
	assert_said(&said, wanted);
}

static void the_tenants_of_a_map_can_be_chosen(void **state)
{
	static const struct ft_tenant tenants[] = {
		{ .name = "red" },
		{ .name = "blue {cell}" },
		{ .name = "gone", .retired = true },
		{ .name = "green" },
	};
	static const struct ft_declared declared = { .tenants = tenants, .tenant_count = 4 };
	struct said said;

	(void)state;
	listen_to(&said);
	ft_extcap_put_tenants(said.out, &declared);
	assert_said(&said, "value {arg=8}{value=}{display=all tenants}{default=true}\n"
			   "value {arg=8}{value=red}{display=red}{default=false}\n"
			   "value {arg=8}{value=green}{display=green}{default=false}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_device_is_an_interface),
		cmocka_unit_test(what_would_end_a_sentence_is_not_said),
		cmocka_unit_test(the_link_type_is_that_of_the_source),
		cmocka_unit_test(an_interface_has_options),
		cmocka_unit_test(a_virtual_device_must_be_named),
		cmocka_unit_test(the_tenants_of_a_map_can_be_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
