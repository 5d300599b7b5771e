#include "device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <rte_ethdev.h>

#include <cmocka.h>

/* The source over kernel interfaces: a pair of them in a network namespace of the test's own. */

enum { ROOM = 64, BURST = 40, BURSTS = 50, LONGEST = 9230, PATIENCE = 20000 };

static bool have_interfaces;

/* The driver net_af_xdp of DPDK 22.11 keeps a part of its socket when it is closed. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:xsk_umem__create";
}

static int run(const char *command)
{
	int status = system(command);

	return status == 0 ? 0 : -1;
}

static void write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return;
	if (write(file, text, strlen(text)) < 0)
		print_message("%s: %s\n", path, strerror(errno));
	close(file);
}

static int make_interfaces(void **state)
{
	(void)state;
	if (!have_interfaces)
		return 0;
	return run("ip link add fabtap_far mtu 9216 type veth peer name fabtap_tap mtu 9216 && "
		   "ip link set fabtap_far up && ip link set fabtap_tap up");
}

static int remove_interfaces(void **state)
{
	(void)state;
	if (have_interfaces)
		run("ip link del fabtap_far 2>/dev/null");
	return 0;
}

static void need_interfaces(void)
{
	if (have_interfaces)
		return;
	print_message("SKIPPED: no network namespace of our own (needs root and ip)\n");
	skip();
}

/* The number in column `column` (from 0) of an interface's line in /proc/net/dev; 0: received bytes. */
static unsigned long long interface_counter(const char *interface, unsigned column)
{
	unsigned long long value = UINT64_MAX;
	char line[512], *at;
	FILE *file = fopen("/proc/net/dev", "re");

	assert_non_null(file);
	while (fgets(line, sizeof line, file) != NULL) {
		at = strstr(line, interface);
		if (at == NULL)
			continue;
		at = strchr(at, ':') + 1;
		for (unsigned i = 0; i <= column; i++)
			value = strtoull(at, &at, 10);
	}
	fclose(file);
	assert_true(value != UINT64_MAX);
	return value;
}

static bool is_promiscuous(const char *interface)
{
	char command[128];

	snprintf(command, sizeof command, "ip -d link show %s | grep -q 'promiscuity [1-9]'",
		 interface);
	return run(command) == 0;
}

static int open_sender(void)
{
	struct sockaddr_ll far = { .sll_family = AF_PACKET,
				   .sll_ifindex = (int)if_nametoindex("fabtap_far") };
	int sender = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	assert_true(sender >= 0);
	assert_int_equal(bind(sender, (struct sockaddr *)&far, sizeof far), 0);
	return sender;
}

/* Frame number i: to an address that is not the interface's, every third with a tag. */
static uint32_t make_frame(uint8_t *bytes, uint32_t i, uint32_t longest)
{
	static const uint8_t start[] = { 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 7 };
	static const uint8_t tag[] = { 0x81, 0x00, 0x60, 0x2a };
	uint32_t length = 60 + i * 97 % (longest - 60), seed = i, at = sizeof start;

	memcpy(bytes, start, sizeof start);
	if (i % 3 == 0) {
		memcpy(bytes + at, tag, sizeof tag);
		at += sizeof tag;
	}
	bytes[at++] = 0x89;
	bytes[at++] = 0x15;
	for (; at < length; at++) {
		seed = seed * 1664525 + 1013904223;
		bytes[at] = (uint8_t)(seed >> 24);
	}
	return length;
}

static void send_burst(int sender, uint32_t first, uint32_t longest)
{
	uint8_t bytes[LONGEST];

	for (uint32_t i = first; i < first + BURST; i++) {
		uint32_t length = make_frame(bytes, i, longest);

		assert_int_equal(send(sender, bytes, length, 0), length);
	}
}

static void receive_burst(void *device, uint32_t first, uint32_t longest)
{
	struct ft_frame frames[ROOM];
	uint8_t bytes[LONGEST];
	uint32_t next = first;

	for (int patience = PATIENCE; next < first + BURST && patience > 0; patience--) {
		int count = ft_driver_dpdk.receive(device, frames, ROOM);

		assert_true(count >= 0);
		if (count == 0)
			ft_driver_dpdk.wait(device, 10);
		for (int i = 0; i < count; i++, next++) {
			uint32_t length = make_frame(bytes, next, longest);

			assert_int_equal(frames[i].captured, length);
			assert_int_equal(frames[i].wire, length);
			assert_memory_equal(frames[i].bytes, bytes, length);
		}
	}
	assert_int_equal(next, first + BURST);
}

static __attribute__((noreturn)) void hold_open(const char *address, int tell)
{
	struct ft_device_config config = { .address = address, .keep = 1, .allow_tx_queue = true };
	struct ft_source_complaint complaint;
	void *device;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ft_driver_dpdk.open(&device, &config, &complaint) == 0 &&
	    ft_driver_dpdk.start(device, &complaint) == 0 && write(tell, "", 1) == 1)
		pause();
	_exit(1);
}

/*
 * Opened, and ended without notice, by a process of its own. Comes first: DPDK's environment
 * must not run yet when a process is made.
 */
static void nothing_is_left_on_an_interface(void **state)
{
	static const char *const addresses[] = { "net_af_xdp0,iface=fabtap_tap",
						 "net_af_packet0,iface=fabtap_tap" };

	(void)state;
	need_interfaces();
	assert_int_equal(run("ip link set fabtap_far mtu 1500 && ip link set fabtap_tap mtu 1500"),
			 0);
	for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
		int opened[2];
		pid_t child;
		char byte;

		assert_int_equal(pipe(opened), 0);
		child = fork();
		if (child == 0)
			hold_open(addresses[i], opened[1]);
		close(opened[1]);
		assert_int_equal(read(opened[0], &byte, 1), 1);
		close(opened[0]);
		assert_true(is_promiscuous("fabtap_tap"));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_int_equal(run("! ip link show fabtap_tap | grep -q xdp"), 0);
		assert_false(is_promiscuous("fabtap_tap"));
	}
}

struct source {
	const char *address;
	bool allow_tx_queue;
	unsigned transmit_queues;
	uint32_t longest;
};

static void frames_arrive(const struct source *source)
{
	struct ft_device_config config = { .address = source->address,
					   .keep = 3,
					   .allow_tx_queue = source->allow_tx_queue };
	struct ft_source_complaint complaint = { "" };
	struct ft_device_counts counts;
	struct ft_device_facts facts;
	struct rte_eth_dev_info about;
	void *device;
	int sender;

	if (source->longest < 9000)
		assert_int_equal(
			run("ip link set fabtap_far mtu 3300 && ip link set fabtap_tap mtu 3300"),
			0);
	if (ft_driver_dpdk.open(&device, &config, &complaint) != 0 ||
	    ft_driver_dpdk.start(device, &complaint) != 0)
		fail_msg("%s", complaint.text);
	ft_driver_dpdk.describe(device, &facts);
	assert_string_equal(facts.interface, "fabtap_tap");
	assert_int_equal(facts.transmit_queues, source->transmit_queues);
	assert_int_equal(rte_eth_dev_info_get(0, &about), 0);
	assert_int_equal(about.nb_tx_queues, source->transmit_queues);
	assert_true(is_promiscuous("fabtap_tap"));

	sender = open_sender();
	for (uint32_t burst = 0; burst < BURSTS; burst++) {
		send_burst(sender, burst * BURST, source->longest);
		receive_burst(device, burst * BURST, source->longest);
	}
	close(sender);
	assert_false(facts.counts_losses);
	ft_driver_dpdk.count(device, &counts);
	assert_true(counts.lost == FT_LOST_UNKNOWN);
	ft_driver_dpdk.close(device);

	assert_false(is_promiscuous("fabtap_tap"));
	assert_int_equal(interface_counter("fabtap_tap", 1), BURST * BURSTS);
	/* sent, which is received by the other */
	assert_int_equal(interface_counter("fabtap_tap", 9), 0);
	assert_int_equal(interface_counter("fabtap_far", 1), 0);
}

static void packet_sockets_bring_what_arrives_and_send_nothing(void **state)
{
	(void)state;
	need_interfaces();
	frames_arrive(&(struct source){ "net_af_packet0,iface=fabtap_tap", .longest = LONGEST });
}

static void xdp_sockets_bring_what_arrives_and_send_nothing(void **state)
{
	(void)state;
	need_interfaces();
	frames_arrive(&(struct source){ "net_af_xdp0,iface=fabtap_tap", .allow_tx_queue = true,
					.transmit_queues = 1, .longest = 3300 });
}

static void libpcap_below_dpdk_brings_what_arrives_and_sends_nothing(void **state)
{
	(void)state;
	need_interfaces();
	frames_arrive(&(struct source){ "net_pcap0,rx_iface=fabtap_tap", .longest = LONGEST });
}

static void frames_from_before_the_start_are_not_handed_out(void **state)
{
	struct ft_device_config config = { .address = "net_af_packet0,iface=fabtap_tap",
					   .keep = 1 };
	struct ft_source_complaint complaint = { "" };
	void *device;
	int sender;

	(void)state;
	need_interfaces();
	if (ft_driver_dpdk.open(&device, &config, &complaint) != 0)
		fail_msg("%s", complaint.text);
	sender = open_sender();
	send_burst(sender, 1000, 1514);
	usleep(100000);
	assert_int_equal(ft_driver_dpdk.start(device, &complaint), 0);
	send_burst(sender, 0, 1514);
	receive_burst(device, 0, 1514);
	close(sender);
	ft_driver_dpdk.close(device);
}

static void read_settings(char *text, size_t size)
{
	FILE *command = popen("ip link show fabtap_tap", "r");

	assert_non_null(command);
	text[fread(text, 1, size - 1, command)] = '\0';
	assert_int_equal(pclose(command), 0);
}

static void settings_of_an_interface_are_left_as_they_are(void **state)
{
	static const char *const addresses[] = { "net_af_packet0,iface=fabtap_tap",
						 "net_pcap0,rx_iface=fabtap_tap" };
	struct ft_source_complaint complaint = { "" };
	char before[1024], after[1024];

	(void)state;
	need_interfaces();
	assert_int_equal(run("ip link set fabtap_tap promisc on"), 0);
	for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
		struct ft_device_config config = { .address = addresses[i], .keep = 1 };
		void *device;

		read_settings(before, sizeof before);
		assert_non_null(strstr(before, "PROMISC"));
		if (ft_driver_dpdk.open(&device, &config, &complaint) != 0 ||
		    ft_driver_dpdk.start(device, &complaint) != 0)
			fail_msg("%s", complaint.text);
		ft_driver_dpdk.close(device);
		read_settings(after, sizeof after);
		assert_string_equal(after, before);
	}
}

static void an_interface_that_vanishes_is_noticed(void **state)
{
	static const char *const addresses[] = { "net_af_packet0,iface=fabtap_tap",
						 "net_af_xdp0,iface=fabtap_tap",
						 "net_pcap0,rx_iface=fabtap_tap" };
	struct ft_source_complaint complaint = { "" };
	struct ft_frame frames[ROOM];

	need_interfaces();
	for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
		struct ft_device_config config = { .address = addresses[i],
						   .keep = 1,
						   .allow_tx_queue = true };
		void *device;
		int count = 0;

		remove_interfaces(state);
		assert_int_equal(make_interfaces(state), 0);
		run("ip link set fabtap_far mtu 1500 && ip link set fabtap_tap mtu 1500");
		if (ft_driver_dpdk.open(&device, &config, &complaint) != 0 ||
		    ft_driver_dpdk.start(device, &complaint) != 0)
			fail_msg("%s", complaint.text);
		assert_int_equal(run("ip link del fabtap_far"), 0);
		for (int patience = PATIENCE; count == 0 && patience > 0; patience--) {
			count = ft_driver_dpdk.receive(device, frames, ROOM);
			ft_driver_dpdk.wait(device, 10);
		}
		assert_int_equal(count, -ENODEV);
		ft_driver_dpdk.close(device);
	}
}

int main(void)
{
#define WITH_INTERFACES(test)                                                                      \
	cmocka_unit_test_setup_teardown(test, make_interfaces, remove_interfaces)
	const struct CMUnitTest tests[] = {
		WITH_INTERFACES(nothing_is_left_on_an_interface),
		WITH_INTERFACES(packet_sockets_bring_what_arrives_and_send_nothing),
		WITH_INTERFACES(xdp_sockets_bring_what_arrives_and_send_nothing),
		WITH_INTERFACES(libpcap_below_dpdk_brings_what_arrives_and_sends_nothing),
		WITH_INTERFACES(frames_from_before_the_start_are_not_handed_out),
		WITH_INTERFACES(settings_of_an_interface_are_left_as_they_are),
		WITH_INTERFACES(an_interface_that_vanishes_is_noticed),
	};

	have_interfaces = unshare(CLONE_NEWNET) == 0 && run("ip link set lo up 2>/dev/null") == 0;
	if (have_interfaces) {
		write_text("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
		write_text("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
