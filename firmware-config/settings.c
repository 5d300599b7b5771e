#include <firmware-config/settings.h>

#include <assert.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "addresses.h"
#include "ethtool.h"
#include "files.h"

struct reader {
	const struct ft_machine *machine;
	const char *interface;
	bool shown;       /* what /sys says is about this interface */
	bool silent_ipv6; /* it is off, so that how addresses would be made does not matter */
};

static void is(struct ft_setting *setting, bool ok, const char *current)
{
	setting->ok = ok ? FT_YES : FT_NO;
	snprintf(setting->current, sizeof setting->current, "%s", current);
}

static void is_switch(struct ft_setting *setting, bool on)
{
	is(setting, strcmp(setting->want, on ? "on" : "off") == 0, on ? "on" : "off");
}

/* --- addresses --- */

static void read_addresses(const struct reader *reader, struct ft_setting *setting, int family)
{
	char list[FT_SETTING_VALUE] = "";
	int count =
		ft_addresses_read(reader->machine, reader->interface, family, list, sizeof list);

	if (count >= 0)
		is(setting, count == 0, count == 0 ? "none" : list);
}

static void read_ipv4(struct reader *reader, struct ft_setting *setting)
{
	read_addresses(reader, setting, AF_INET);
}

static void read_ipv6(struct reader *reader, struct ft_setting *setting)
{
	read_addresses(reader, setting, AF_INET6);
}

/* --- IPv6 --- */

static bool knows_ipv6(const struct reader *reader)
{
	char path[FT_PATH];

	return ft_machine_path(reader->machine, path, "proc/sys/net/ipv6/conf/all") == 0 &&
	       access(path, F_OK) == 0;
}

static bool knows_ipv4(const struct reader *reader)
{
	char path[FT_PATH];

	return ft_machine_path(reader->machine, path, "proc/sys/net/ipv4/conf") == 0 &&
	       access(path, F_OK) == 0;
}

/* A kernel without IPv6 has no such folder; of a saved machine without both nothing is known. */
static void read_ipv6_off(struct reader *reader, struct ft_setting *setting)
{
	uint64_t off;

	if (!knows_ipv6(reader)) {
		reader->silent_ipv6 = knows_ipv4(reader);
		if (reader->silent_ipv6)
			is(setting, true, "no IPv6 in this kernel");
		return;
	}
	if (ft_machine_number(reader->machine, &off, "proc/sys/net/ipv6/conf/%s/disable_ipv6",
			      reader->interface) != 0)
		return;
	reader->silent_ipv6 = off == 1;
	is(setting, off == 1, off == 1 ? "1" : "0");
}

static void read_address_mode(struct reader *reader, struct ft_setting *setting)
{
	static const char *const modes[] = { "eui64", "none", "stable-privacy", "random" };
	uint64_t mode;

	if (!knows_ipv6(reader) && reader->silent_ipv6)
		is(setting, true, "no IPv6 in this kernel");
	if (ft_machine_number(reader->machine, &mode, "proc/sys/net/ipv6/conf/%s/addr_gen_mode",
			      reader->interface) == 0 &&
	    mode < sizeof modes / sizeof modes[0])
		is(setting, mode == 1 || reader->silent_ipv6, modes[mode]);
}

/* --- flags --- */

static bool read_flags(const struct reader *reader, uint64_t *flags)
{
	return reader->shown && ft_machine_number(reader->machine, flags, "sys/class/net/%s/flags",
						  reader->interface) == 0;
}

/* What is said there stays in the machine. */
static bool is_loopback(const struct reader *reader)
{
	uint64_t flags;

	return read_flags(reader, &flags) && (flags & IFF_LOOPBACK) != 0;
}

static void read_arp(struct reader *reader, struct ft_setting *setting)
{
	uint64_t flags;

	if (read_flags(reader, &flags))
		is_switch(setting, (flags & IFF_NOARP) == 0);
}

static void read_multicast(struct reader *reader, struct ft_setting *setting)
{
	uint64_t flags;

	if (read_flags(reader, &flags))
		is_switch(setting, (flags & IFF_MULTICAST) != 0);
}

static void read_promiscuous(struct reader *reader, struct ft_setting *setting)
{
	uint64_t flags;

	if (read_flags(reader, &flags))
		is_switch(setting, (flags & IFF_PROMISC) != 0);
}

/* --- pause frames --- */

static void read_pause_autoneg(struct reader *reader, struct ft_setting *setting)
{
	struct ft_ethtool_pause pause;

	if (ft_ethtool_pause(reader->machine, reader->interface, &pause) == 0)
		is_switch(setting, pause.autoneg);
}

static void read_pause_rx(struct reader *reader, struct ft_setting *setting)
{
	struct ft_ethtool_pause pause;

	if (ft_ethtool_pause(reader->machine, reader->interface, &pause) == 0)
		is_switch(setting, pause.rx);
}

static void read_pause_tx(struct reader *reader, struct ft_setting *setting)
{
	struct ft_ethtool_pause pause;

	if (ft_ethtool_pause(reader->machine, reader->interface, &pause) == 0)
		is_switch(setting, pause.tx);
}

/* --- all of them --- */

#define SYSCTL_IPV6 "/proc/sys/net/ipv6/conf"
#define IPV6_OFF    "sysctl net.ipv6.conf.IF.disable_ipv6=1"
#define FLAGS       "/sys/class/net flags"
#define PAUSE_OFF   "ethtool -A IF autoneg off rx off tx off"

/* In this order: whether IPv6 is off is known before how its addresses are made. */
static const struct {
	const char *name, *want, *source, *remedy;
	bool speaks;
	void (*read)(struct reader *reader, struct ft_setting *setting);
} settings_of[] = {
	{ "ipv4_addresses", "none", "netlink", "ip -4 address flush dev IF", true, read_ipv4 },
	{ "ipv6_addresses", "none", "netlink", IPV6_OFF, true, read_ipv6 },
	{ "disable_ipv6", "1", SYSCTL_IPV6, IPV6_OFF, true, read_ipv6_off },
	{ "addr_gen_mode", "none", SYSCTL_IPV6, "ip link set IF addrgenmode none", true,
	  read_address_mode },
	{ "arp", "off", FLAGS, "ip link set IF arp off", true, read_arp },
	{ "multicast", "off", FLAGS, "ip link set IF multicast off", false, read_multicast },
	{ "promiscuous", "on", FLAGS, "ip link set IF promisc on", false, read_promiscuous },
	{ "pause_autoneg", "off", "ethtool", PAUSE_OFF, false, read_pause_autoneg },
	{ "pause_rx", "off", "ethtool", PAUSE_OFF, false, read_pause_rx },
	{ "pause_tx", "off", "ethtool", PAUSE_OFF, true, read_pause_tx },
};

size_t ft_settings_read(const struct ft_machine *machine, const char *interface,
			struct ft_setting settings[FT_SETTINGS_MAX])
{
	struct reader reader = { machine, interface, ft_machine_shows(machine, interface), false };
	size_t count = sizeof settings_of / sizeof settings_of[0];
	bool loops = is_loopback(&reader);

	static_assert(sizeof settings_of / sizeof settings_of[0] <= FT_SETTINGS_MAX, "room");
	for (size_t i = 0; i < count; i++) {
		settings[i] = (struct ft_setting){
			.name = settings_of[i].name,
			.want = settings_of[i].want,
			.source = settings_of[i].source,
			.remedy = settings_of[i].remedy,
			.speaks = settings_of[i].speaks && !loops,
			.ok = FT_NOT_KNOWN,
		};
		settings_of[i].read(&reader, &settings[i]);
	}
	return count;
}

/* --- what to say of them --- */

static const struct {
	const char *setting, *says;
	bool tells_value;
} warnings[] = {
	{ "ipv4_addresses", "has IPv4 addresses", true },
	{ "ipv6_addresses", "has IPv6 addresses", true },
	{ "disable_ipv6", "IPv6 neighbour discovery is on", false },
	{ "arp", "ARP is on", false },
	{ "pause_tx", "pause frames are on", false },
};

static const struct ft_setting *find(const struct ft_setting *settings, size_t count,
				     const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(settings[i].name, name) == 0)
			return &settings[i];
	return NULL;
}

/* Text is cut where it does not fit. */
static void append(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s", more);
}

/* The remedy, with the interface's own name in it, once. */
static void append_remedy(char *remedies, size_t size, const char *interface, const char *remedy)
{
	char command[128] = "";
	const char *place = strstr(remedy, "IF");

	snprintf(command, sizeof command, "%.*s%s%s", (int)(place - remedy), remedy, interface,
		 place + 2);
	if (strstr(remedies, command) != NULL)
		return;
	append(remedies, size, remedies[0] == '\0' ? "" : "; ");
	append(remedies, size, command);
}

bool ft_settings_warn(const char *interface, const struct ft_setting *settings, size_t count,
		      char *line, size_t size)
{
	char says[256] = "", remedies[384] = "";

	for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++) {
		const struct ft_setting *setting = find(settings, count, warnings[i].setting);

		if (setting == NULL || !setting->speaks || setting->ok != FT_NO)
			continue;
		append(says, sizeof says, says[0] == '\0' ? "" : ", ");
		append(says, sizeof says, warnings[i].says);
		if (warnings[i].tells_value) {
			append(says, sizeof says, " (");
			append(says, sizeof says, setting->current);
			append(says, sizeof says, ")");
		}
		append_remedy(remedies, sizeof remedies, interface, setting->remedy);
	}
	if (says[0] == '\0')
		return false;
	snprintf(line, size, "%s; it may send by itself; silence it with `%s`", says, remedies);
	return true;
}
