#include "ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ethtool_saved.h"
#include "files.h"

enum { STATISTICS_MAX = 1 << 16 };

/* 0 or -errno. Any socket will do to ask; this kind could not reach a network. */
static int ask(const char *interface, void *question)
{
	struct ifreq request = { .ifr_data = question };
	int asked = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = 0;

	if (asked < 0)
		return -errno;
	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	if (ioctl(asked, SIOCETHTOOL, &request) != 0)
		error = -errno;
	close(asked);
	return error;
}

/* How many, 0 if the driver has none, or -errno. */
static int count_statistics(const char *interface)
{
	union {
		struct ethtool_sset_info question;
		uint32_t words[sizeof(struct ethtool_sset_info) / sizeof(uint32_t) + 1];
	} sets = { .question = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS } };
	uint32_t count;
	int error = ask(interface, &sets);

	if (error != 0)
		return error == -EOPNOTSUPP ? 0 : error;
	if (sets.question.sset_mask == 0)
		return 0;
	count = sets.words[sizeof(struct ethtool_sset_info) / sizeof(uint32_t)];
	return count <= STATISTICS_MAX ? (int)count : -EOVERFLOW;
}

/* 0 or -errno; -EAGAIN: the driver's counters changed in between. */
static int read_statistics(const char *interface, uint32_t count, struct ethtool_gstrings *names,
			   struct ethtool_stats *values)
{
	int error;

	*names = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS,
					    .string_set = ETH_SS_STATS,
					    .len = count };
	*values = (struct ethtool_stats){ .cmd = ETHTOOL_GSTATS, .n_stats = count };
	error = ask(interface, names);
	if (error == 0)
		error = ask(interface, values);
	if (error == 0 && (names->len != count || values->n_stats != count))
		error = -EAGAIN;
	return error;
}

static int ask_statistics(const char *interface,
			  void (*tell)(void *context, const char *name, uint64_t value),
			  void *context)
{
	int count = count_statistics(interface), error = -ENOMEM;
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;

	if (count <= 0)
		return count;
	/* the device may have more by the time it is asked: what it writes then still fits */
	names = calloc(2, sizeof *names + (size_t)count * ETH_GSTRING_LEN);
	values = calloc(2, sizeof *values + (size_t)count * sizeof(uint64_t));
	if (names != NULL && values != NULL)
		error = read_statistics(interface, (uint32_t)count, names, values);
	for (int i = 0; i < count && error == 0; i++) {
		char name[ETH_GSTRING_LEN + 1] = "";

		memcpy(name, names->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		tell(context, name, values->data[i]);
	}
	free(names);
	free(values);
	return error == 0 ? count : error;
}

int ft_ethtool_statistics(const struct ft_machine *machine, const char *interface,
			  void (*tell)(void *context, const char *name, uint64_t value),
			  void *context)
{
	return ft_machine_is_here(machine) ? ask_statistics(interface, tell, context)
					   : ft_saved_statistics(machine, interface, tell, context);
}

int ft_ethtool_pause(const struct ft_machine *machine, const char *interface,
		     struct ft_ethtool_pause *pause)
{
	struct ethtool_pauseparam question = { .cmd = ETHTOOL_GPAUSEPARAM };
	int error;

	if (!ft_machine_is_here(machine))
		return ft_saved_pause(machine, interface, pause);
	error = ask(interface, &question);
	if (error == 0)
		*pause = (struct ft_ethtool_pause){ question.autoneg != 0, question.rx_pause != 0,
						    question.tx_pause != 0 };
	return error;
}

int ft_ethtool_driver(const struct ft_machine *machine, const char *interface,
		      struct ft_ethtool_driver *driver)
{
	struct ethtool_drvinfo question = { .cmd = ETHTOOL_GDRVINFO };
	int error;

	if (!ft_machine_is_here(machine))
		return ft_saved_driver(machine, interface, driver);
	error = ask(interface, &question);
	if (error != 0)
		return error;
	snprintf(driver->name, sizeof driver->name, "%.32s", question.driver);
	snprintf(driver->version, sizeof driver->version, "%.32s", question.version);
	snprintf(driver->firmware, sizeof driver->firmware, "%.32s", question.fw_version);
	snprintf(driver->bus, sizeof driver->bus, "%.32s", question.bus_info);
	return 0;
}
