#include "live_pcap.h"

#include "complain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel hands over a block when it is full or the time is over: 256 of them last for a second at most. */
enum {
	LONGEST = 262144,        /* a frame: tcpdump's bound */
	BUFFER_BYTES = 64 << 20, /* the ring: 256 blocks */
	READ_TIMEOUT_MS = 4,
};

static const char prefix[] = "pcap:";

static int complain(const struct ft_pcap_device *pcap, struct ft_source_complaint *complaint,
		    int error, const char *what, const char *why)
{
	ft_complain(complaint->text, sizeof complaint->text, pcap->name, "%s%s%s", what,
		    why[0] != '\0' ? ": " : "", why);
	return error;
}

/* Brought up as it is, an interface sends a few frames of its own at once. */
static int complain_of_down(const struct ft_pcap_device *pcap,
			    struct ft_source_complaint *complaint)
{
	ft_complain(complaint->text, sizeof complaint->text, pcap->name,
		    "the interface is down; `ip link set %s addrgenmode none arp off multicast off "
		    "promisc on up` brings it up as a silent one",
		    pcap->interface);
	return -ENETDOWN;
}

static bool is_any(const struct ft_pcap_device *pcap)
{
	return strcmp(pcap->interface, "any") == 0;
}

bool ft_pcap_is_rdma_device(const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "/sys/class/infiniband/%s", name);
	return strchr(name, '/') == NULL && name[0] != '.' && access(path, F_OK) == 0;
}

/* The library knows other things by name too, as a message bus: only interfaces and RDMA devices are asked for. */
static int check_interface(const struct ft_pcap_device *pcap, struct ft_source_complaint *complaint)
{
	if (pcap->interface[0] == '\0')
		return complain(pcap, complaint, -EINVAL, "name an interface, as in pcap:eth0", "");
	if (is_any(pcap) || if_nametoindex(pcap->interface) != 0 ||
	    ft_pcap_is_rdma_device(pcap->interface))
		return 0;
	return complain(pcap, complaint, -ENODEV, "no such interface", "");
}

static int refuse_activation(const struct ft_pcap_device *pcap,
			     struct ft_source_complaint *complaint, int result)
{
	switch (result) {
	case PCAP_ERROR_NO_SUCH_DEVICE:
		if (ft_pcap_is_rdma_device(pcap->interface))
			return complain(pcap, complaint, -EOPNOTSUPP,
					"this libpcap cannot listen on RDMA devices; use verbs:",
					pcap->interface);
		return complain(pcap, complaint, -ENODEV, "no such interface", "");
	case PCAP_ERROR_PERM_DENIED:
	case PCAP_ERROR_PROMISC_PERM_DENIED:
		return complain(pcap, complaint, -EPERM,
				"needs CAP_NET_RAW: run as root or grant it with "
				"`setcap cap_net_raw=ep` on the program",
				"");
	case PCAP_ERROR_IFACE_NOT_UP:
		return complain_of_down(pcap, complaint);
	default:
		return complain(pcap, complaint, -EIO, pcap_statustostr(result),
				result == PCAP_ERROR ? pcap_geterr(pcap->handle) : "");
	}
}

/* Stamps of the adapter's clock are taken only where they are wall time. */
static bool ask_for_adapter_stamps(pcap_t *handle)
{
	int *types, count = pcap_list_tstamp_types(handle, &types);
	bool offered = false;

	for (int i = 0; i < count; i++)
		offered = offered || types[i] == PCAP_TSTAMP_ADAPTER;
	if (count > 0)
		pcap_free_tstamp_types(types);
	return offered && pcap_set_tstamp_type(handle, PCAP_TSTAMP_ADAPTER) == 0;
}

static int configure(struct ft_pcap_device *pcap, const struct ft_device_config *config,
		     struct ft_source_complaint *complaint)
{
	uint64_t buffer = config->buffer_bytes != 0 ? config->buffer_bytes : BUFFER_BYTES;

	if (buffer > INT_MAX)
		return complain(pcap, complaint, -EINVAL,
				"the receive buffer can be at most 2147483647 bytes", "");
	pcap_set_snaplen(pcap->handle, (int)pcap->longest);
	pcap_set_promisc(pcap->handle, 1);
	pcap_set_timeout(pcap->handle, READ_TIMEOUT_MS);
	pcap_set_buffer_size(pcap->handle, (int)buffer);
	if (pcap_set_tstamp_precision(pcap->handle, PCAP_TSTAMP_PRECISION_NANO) != 0)
		return complain(pcap, complaint, -EOPNOTSUPP, "has no nanosecond time stamps", "");
	pcap->adapter_stamps = ask_for_adapter_stamps(pcap->handle);
	return 0;
}

static int activate(struct ft_pcap_device *pcap, struct ft_source_complaint *complaint)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	int result = pcap_activate(pcap->handle);

	if (result < 0)
		return refuse_activation(pcap, complaint, result);
	if (result == PCAP_WARNING_TSTAMP_TYPE_NOTSUP)
		pcap->adapter_stamps = false;
	pcap->promiscuous = result != PCAP_WARNING_PROMISC_NOTSUP && !is_any(pcap);
	if (pcap_setnonblock(pcap->handle, 1, why) != 0)
		return complain(pcap, complaint, -EIO, why, "");
	return 0;
}

/*
 * The kernel cuts frames only by a filter, so a snapshot length makes one too. Interfaces that give
 * no Ethernet come cooked; in version 2 of that header VLAN tags that the kernel took out are lost,
 * so it stays at version 1.
 */
static int filter(struct ft_pcap_device *pcap, const struct ft_device_config *config,
		  struct ft_source_complaint *complaint)
{
	const char *expression = config->filter != NULL ? config->filter : "";
	struct bpf_program program;
	int error = 0;

	if (config->filter == NULL && config->snap == 0)
		return 0;
	if (pcap_compile(pcap->handle, &program, expression, 1, PCAP_NETMASK_UNKNOWN) != 0)
		return complain(pcap, complaint, -EINVAL, "bad filter", pcap_geterr(pcap->handle));
	if (pcap_setfilter(pcap->handle, &program) != 0)
		error = complain(pcap, complaint, -EIO, "cannot set the filter",
				 pcap_geterr(pcap->handle));
	pcap_freecode(&program);
	return error;
}

/* LINKTYPE_ numbers are DLT_ numbers but for some old ones, of which raw IP is one that RDMA may come in. */
static uint16_t link_type(int dlt)
{
	enum { LINKTYPE_RAW = 101 };

	return dlt == DLT_RAW ? LINKTYPE_RAW : (uint16_t)dlt;
}

static void note_facts(struct ft_pcap_device *pcap)
{
	const char *version = pcap_lib_version();

	pcap->link_type = link_type(pcap_datalink(pcap->handle));
	snprintf(pcap->driver, sizeof pcap->driver, "%.*s", (int)strcspn(version, " "), version);
	if (strncmp(version, "libpcap version ", 16) == 0)
		snprintf(pcap->driver, sizeof pcap->driver, "libpcap %.*s",
			 (int)strcspn(version + 16, " "), version + 16);
	if (!pcap->promiscuous)
		snprintf(pcap->note, sizeof pcap->note,
			 "not promiscuous: only what interfaces would take anyway is seen%s",
			 is_any(pcap) ? ", on bridges and VLANs more than once" : "");
}

static int open_handle(struct ft_pcap_device *pcap, const struct ft_device_config *config,
		       struct ft_source_complaint *complaint)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	int error = check_interface(pcap, complaint);

	if (error != 0)
		return error;
	pcap->handle = pcap_create(pcap->interface, why);
	if (pcap->handle == NULL)
		return complain(pcap, complaint, -EIO, "cannot be opened", why);
	pcap->longest = config->snap != 0 && config->snap < LONGEST ? config->snap : LONGEST;
	error = configure(pcap, config, complaint);
	if (error == 0)
		error = activate(pcap, complaint);
	if (error == 0)
		error = filter(pcap, config, complaint);
	if (error != 0)
		return error;
	note_facts(pcap);
	pcap->counts_fd = is_any(pcap) ? -1 : ft_interface_counts_open();
	if (ft_pcap_ring_open(&pcap->ring, config->keep, pcap->longest) != 0)
		return complain(pcap, complaint, -ENOMEM, "no memory", "");
	return 0;
}

int ft_pcap_open(void **device, const struct ft_device_config *config,
		 struct ft_source_complaint *complaint)
{
	struct ft_pcap_device *pcap = calloc(1, sizeof *pcap);
	size_t size = sizeof prefix + strlen(config->address);
	char *name = malloc(size);
	int error = -ENOMEM;

	if (pcap == NULL || name == NULL) {
		ft_complain(complaint->text, sizeof complaint->text, prefix, "no memory");
		free(name);
		free(pcap);
		return error;
	}
	snprintf(name, size, "%s%s", prefix, config->address);
	pcap->name = name;
	pcap->interface = name + strlen(prefix);
	pcap->counts_fd = -1;
	error = open_handle(pcap, config, complaint);
	if (error != 0) {
		ft_pcap_close(pcap);
		return error;
	}
	*device = pcap;
	return 0;
}

void ft_pcap_close(void *device)
{
	struct ft_pcap_device *pcap = device;

	if (pcap == NULL)
		return;
	if (pcap->handle != NULL)
		pcap_close(pcap->handle);
	if (pcap->counts_fd >= 0)
		close(pcap->counts_fd);
	ft_pcap_ring_close(&pcap->ring);
	free((char *)(uintptr_t)pcap->name);
	free(pcap);
}
