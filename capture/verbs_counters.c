#include "verbs_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STATISTICS_MAX = 1 << 16 };

enum meaning { LOST, BROKEN };
enum link { ETHERNET = 1, INFINIBAND = 2 };

/*
 * A frame is lost when no buffer is posted for it (counted with the RDMA device), or before that, when the
 * port's own memory is full or its MTU too small (counted with the Ethernet interface). An InfiniBand port
 * stops its sender instead.
 */
static const struct {
	const char *file;      /* below ports/N */
	const char *statistic; /* of the interface: `ethtool -S` */
	enum meaning meaning;
	unsigned links;
	bool needed; /* losses are not known without it */
} counters_of[FT_VERBS_COUNTERS] = {
	{ "hw_counters/out_of_buffer", NULL, LOST, ETHERNET | INFINIBAND, true },
	{ NULL, "rx_discards_phy", LOST, ETHERNET, true },
	{ NULL, "rx_oversize_pkts_phy", LOST, ETHERNET, false },
	{ NULL, "rx_crc_errors_phy", BROKEN, ETHERNET, false },
	{ "counters/port_rcv_errors", NULL, BROKEN, INFINIBAND, false },
};

static bool applies(const struct ft_verbs_counters *counters, size_t i)
{
	return (counters_of[i].links & (counters->ethernet ? ETHERNET : INFINIBAND)) != 0;
}

static int open_file(const struct ft_verbs_port *port, const char *name)
{
	char path[IBV_SYSFS_PATH_MAX + 64];

	snprintf(path, sizeof path, "%s/ports/%u/%s", port->context->device->ibdev_path,
		 port->number, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool ask_interface(const struct ft_verbs_counters *counters, void *question)
{
	struct ifreq request = { 0 };

	memcpy(request.ifr_name, counters->interface, sizeof request.ifr_name);
	request.ifr_data = question;
	return ioctl(counters->socket, SIOCETHTOOL, &request) == 0;
}

static uint32_t count_statistics(const struct ft_verbs_counters *counters)
{
	union {
		struct ethtool_sset_info question;
		uint32_t words[sizeof(struct ethtool_sset_info) / sizeof(uint32_t) + 1];
	} sets = { .question = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS } };
	uint32_t count;

	if (!ask_interface(counters, &sets) || sets.question.sset_mask == 0)
		return 0;
	count = sets.words[sizeof(struct ethtool_sset_info) / sizeof(uint32_t)];
	return count <= STATISTICS_MAX ? count : 0;
}

static void find_statistics(struct ft_verbs_counters *counters,
			    const struct ethtool_gstrings *names)
{
	for (size_t i = 0; i < FT_VERBS_COUNTERS; i++) {
		const char *wanted = counters_of[i].statistic;

		for (uint32_t at = 0; wanted != NULL && at < names->len; at++) {
			const char *name = (const char *)names->data + (size_t)at * ETH_GSTRING_LEN;

			if (strncmp(name, wanted, ETH_GSTRING_LEN) == 0)
				counters->statistic[i] = at;
		}
	}
}

/* Which statistics the interface has is asked once; their order stays. */
static void open_statistics(struct ft_verbs_counters *counters)
{
	struct ethtool_gstrings *names;

	counters->statistics = count_statistics(counters);
	if (counters->statistics == 0)
		return;
	names = calloc(1, sizeof *names + (size_t)counters->statistics * ETH_GSTRING_LEN);
	counters->values =
		calloc(1, sizeof(struct ethtool_stats) + counters->statistics * sizeof(uint64_t));
	if (names != NULL && counters->values != NULL) {
		names->cmd = ETHTOOL_GSTRINGS;
		names->string_set = ETH_SS_STATS;
		names->len = counters->statistics;
		if (ask_interface(counters, names) && names->len <= counters->statistics)
			find_statistics(counters, names);
	}
	free(names);
}

void ft_verbs_counters_open(struct ft_verbs_counters *counters, const struct ft_verbs_port *port)
{
	*counters = (struct ft_verbs_counters){
		.socket = -1,
		.ethernet = ft_verbs_is_ethernet(port),
	};
	memcpy(counters->interface, port->interface, sizeof counters->interface);
	for (size_t i = 0; i < FT_VERBS_COUNTERS; i++) {
		bool is_file = counters_of[i].file != NULL && applies(counters, i);

		counters->file[i] = is_file ? open_file(port, counters_of[i].file) : -1;
		counters->statistic[i] = UINT32_MAX;
	}
	if (!counters->ethernet || port->interface[0] == '\0')
		return;
	counters->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (counters->socket >= 0)
		open_statistics(counters);
}

void ft_verbs_counters_close(struct ft_verbs_counters *counters)
{
	for (size_t i = 0; i < FT_VERBS_COUNTERS; i++) {
		if (counters->file[i] >= 0)
			close(counters->file[i]);
	}
	if (counters->socket >= 0)
		close(counters->socket);
	free(counters->values);
}

static bool read_file(int fd, uint64_t *value)
{
	char text[32];
	ssize_t got = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
	char *end;

	if (got <= 0)
		return false;
	text[got] = '\0';
	errno = 0;
	*value = strtoull(text, &end, 10);
	return end != text && errno == 0;
}

/* All values now, as far as they can be read. */
static void read_all(struct ft_verbs_counters *counters, uint64_t *values, bool *known)
{
	struct ethtool_stats *statistics = (struct ethtool_stats *)counters->values;
	bool asked = false;

	if (statistics != NULL) {
		statistics->cmd = ETHTOOL_GSTATS;
		statistics->n_stats = counters->statistics;
		asked = ask_interface(counters, statistics) &&
			statistics->n_stats == counters->statistics;
	}
	for (size_t i = 0; i < FT_VERBS_COUNTERS; i++) {
		known[i] = asked && counters->statistic[i] != UINT32_MAX;
		if (known[i])
			values[i] = statistics->data[counters->statistic[i]];
		else
			known[i] = read_file(counters->file[i], &values[i]);
	}
}

void ft_verbs_counters_start(struct ft_verbs_counters *counters)
{
	read_all(counters, counters->first, counters->known);
}

void ft_verbs_counters_read(struct ft_verbs_counters *counters, struct ft_device_counts *counts)
{
	uint64_t values[FT_VERBS_COUNTERS], sums[] = { [LOST] = 0, [BROKEN] = 0 };
	bool known[FT_VERBS_COUNTERS], certain = true;

	read_all(counters, values, known);
	for (size_t i = 0; i < FT_VERBS_COUNTERS; i++) {
		/* a counter that went back was reset: what it had counted is gone */
		if (known[i] && counters->known[i] && values[i] >= counters->first[i])
			sums[counters_of[i].meaning] += values[i] - counters->first[i];
		else if (applies(counters, i) && (counters_of[i].needed || counters->known[i]))
			certain = false;
	}
	counts->lost = certain ? sums[LOST] : FT_LOST_UNKNOWN;
	counts->errors = sums[BROKEN];
}

const char *ft_verbs_counters_missing(const struct ft_verbs_counters *counters)
{
	for (size_t i = 0; i < FT_VERBS_COUNTERS; i++) {
		if (counters_of[i].needed && applies(counters, i) && !counters->known[i])
			return counters_of[i].file != NULL ? counters_of[i].file
							   : counters_of[i].statistic;
	}
	return NULL;
}
