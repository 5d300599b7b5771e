#include "saved_machine.h"

#include <stdlib.h>
#include <string.h>

#include <firmware-config/settings.h>

static const struct ft_setting *find(const struct ft_setting *settings, size_t count,
				     const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(settings[i].name, name) == 0)
			return &settings[i];
	fail_msg("no setting %s", name);
	return NULL;
}

/* A file of the saved machine, and what a setting is then. */
static void settings_are_read(void **state)
{
	static const struct {
		const char *path, *text, *setting, *current;
		enum ft_known ok;
	} cases[] = {
		{ "ip/tap0/addresses", "", "ipv4_addresses", "none", FT_YES },
		{ "ip/tap0/addresses",
		  "4: tap0    inet 10.0.0.1/24 brd 10.0.0.255 scope global tap0\n"
		  "4: tap0    inet 192.0.2.9/32 scope global tap0\n"
		  "4: tap0    inet6 fe80::1/64 scope link\n",
		  "ipv4_addresses", "10.0.0.1, 192.0.2.9", FT_NO },
		{ "ip/tap0/addresses", "4: tap0    inet6 fe80::1/64 scope link\n", "ipv6_addresses",
		  "fe80::1", FT_NO },
		{ "ip/tap0/addresses", NULL, "ipv4_addresses", "", FT_NOT_KNOWN },
		{ "proc/sys/net/ipv6/conf/tap0/disable_ipv6", "0\n", "disable_ipv6", "0", FT_NO },
		{ "proc/sys/net/ipv6/conf/tap0/disable_ipv6", "1\n", "disable_ipv6", "1", FT_YES },
		{ "proc/sys/net/ipv6/conf/tap0/disable_ipv6", NULL, "disable_ipv6", "",
		  FT_NOT_KNOWN },
		{ "proc/sys/net/ipv6/conf/tap0/addr_gen_mode", "0\n", "addr_gen_mode", "eui64",
		  FT_YES }, /* IPv6 is off */
		{ "proc/sys/net/ipv6/conf/tap0/addr_gen_mode", "9\n", "addr_gen_mode", "",
		  FT_NOT_KNOWN },
		{ "sys/class/net/tap0/flags", "0x1103\n", "arp", "on", FT_NO },
		{ "sys/class/net/tap0/flags", "0x1183\n", "arp", "off", FT_YES },
		{ "sys/class/net/tap0/flags", "0x1183\n", "multicast", "on", FT_NO },
		{ "sys/class/net/tap0/flags", "0x83\n", "promiscuous", "off", FT_NO },
		{ "sys/class/net/tap0/flags", "odd\n", "arp", "", FT_NOT_KNOWN },
		{ "ethtool/tap0/pause",
		  "Pause parameters for tap0:\nAutonegotiate:\ton\nRX:\toff\n"
		  "TX:\ton\n",
		  "pause_tx", "on", FT_NO },
		{ "ethtool/tap0/pause", "netlink error: Operation not supported\n", "pause_tx", "",
		  FT_NOT_KNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_setting settings[FT_SETTINGS_MAX];
		const struct ft_setting *setting;
		struct saved_machine saved;
		size_t count;

		saved_machine_make(&saved);
		saved_machine_fill(&saved);
		saved_machine_put(&saved, cases[i].path, cases[i].text);
		count = ft_settings_read(&saved.machine, "tap0", settings);
		setting = find(settings, count, cases[i].setting);
		if (setting->ok != cases[i].ok || strcmp(setting->current, cases[i].current) != 0)
			print_message("case %zu: %s\n", i, cases[i].setting);
		assert_string_equal(setting->current, cases[i].current);
		assert_int_equal(setting->ok, cases[i].ok);
		saved_machine_remove(&saved);
	}
}

static void a_silent_interface_needs_no_warning(void **state)
{
	struct ft_setting settings[FT_SETTINGS_MAX];
	struct saved_machine saved;
	char line[512] = "untouched";
	size_t count;

	(void)state;
	saved_machine_make(&saved);
	saved_machine_fill(&saved);
	count = ft_settings_read(&saved.machine, "tap0", settings);
	assert_false(ft_settings_warn("tap0", settings, count, line, sizeof line));
	assert_string_equal(line, "untouched");
	saved_machine_remove(&saved);
}

static void a_warning_says_how_to_silence_the_interface(void **state)
{
	struct ft_setting settings[FT_SETTINGS_MAX];
	struct saved_machine saved;
	char line[512];
	size_t count;

	(void)state;
	saved_machine_make(&saved);
	saved_machine_fill(&saved);
	saved_machine_put(&saved, "ip/tap0/addresses", "4: tap0    inet6 fe80::1/64 scope link\n");
	saved_machine_put(&saved, "proc/sys/net/ipv6/conf/tap0/disable_ipv6", "0\n");
	saved_machine_put(&saved, "sys/class/net/tap0/flags", "0x1103\n");
	count = ft_settings_read(&saved.machine, "tap0", settings);
	assert_true(ft_settings_warn("tap0", settings, count, line, sizeof line));
	assert_string_equal(line,
			    "has IPv6 addresses (fe80::1), IPv6 neighbour discovery is on, ARP is "
			    "on; it may send by itself; silence it with `sysctl "
			    "net.ipv6.conf.tap0.disable_ipv6=1; ip link set tap0 arp off`");
	saved_machine_remove(&saved);
}

static void what_a_loopback_interface_says_stays_inside(void **state)
{
	struct ft_setting settings[FT_SETTINGS_MAX];
	struct saved_machine saved;
	char line[512];
	size_t count;

	(void)state;
	saved_machine_make(&saved);
	saved_machine_fill(&saved);
	saved_machine_put(&saved, "ip/tap0/addresses", "1: lo    inet 127.0.0.1/8 scope host lo\n");
	saved_machine_put(&saved, "sys/class/net/tap0/flags", "0x9\n");
	count = ft_settings_read(&saved.machine, "tap0", settings);
	assert_int_equal(find(settings, count, "arp")->ok, FT_NO);
	assert_false(ft_settings_warn("tap0", settings, count, line, sizeof line));
	saved_machine_remove(&saved);
}

static void interfaces_are_listed(void **state)
{
	char(*names)[FT_INTERFACE_NAME];
	struct saved_machine saved;

	(void)state;
	saved_machine_make(&saved);
	assert_true(ft_interfaces_list(&saved.machine, &names) < 0);
	saved_machine_fill(&saved);
	assert_int_equal(ft_interfaces_list(&saved.machine, &names), 2);
	assert_string_equal(names[0], "lo");
	assert_string_equal(names[1], "tap0");
	free(names);
	saved_machine_remove(&saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_read),
		cmocka_unit_test(a_silent_interface_needs_no_warning),
		cmocka_unit_test(a_warning_says_how_to_silence_the_interface),
		cmocka_unit_test(what_a_loopback_interface_says_stays_inside),
		cmocka_unit_test(interfaces_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
