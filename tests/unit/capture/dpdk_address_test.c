#include "dpdk_address.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct example {
	const char *says, *text;
	int error;
	const char *name, *arguments;
	unsigned queues;
	const char *interface, *file;
	bool endless;
	const char *complaint; /* has to contain this */
};

static const struct example examples[] = {
	{ .says = "a PCI address", .text = "0000:81:00.0", .name = "0000:81:00.0" },
	{ .says = "a PCI address is completed as the kernel writes it",
	  .text = "C1:00.1",
	  .name = "0000:c1:00.1" },
	{ .says = "our own key is taken out, the driver's stay",
	  .text = "0000:81:00.0,mprq_en=1,queues=4,rxq_cqe_comp_en=0",
	  .name = "0000:81:00.0",
	  .arguments = "mprq_en=1,rxq_cqe_comp_en=0",
	  .queues = 4 },
	{ .says = "an interface of the kernel",
	  .text = "net_af_packet0,iface=tap0",
	  .name = "net_af_packet0",
	  .arguments = "iface=tap0,qdisc_bypass=0",
	  .interface = "tap0" },
	{ .says = "queues are handed on under the driver's own key",
	  .text = "net_af_packet0,iface=tap0,qdisc_bypass=1,queues=2",
	  .name = "net_af_packet0",
	  .arguments = "iface=tap0,qdisc_bypass=1,qpairs=2",
	  .queues = 2,
	  .interface = "tap0" },
	{ .says = "AF_XDP counts queues by another key",
	  .text = "net_af_xdp1,iface=tap1,queues=3",
	  .name = "net_af_xdp1",
	  .arguments = "iface=tap1,queue_count=3",
	  .queues = 3,
	  .interface = "tap1" },
	{ .says = "a capture file",
	  .text = "net_pcap0,rx_pcap=/x/a.pcap",
	  .name = "net_pcap0",
	  .arguments = "rx_pcap=/x/a.pcap",
	  .file = "/x/a.pcap" },
	{ .says = "a capture file again and again",
	  .text = "net_pcap0,rx_pcap=a,infinite_rx=1",
	  .name = "net_pcap0",
	  .arguments = "rx_pcap=a,infinite_rx=1",
	  .file = "a",
	  .endless = true },
	{ .says = "a capture file once, said explicitly",
	  .text = "net_pcap0,rx_pcap=a,infinite_rx=0",
	  .name = "net_pcap0",
	  .arguments = "rx_pcap=a,infinite_rx=0",
	  .file = "a" },
	{ .says = "libpcap below DPDK, receiving only",
	  .text = "net_pcap0,rx_iface=tap0",
	  .name = "net_pcap0",
	  .arguments = "rx_iface=tap0",
	  .interface = "tap0" },
	{ .says = "no arguments", .text = "net_null0", .name = "net_null0" },

	{ .says = "nothing", .text = "", .error = -EINVAL, .complaint = "neither a PCI address" },
	{ .says = "an interface alone", .text = "eth0", .error = -EINVAL },
	{ .says = "almost a PCI address", .text = "0000:81:00", .error = -EINVAL },
	{ .says = "a PCI address and more", .text = "0000:81:00.0x", .error = -EINVAL },
	{ .says = "letters that are not hexadecimal", .text = "g000:81:00.0", .error = -EINVAL },
	{ .says = "no queues", .text = "net_null0,queues=0", .error = -EINVAL },
	{ .says = "negative queues", .text = "net_null0,queues=-1", .error = -EINVAL },
	{ .says = "queues and more", .text = "net_null0,queues=2x", .error = -EINVAL },
	{ .says = "too many queues", .text = "net_null0,queues=65", .error = -EINVAL },
	{ .says = "an argument without a value", .text = "net_null0,size", .error = -EINVAL },
	{ .says = "no interface",
	  .text = "net_af_packet0",
	  .error = -EINVAL,
	  .complaint = "iface=" },
	{ .says = "no file and no interface",
	  .text = "net_pcap0",
	  .error = -EINVAL,
	  .complaint = "rx_pcap=FILE" },
	{ .says = "two files",
	  .text = "net_pcap0,rx_pcap=a,rx_pcap=b",
	  .error = -EINVAL,
	  .complaint = "second device" },
	{ .says = "a file and an interface",
	  .text = "net_pcap0,rx_pcap=a,rx_iface=b",
	  .error = -EINVAL,
	  .complaint = "second device" },
	{ .says = "a name that no interface can have",
	  .text = "net_af_packet0,iface=abcdefghijklmnop",
	  .error = -ENODEV },
	{ .says = "a device that sends as soon as it is there",
	  .text = "net_tap0,iface=x",
	  .error = -EOPNOTSUPP,
	  .complaint = "net_af_packet0" },
	{ .says = "a bond may talk to its peer",
	  .text = "net_bonding0,mode=4",
	  .error = -EOPNOTSUPP },
	{ .says = "a driver that nobody has tried",
	  .text = "net_unheard0",
	  .error = -EOPNOTSUPP,
	  .complaint = "nobody has seen" },
	{ .says = "receiving and sending",
	  .text = "net_pcap0,iface=tap0",
	  .error = -EOPNOTSUPP,
	  .complaint = "rx_iface=" },
	{ .says = "a sender beside the file",
	  .text = "net_pcap0,rx_pcap=a,tx_iface=tap0",
	  .error = -EOPNOTSUPP,
	  .complaint = "tx_iface=" },
	{ .says = "a file that would be written",
	  .text = "net_pcap0,rx_pcap=a,tx_pcap=b",
	  .error = -EOPNOTSUPP,
	  .complaint = "-w" },
};

static const char *or_empty(const char *text)
{
	return text != NULL ? text : "";
}

static void addresses_are_taken_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
		const struct example *e = &examples[i];
		struct ft_dpdk_address address = { .queues = 77 };
		struct ft_source_complaint complaint = { "" };
		int error = ft_dpdk_address_read(&address, e->text, &complaint);

		print_message("%s\n", e->says);
		assert_int_equal(error, e->error);
		if (error != 0) {
			assert_int_equal(address.queues, 77);
			assert_ptr_equal(strstr(complaint.text, "dpdk:"), complaint.text);
			assert_null(strchr(complaint.text, '\n'));
			assert_non_null(strstr(complaint.text, or_empty(e->complaint)));
			continue;
		}
		assert_string_equal(address.name, e->name);
		assert_string_equal(address.arguments, or_empty(e->arguments));
		assert_int_equal(address.queues, e->queues);
		assert_string_equal(address.interface, or_empty(e->interface));
		assert_string_equal(address.file, or_empty(e->file));
		assert_int_equal(address.endless, e->endless);
	}
}

static void a_long_address_is_refused_whole(void **state)
{
	char text[3000];
	struct ft_dpdk_address address = { .queues = 77 };
	struct ft_source_complaint complaint;

	(void)state;
	memset(text, 'a', sizeof text);
	memcpy(text, "net_null0,x=", strlen("net_null0,x="));
	for (size_t length = 900; length < sizeof text; length += 50) {
		char cut[sizeof text];
		int error;

		snprintf(cut, sizeof cut, "%.*s", (int)length, text);
		error = ft_dpdk_address_read(&address, cut, &complaint);
		if (error == 0)
			assert_string_equal(address.arguments, cut + strlen("net_null0,"));
		else
			assert_int_equal(error, -EINVAL);
		assert_int_equal(error == 0, length < 1024);
	}
}

static void what_is_there_already_is_not_added(void **state)
{
	struct ft_dpdk_address address = { .arguments = "iface=a,xframesz=1" };

	(void)state;
	assert_true(ft_dpdk_address_add(&address, "framesz", "2048"));
	assert_true(ft_dpdk_address_add(&address, "framesz", "4096"));
	assert_true(ft_dpdk_address_add(&address, "iface", "b"));
	assert_string_equal(address.arguments, "iface=a,xframesz=1,framesz=2048");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_taken_apart),
		cmocka_unit_test(a_long_address_is_refused_whole),
		cmocka_unit_test(what_is_there_already_is_not_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
