#include "dpdk_address.h"

#include "complain.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Virtual devices that have been seen to receive without sending. */
static const struct ft_dpdk_kind kinds[] = {
	{
		.driver = "net_af_packet",
		/* what it sends, never, would at least not pass by the interface's filters */
		.own = "qdisc_bypass=0",
		.queues = "qpairs",
		.interface = "iface",
		.ring = true,
		.note = "net_af_packet does not tell how many frames it loses; pcap: on the same "
			"interface does",
	},
	{
		.driver = "net_af_xdp",
		.queues = "queue_count",
		.interface = "iface",
		.frame_bytes = 3584,
		.pairs_queues = true,
		.program = true,
		.note = "net_af_xdp does not tell how many frames it loses, takes none longer than "
			"about 3300 bytes, and misses VLAN tags that the interface takes off: "
			"ethtool -K it rxvlan off",
	},
	{
		.driver = "net_pcap",
		.interface = "rx_iface",
		.note = "net_pcap tells times to the microsecond, and of an interface not how many "
			"frames it loses",
	},
	{ .driver = "net_ring", .counts_losses = true },
	{ .driver = "net_null", .counts_losses = true },
};

/* And those that own a sender, or cannot be had without one. */
static const struct {
	const char *driver, *why;
} refused[] = {
	{ "net_tap",
	  "makes an interface that sends; use dpdk:net_af_packet0,iface=NAME or pcap:NAME" },
	{ "net_bonding", "may send to its peer; name one of its devices instead" },
	{ "net_failsafe", "hides which device it uses; name that device instead" },
	{ "net_virtio_user",
	  "makes an interface that sends; use dpdk:net_af_packet0,iface=NAME or pcap:NAME" },
	{ "net_vhost", "shares its memory with a sender; use dpdk:net_af_packet0,iface=NAME" },
	{ "net_memif", "answers its peer; use dpdk:net_af_packet0,iface=NAME" },
};

/* Arguments with which a device that only receives would own a sender. */
static const struct {
	const char *driver, *key, *why;
} sending[] = {
	{ "net_pcap", "iface", "iface= opens a sender too; use rx_iface=NAME" },
	{ "net_pcap", "tx_iface", "tx_iface= is a sender; leave it out" },
	{ "net_pcap", "tx_pcap", "tx_pcap= is a sender; leave it out and write files with -w" },
};

enum { QUEUES_MAX = 64 };

static int refuse(const char *text, struct ft_source_complaint *complaint, int error,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

static int refuse(const char *text, struct ft_source_complaint *complaint, int error,
		  const char *format, ...)
{
	char name[256], why[256];
	va_list values;

	va_start(values, format);
	vsnprintf(why, sizeof why, format, values);
	va_end(values);
	snprintf(name, sizeof name, "dpdk:%s", text);
	ft_complain(complaint->text, sizeof complaint->text, name, "%s", why);
	return error;
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* "0000:81:00.0" or "81:00.0" */
static bool is_pci(const char *name)
{
	static const char *const forms[] = { "xxxx:xx:xx.x", "xx:xx.x" };

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		const char *form = forms[i], *at = name;

		for (; *form != '\0' && *at != '\0'; form++, at++) {
			if (*form == 'x' ? !isxdigit((unsigned char)*at) : *form != *at)
				break;
		}
		if (*form == '\0' && *at == '\0')
			return true;
	}
	return false;
}

/* As the kernel writes it: with a domain, in small letters. */
static void complete_pci(char *name, size_t size)
{
	if (strlen(name) < strlen("xxxx:xx:xx.x")) {
		memmove(name + strlen("0000:"), name, strlen(name) + 1);
		memcpy(name, "0000:", strlen("0000:"));
	}
	for (size_t i = 0; i < size && name[i] != '\0'; i++)
		name[i] = (char)tolower((unsigned char)name[i]);
}

static const struct ft_dpdk_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (begins_with(name, kinds[i].driver))
			return &kinds[i];
	}
	return NULL;
}

static const char *why_refused(const char *name)
{
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		if (begins_with(name, refused[i].driver))
			return refused[i].why;
	}
	return NULL;
}

static const char *why_sending(const char *driver, const char *key)
{
	for (size_t i = 0; i < sizeof sending / sizeof sending[0]; i++) {
		if (strcmp(sending[i].driver, driver) == 0 && strcmp(sending[i].key, key) == 0)
			return sending[i].why;
	}
	return NULL;
}

static bool has_key(const struct ft_dpdk_address *address, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = address->arguments; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, length) == 0 && at[length] == '=')
			return true;
	}
	return false;
}

static bool append(struct ft_dpdk_address *address, const char *argument)
{
	size_t used = strlen(address->arguments), room = sizeof address->arguments - used;
	int length =
		snprintf(address->arguments + used, room, "%s%s", used > 0 ? "," : "", argument);

	return length >= 0 && (size_t)length < room;
}

bool ft_dpdk_address_add(struct ft_dpdk_address *address, const char *key, const char *value)
{
	char argument[128];

	if (has_key(address, key))
		return true;
	snprintf(argument, sizeof argument, "%s=%s", key, value);
	return append(address, argument);
}

static bool read_queues(const char *value, unsigned *queues)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end != '\0' || number < 1 || number > QUEUES_MAX)
		return false;
	*queues = (unsigned)number;
	return true;
}

/* What the arguments of a virtual device say about where its frames come from. */
static int note_origin(struct ft_dpdk_address *address, const char *key, const char *value,
		       const char *text, struct ft_source_complaint *complaint)
{
	const struct ft_dpdk_kind *kind = address->kind;
	bool names_interface = kind->interface != NULL && begins_with(key, kind->interface);

	if ((names_interface || strcmp(key, "rx_pcap") == 0) &&
	    (address->interface[0] != '\0' || address->file[0] != '\0'))
		return refuse(text, complaint, -EINVAL,
			      "takes one file or interface; name a second one as a second device");
	if (names_interface && strlen(value) >= sizeof address->interface)
		return refuse(text, complaint, -ENODEV, "there is no interface of this name");
	if (names_interface)
		snprintf(address->interface, sizeof address->interface, "%s", value);
	if (strcmp(key, "rx_pcap") == 0)
		snprintf(address->file, sizeof address->file, "%s", value);
	if (strcmp(key, "infinite_rx") == 0)
		address->endless = strtol(value, NULL, 10) > 0;
	return 0;
}

/* One "key=value" of the address: ours is taken out, a virtual device's may be refused. */
static int read_argument(struct ft_dpdk_address *address, char *argument, const char *text,
			 struct ft_source_complaint *complaint)
{
	const char *why;
	char *value;

	if (begins_with(argument, "queues=")) {
		if (!read_queues(argument + strlen("queues="), &address->queues))
			return refuse(text, complaint, -EINVAL,
				      "queues= takes a number from 1 to %d", QUEUES_MAX);
		return 0;
	}
	if (!append(address, argument))
		return refuse(text, complaint, -EINVAL, "too many arguments");
	if (address->kind == NULL)
		return 0;
	value = strchr(argument, '=');
	if (value == NULL)
		return refuse(text, complaint, -EINVAL, "\"%s\" is not key=value", argument);
	*value++ = '\0';
	why = why_sending(address->kind->driver, argument);
	if (why != NULL)
		return refuse(text, complaint, -EOPNOTSUPP, "%s", why);
	return note_origin(address, argument, value, text, complaint);
}

static int read_name(struct ft_dpdk_address *address, const char *text,
		     struct ft_source_complaint *complaint)
{
	const char *why = why_refused(address->name);

	if (is_pci(address->name)) {
		complete_pci(address->name, sizeof address->name);
		return 0;
	}
	if (why != NULL)
		return refuse(text, complaint, -EOPNOTSUPP, "%s", why);
	address->kind = find_kind(address->name);
	if (address->kind != NULL)
		return 0;
	if (begins_with(address->name, "net_"))
		return refuse(text, complaint, -EOPNOTSUPP,
			      "nobody has seen this virtual device receive without sending; "
			      "net_af_packet, net_af_xdp, net_pcap, net_ring and net_null do");
	return refuse(text, complaint, -EINVAL,
		      "is neither a PCI address (0000:81:00.0) nor a virtual device "
		      "(net_af_packet0,iface=NAME)");
}

/* What must be there, and what is added to it. */
static int complete(struct ft_dpdk_address *address, const char *text,
		    struct ft_source_complaint *complaint)
{
	const struct ft_dpdk_kind *kind = address->kind;
	char queues[16];

	if (kind == NULL)
		return 0;
	if (strcmp(kind->driver, "net_pcap") == 0 && address->interface[0] == '\0' &&
	    address->file[0] == '\0')
		return refuse(text, complaint, -EINVAL, "needs rx_pcap=FILE or rx_iface=NAME");
	if (kind->interface != NULL && address->interface[0] == '\0' && address->file[0] == '\0')
		return refuse(text, complaint, -EINVAL, "needs %s=NAME", kind->interface);
	if (kind->own != NULL && strstr(address->arguments, "qdisc_bypass=") == NULL &&
	    !append(address, kind->own))
		return refuse(text, complaint, -EINVAL, "too many arguments");
	snprintf(queues, sizeof queues, "%u", address->queues);
	if (kind->queues != NULL && address->queues > 0 &&
	    !ft_dpdk_address_add(address, kind->queues, queues))
		return refuse(text, complaint, -EINVAL, "too many arguments");
	return 0;
}

int ft_dpdk_address_read(struct ft_dpdk_address *address, const char *text,
			 struct ft_source_complaint *complaint)
{
	struct ft_dpdk_address read = { 0 };
	char *copy, *rest, *argument;
	int error;

	if (strlen(text) >= sizeof read.arguments)
		return refuse(text, complaint, -EINVAL, "is too long");
	copy = strdup(text);
	if (copy == NULL)
		return refuse(text, complaint, -ENOMEM, "no memory");
	rest = copy;
	argument = strsep(&rest, ",");
	snprintf(read.name, sizeof read.name, "%s", argument);
	error = read_name(&read, text, complaint);
	while (error == 0 && (argument = strsep(&rest, ",")) != NULL)
		error = read_argument(&read, argument, text, complaint);
	free(copy);
	if (error == 0)
		error = complete(&read, text, complaint);
	if (error == 0)
		*address = read;
	return error;
}
