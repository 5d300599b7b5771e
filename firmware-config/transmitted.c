#include <firmware-config/transmitted.h>

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ethtool.h"
#include "files.h"

/* Drivers' counters of what they sent; `first` and `last` are how its name begins and ends. */
static const struct {
	const char *first, *last;
	enum ft_tx_kind kind;
} statistics[] = {
	{ "tx_packets_phy", "", FT_TX_PHY_PACKETS }, { "tx_bytes_phy", "", FT_TX_PHY_BYTES },
	{ "tx_pause_ctrl_phy", "", FT_TX_PAUSE },    { "tx_prio", "_pause", FT_TX_PAUSE },
	{ "tx_global_pause", "pause", FT_TX_PAUSE }, { "tx_vport_", "", FT_TX_VPORT },
};

static void add(struct ft_transmitted *transmitted, const char *group, const char *name,
		enum ft_tx_kind kind, uint64_t value)
{
	struct ft_tx_counter *counter = &transmitted->counters[transmitted->count];

	if (transmitted->count == FT_TX_COUNTERS_MAX) {
		/* what there is no room for is not known */
		snprintf(counter[-1].name, sizeof counter->name, "%s", group);
		counter[-1].value = FT_TX_UNREADABLE;
		return;
	}
	snprintf(counter->name, sizeof counter->name, "%s%s%s", group, name[0] == '\0' ? "" : ".",
		 name);
	counter->kind = kind;
	counter->value = value;
	transmitted->count++;
}

/* --- the kernel's --- */

/* The numbers of the interface's line of /proc/net/dev, which is that of the reader's network namespace. */
static bool find_line(const char *text, const char *interface, unsigned long long sent[2])
{
	size_t size = strlen(interface);
	const char *line = text;

	while (line != NULL) {
		line += strspn(line, " \n");
		if (strncmp(line, interface, size) == 0 && line[size] == ':')
			return sscanf(line + size + 1, "%*u %*u %*u %*u %*u %*u %*u %*u %llu %llu",
				      &sent[0], &sent[1]) == 2 &&
			       sent[0] <= INT64_MAX && sent[1] <= INT64_MAX;
		line = strchr(line, '\n');
	}
	return false;
}

static void read_netdev(const struct ft_machine *machine, const char *interface,
			struct ft_transmitted *transmitted)
{
	unsigned long long sent[2] = { FT_TX_UNREADABLE, FT_TX_UNREADABLE };
	size_t size;
	char *text = ft_machine_whole(machine, &size, "proc/net/dev");

	if (text == NULL || !find_line(text, interface, sent))
		sent[0] = sent[1] = FT_TX_UNREADABLE;
	free(text);
	add(transmitted, "netdev", "tx_packets", FT_TX_NETDEV, sent[1]);
	add(transmitted, "netdev", "tx_bytes", FT_TX_NETDEV, sent[0]);
}

static uint64_t read_index(const struct ft_machine *machine, const char *interface)
{
	uint64_t index;

	if (ft_machine_is_here(machine))
		return if_nametoindex(interface);
	return ft_machine_number(machine, &index, "sys/class/net/%s/ifindex", interface) == 0
		       ? index
		       : 0;
}

/* --- the driver's --- */

static bool ends_with(const char *name, const char *last)
{
	size_t size = strlen(name), wanted = strlen(last);

	return size >= wanted && strcmp(name + size - wanted, last) == 0;
}

static void take_statistic(void *context, const char *name, uint64_t value)
{
	for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++) {
		const char *first = statistics[i].first;

		if (strncmp(name, first, strlen(first)) == 0 &&
		    ends_with(name, statistics[i].last)) {
			add(context, "ethtool", name, statistics[i].kind,
			    value <= INT64_MAX ? value : FT_TX_UNREADABLE);
			return;
		}
	}
}

static void read_driver(const struct ft_machine *machine, const char *interface,
			struct ft_transmitted *transmitted)
{
	if (ft_ethtool_statistics(machine, interface, take_statistic, transmitted) < 0)
		add(transmitted, "ethtool", "", FT_TX_PHY_PACKETS, FT_TX_UNREADABLE);
}

/* --- an RDMA port's --- */

static void read_rdma(const struct ft_machine *machine, const char *port,
		      struct ft_transmitted *transmitted)
{
	static const char *const names[] = { "port_xmit_packets", "port_xmit_data" };
	const char *slash = strchr(port, '/');
	uint64_t value;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (slash == NULL ||
		    ft_machine_number(machine, &value,
				      "sys/class/infiniband/%.*s/ports/%s/counters/%s",
				      (int)(slash - port), port, slash + 1, names[i]) != 0)
			value = FT_TX_UNREADABLE;
		add(transmitted, "infiniband", names[i], FT_TX_INFINIBAND, value);
	}
}

void ft_transmitted_read(const struct ft_machine *machine, const char *interface,
			 const char *rdma_port, struct ft_transmitted *transmitted)
{
	*transmitted = (struct ft_transmitted){ 0 };
	if (interface != NULL) {
		transmitted->index = read_index(machine, interface);
		read_netdev(machine, interface, transmitted);
		read_driver(machine, interface, transmitted);
	}
	if (rdma_port != NULL)
		read_rdma(machine, rdma_port, transmitted);
}

/* --- before and after --- */

static const struct ft_tx_counter *find(const struct ft_transmitted *transmitted, const char *name)
{
	for (size_t i = 0; i < transmitted->count; i++)
		if (strcmp(transmitted->counters[i].name, name) == 0)
			return &transmitted->counters[i];
	return NULL;
}

static enum ft_tx_change change_of(uint64_t before, uint64_t after)
{
	if (before == FT_TX_UNREADABLE || after == FT_TX_UNREADABLE)
		return FT_TX_UNKNOWN;
	if (after < before)
		return FT_TX_DECREASED;
	return after == before ? FT_TX_UNCHANGED : FT_TX_MOVED;
}

static struct ft_tx_row make_row(const struct ft_tx_counter *before,
				 const struct ft_tx_counter *after)
{
	const struct ft_tx_counter *either = before != NULL ? before : after;
	struct ft_tx_row row = {
		.name = either->name,
		.kind = either->kind,
		.before = before != NULL ? before->value : FT_TX_UNREADABLE,
		.after = after != NULL ? after->value : FT_TX_UNREADABLE,
	};

	row.change = change_of(row.before, row.after);
	return row;
}

size_t ft_transmitted_compare(const struct ft_transmitted *before,
			      const struct ft_transmitted *after,
			      struct ft_tx_row rows[2 * FT_TX_COUNTERS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < before->count; i++)
		rows[count++] =
			make_row(&before->counters[i], find(after, before->counters[i].name));
	for (size_t i = 0; i < after->count; i++)
		if (find(before, after->counters[i].name) == NULL)
			rows[count++] = make_row(NULL, &after->counters[i]);
	return count;
}

const char *ft_tx_change_name(enum ft_tx_change change)
{
	static const char *const names[] = {
		[FT_TX_UNCHANGED] = "unchanged",
		[FT_TX_MOVED] = "moved",
		[FT_TX_DECREASED] = "decreased",
		[FT_TX_UNKNOWN] = "unreadable",
	};

	return names[change];
}
