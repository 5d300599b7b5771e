#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	bool discards;
} statistics[] = {
	{ "rx_packets", false },           { "rx_discards_phy", true },
	{ "rx_oversize_pkts_phy", false }, { "rx_crc_errors_phy", false },
	{ "tx_packets_phy", false },
};

enum { STATISTICS = sizeof statistics / sizeof statistics[0] };

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

void fake_sysfs_remove(struct fake_context *context)
{
	if (context->folder[0] != '\0' &&
	    nftw(context->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
		fprintf(stderr, "fake verbs: %s is left behind\n", context->folder);
	context->folder[0] = '\0';
}

/* A file, with the folders above it, that stays open. */
static int make_file(const char *device, unsigned port, const char *name, const char *text)
{
	char path[512], *slash;
	int fd;

	snprintf(path, sizeof path, "%s/ports/%u/%s", device, port, name);
	for (slash = path + strlen(device); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fake_abort("no folder for counters");
	return fd;
}

static void make_port(struct fake_context *context, unsigned port)
{
	const char *path = context->verbs.context.device->ibdev_path;
	char interface[32];

	if (!context->script.infiniband) {
		snprintf(interface, sizeof interface, "%s\n", context->script.interface);
		close(make_file(path, port, "gid_attrs/ndevs/0", interface));
	}
	context->counters[port - 1] = -1;
	if (context->script.counters == COUNTERS_NONE)
		return;
	context->counters[port - 1] = make_file(path, port, "hw_counters/out_of_buffer", "");
	close(make_file(path, port, "counters/port_rcv_errors", "3\n"));
}

void fake_sysfs_make(struct fake_context *context)
{
	struct fake_device *device = (struct fake_device *)(void *)context->verbs.context.device;

	strcpy(context->folder, "/tmp/fake-verbs-XXXXXX");
	if (mkdtemp(context->folder) == NULL || device->ports > PORTS_MAX)
		fake_abort("no folder for counters");
	snprintf(device->device.ibdev_path, sizeof device->device.ibdev_path, "%s/%s",
		 context->folder, device->device.name);
	for (unsigned port = 1; port <= device->ports; port++)
		make_port(context, port);
	context->counted = UINT64_MAX;
	fake_sysfs_update(context);
}

/* The interface's statistics call does not say whose it is: those of the last device. */
static struct {
	uint64_t discards;
	enum counters counters;
	char interface[16];
} shown;

void fake_sysfs_update(struct fake_context *context)
{
	const struct script *script = &context->script;
	char text[32];
	int size;

	shown.counters = script->counters;
	shown.discards = script->counters == COUNTERS_STUCK ? 0 : context->discards;
	snprintf(shown.interface, sizeof shown.interface, "%s", script->interface);
	if (context->counted == context->out_of_buffer && !context->removed)
		return;
	context->counted = context->out_of_buffer;
	size = snprintf(text, sizeof text, "%020llu\n",
			7 + (script->counters == COUNTERS_STUCK ? 0ULL : context->out_of_buffer));
	for (unsigned i = 0; i < PORTS_MAX; i++) {
		int fd = context->counters[i];

		/* the kernel refuses to read a counter of a device that is gone */
		if (fd > 0 && (context->removed ? ftruncate(fd, 0) != 0
						: pwrite(fd, text, (size_t)size, 0) != size))
			fake_abort("a counter cannot be written");
	}
}

void fake_sysfs_close(struct fake_context *context)
{
	fake_sysfs_remove(context);
	for (unsigned i = 0; i < PORTS_MAX; i++) {
		if (context->counters[i] > 0)
			close(context->counters[i]);
	}
}

static int answer_statistics(void *question)
{
	struct ethtool_sset_info *sets = question;
	struct ethtool_gstrings *names = question;
	struct ethtool_stats *values = question;

	switch (sets->cmd) {
	case ETHTOOL_GSSET_INFO:
		sets->data[0] = STATISTICS;
		return 0;
	case ETHTOOL_GSTRINGS:
		for (size_t i = 0; i < STATISTICS; i++)
			snprintf((char *)names->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN, "%s",
				 statistics[i].discards && shown.counters == COUNTERS_NO_DISCARDS
					 ? "rx_other"
					 : statistics[i].name);
		return 0;
	case ETHTOOL_GSTATS:
		for (size_t i = 0; i < STATISTICS; i++)
			values->data[i] = 1000 + (statistics[i].discards ? shown.discards : 0);
		return 0;
	default:
		errno = EOPNOTSUPP;
		return -1;
	}
}

/* The C library's, but for the statistics of the interface beside the fake device. */
int ioctl(int fd, unsigned long request, ...)
{
	struct ifreq *asked;
	va_list values;
	void *value;

	va_start(values, request);
	value = va_arg(values, void *);
	va_end(values);
	asked = value;
	if (request == SIOCETHTOOL && shown.interface[0] != '\0' &&
	    shown.counters != COUNTERS_NONE && strcmp(asked->ifr_name, shown.interface) == 0)
		return answer_statistics(asked->ifr_data);
	return (int)syscall(SYS_ioctl, fd, request, value);
}
