#include "live_pcap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* /proc/net/dev is of the namespace that it was opened in, unlike /sys/class/net; two header lines, then one each. */

int ft_interface_counts_open(void)
{
	int fd = open("/proc/net/dev", O_RDONLY | O_CLOEXEC);

	return fd >= 0 ? fd : -errno;
}

/* "  tap0: bytes packets errs drop fifo ...": the part after the name. */
static const char *find_line(const char *text, const char *interface)
{
	size_t size = strlen(interface);

	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += strspn(line, "\n ");
		if (strncmp(line, interface, size) == 0 && line[size] == ':')
			return line + size + 1;
		if (*line == '\0')
			break;
	}
	return NULL;
}

bool ft_interface_counts_read(int fd, const char *interface, struct ft_interface_counts *counts)
{
	struct ft_interface_counts read;
	char text[64 << 10];
	size_t size = 0;
	ssize_t got = 1;
	const char *line;

	while (got > 0 && size < sizeof text - 1) {
		got = pread(fd, text + size, sizeof text - 1 - size, (off_t)size);
		size += got > 0 ? (size_t)got : 0;
	}
	text[size] = '\0';
	line = find_line(text, interface);
	if (line == NULL || sscanf(line, "%*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64, &read.errors,
				   &read.dropped, &read.overrun) != 3)
		return false;
	*counts = read;
	return true;
}

/* What the socket dropped since the last time this was asked: reading sets the kernel's counter to 0. */
static bool socket_dropped(const struct ft_pcap_device *pcap, uint32_t *dropped)
{
	struct tpacket_stats_v3 statistics;
	socklen_t size = sizeof statistics;

	if (getsockopt(pcap_get_selectable_fd(pcap->handle), SOL_PACKET, PACKET_STATISTICS,
		       &statistics, &size) != 0)
		return false;
	*dropped = statistics.tp_drops;
	return true;
}

/*
 * pcap_stats() would add up the same in 32 bits, and open a file of /sys for what the interface
 * dropped. It is only asked where there is no packet socket.
 */
static void count_socket(struct ft_pcap_device *pcap)
{
	struct pcap_stat statistics;
	uint32_t dropped;

	if (socket_dropped(pcap, &dropped)) {
		pcap->dropped += dropped;
	} else if (pcap_stats(pcap->handle, &statistics) == 0) {
		pcap->dropped += statistics.ps_drop - pcap->library_dropped;
		pcap->library_dropped = statistics.ps_drop;
	}
}

void ft_pcap_count_from_now(struct ft_pcap_device *pcap)
{
	count_socket(pcap);
	pcap->dropped = 0;
	if (pcap->counts_fd >= 0)
		ft_interface_counts_read(pcap->counts_fd, pcap->interface, &pcap->before);
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void ft_pcap_count(void *device, struct ft_device_counts *counts)
{
	struct ft_pcap_device *pcap = device;
	struct ft_interface_counts now = pcap->before;
	uint64_t dropped, overrun;

	count_socket(pcap);
	if (pcap->counts_fd >= 0)
		ft_interface_counts_read(pcap->counts_fd, pcap->interface, &now);
	dropped = since(now.dropped, pcap->before.dropped);
	overrun = since(now.overrun, pcap->before.overrun);
	counts->lost = pcap->dropped + (dropped > overrun ? dropped : overrun);
	counts->errors = since(now.errors, pcap->before.errors);
}
