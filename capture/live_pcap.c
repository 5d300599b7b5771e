#include "live_pcap.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include <capture/clock.h>

/*
 * libpcap: the kernel fills blocks of a ring, libpcap reads them out, and their frames are copied so
 * that they stay. Nothing here can send: pcap_inject and pcap_sendpacket are not used.
 */

/* A block that was being filled when the interface went down is handed over so long after it. */
#define LAST_BLOCK_NS UINT64_C(30000000)

/* One call of receive(). */
struct fetch {
	struct ft_pcap_device *pcap;
	struct ft_frame *frames;
	int count;
	uint8_t *at, *end;
};

/* The library's ring has nanoseconds where its structure says microseconds: it was asked for them. */
static uint64_t stamp_ns(const struct pcap_pkthdr *header)
{
	return (uint64_t)header->ts.tv_sec * UINT64_C(1000000000) + (uint64_t)header->ts.tv_usec;
}

static void take_frame(u_char *context, const struct pcap_pkthdr *header, const u_char *bytes)
{
	struct fetch *fetch = (struct fetch *)(void *)context;
	uint32_t captured = header->caplen;

	fetch->frames[fetch->count++] = (struct ft_frame){
		.bytes = fetch->at,
		.captured = captured,
		.original = header->len > captured ? header->len : captured,
		.wire = header->len > captured ? header->len : captured,
		.link_type = fetch->pcap->link_type,
		.ts_ns = stamp_ns(header),
	};
	memcpy(fetch->at, bytes, captured);
	fetch->at += captured;
	if ((size_t)(fetch->end - fetch->at) < fetch->pcap->longest)
		pcap_breakloop(fetch->pcap->handle);
}

/* The library keeps a timeout for us from when the interface went down until it is up again. */
static bool is_down(struct ft_pcap_device *pcap, int fetched)
{
	if (fetched == PCAP_ERROR || pcap_get_required_select_timeout(pcap->handle) != NULL)
		return true;
	return pcap->down_since_ns != 0;
}

static int nothing(struct ft_pcap_device *pcap, int fetched)
{
	if (!is_down(pcap, fetched))
		return 0;
	if (pcap->down_since_ns == 0)
		pcap->down_since_ns = ft_clock_monotonic_ns();
	return ft_clock_monotonic_ns() - pcap->down_since_ns > LAST_BLOCK_NS ? -ENODEV : 0;
}

static int receive(void *device, struct ft_frame *frames, int room)
{
	struct ft_pcap_device *pcap = device;
	struct ft_pcap_ring *ring = &pcap->ring;
	uint8_t *slice = ring->bytes + ring->current * ring->slice;
	struct fetch fetch = { pcap, frames, 0, slice, slice + ring->slice };
	int fetched = pcap_dispatch(pcap->handle, room, take_frame, (u_char *)&fetch);

	if (fetch.count == 0)
		return nothing(pcap, fetched);
	ring->current = ring->current + 1 < ring->slices ? ring->current + 1 : 0;
	return fetch.count;
}

static void wait(void *device, int ms)
{
	struct ft_pcap_device *pcap = device;
	struct pollfd socket = { .fd = pcap_get_selectable_fd(pcap->handle), .events = POLLIN };

	if (socket.fd < 0 || pcap->down_since_ns != 0)
		ms = 1; /* nothing would wake us */
	if (poll(&socket, 1, ms) > 0 && (socket.revents & (POLLERR | POLLHUP)) != 0 &&
	    pcap->down_since_ns == 0)
		pcap->down_since_ns = ft_clock_monotonic_ns();
}

static int start(void *device, struct ft_source_complaint *complaint)
{
	(void)complaint;
	ft_pcap_count_from_now(device);
	return 0;
}

static void describe(const void *device, struct ft_device_facts *facts)
{
	const struct ft_pcap_device *pcap = device;

	*facts = (struct ft_device_facts){
		.driver = pcap->driver,
		.interface = pcap->interface,
		.counts_losses = true,
		.stamps = pcap->adapter_stamps ? FT_STAMP_ADAPTER : FT_STAMP_KERNEL,
		.note = pcap->note[0] != '\0' ? pcap->note : NULL,
	};
}

const struct ft_driver ft_driver_pcap = {
	.kind = "pcap",
	.open = ft_pcap_open,
	.start = start,
	.receive = receive,
	.wait = wait,
	.count = ft_pcap_count,
	.describe = describe,
	.close = ft_pcap_close,
	.list = ft_pcap_list,
	.check_filter = ft_pcap_filter_check,
};
