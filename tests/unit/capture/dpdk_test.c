#include "dpdk.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_ring.h>

#include <cmocka.h>

/* The source over DPDK's virtual devices that need neither rights nor an interface. */

enum { LONGEST = 20000, ROOM = 64, TEST_BUFFERS = 255 };

struct scene {
	const struct ft_driver *driver;
	void *device;
	struct ft_device_facts facts;
	struct rte_mempool *pool; /* of frames that a test feeds to net_ring */
};

/* A frame that differs from others in every byte of it. */
static void fill(uint8_t *bytes, uint32_t length, uint32_t seed)
{
	for (uint32_t i = 0; i < length; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(seed >> 24);
	}
}

static void open_device(struct scene *scene, const struct ft_device_config *config)
{
	struct ft_source_complaint complaint = { "" };

	*scene = (struct scene){ .driver = &ft_driver_dpdk };
	if (scene->driver->open(&scene->device, config, &complaint) != 0 ||
	    scene->driver->start(scene->device, &complaint) != 0)
		fail_msg("%s", complaint.text);
	scene->driver->describe(scene->device, &scene->facts);
}

static void close_device(struct scene *scene)
{
	scene->driver->close(scene->device);
}

static struct rte_eth_dev_info only_port(uint16_t *port)
{
	struct rte_eth_dev_info about;
	uint16_t each, count = 0;

	for (each = 0; each < RTE_MAX_ETHPORTS; each++) {
		if (rte_eth_dev_is_valid_port(each)) {
			*port = each;
			count++;
		}
	}
	assert_int_equal(count, 1);
	assert_int_equal(rte_eth_dev_info_get(*port, &about), 0);
	return about;
}

static void a_port_has_no_transmit_queue(void **state)
{
	static const char *const addresses[] = { "net_null0", "net_ring0", "net_null0,queues=3" };
	struct ft_frame frames[ROOM];
	struct ft_device_counts counts;

	(void)state;
	for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
		struct ft_device_config config = { .address = addresses[i], .keep = 1 };
		struct rte_eth_dev_info about;
		struct scene scene;
		uint16_t port = RTE_MAX_ETHPORTS;

		open_device(&scene, &config);
		about = only_port(&port);
		assert_int_equal(about.nb_tx_queues, 0);
		assert_int_equal(scene.facts.transmit_queues, 0);
		assert_true(about.nb_rx_queues > 0);
		assert_true(scene.facts.counts_losses);
		scene.driver->receive(scene.device, frames, ROOM);
		scene.driver->count(scene.device, &counts);
		assert_int_equal(counts.lost, 0);
		close_device(&scene);
		assert_int_equal(rte_eth_dev_count_avail(), 0);
	}
}

static void frames_are_stamped_by_the_program_where_the_device_has_no_clock(void **state)
{
	struct ft_device_config config = { .address = "net_null0,size=128", .keep = 1 };
	struct ft_frame frames[ROOM];
	struct timespec before, after;
	struct scene scene;

	(void)state;
	open_device(&scene, &config);
	clock_gettime(CLOCK_REALTIME, &before);
	assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), ROOM);
	clock_gettime(CLOCK_REALTIME, &after);
	assert_int_equal(scene.facts.stamps, FT_STAMP_PROGRAM);
	assert_int_equal(scene.facts.clock_error_ns, 0);
	for (int i = 0; i < ROOM; i++) {
		assert_int_equal(frames[i].captured, 128);
		assert_int_equal(frames[i].wire, 128);
		assert_int_equal(frames[i].link_type, FT_LINK_ETHERNET);
		assert_true(frames[i].ts_ns / 1000000000 >= (uint64_t)before.tv_sec);
		assert_true(frames[i].ts_ns / 1000000000 <= (uint64_t)after.tv_sec);
	}
	close_device(&scene);
}

static void frames_are_cut_where_asked(void **state)
{
	struct ft_device_config config = { .address = "net_null0,size=512", .keep = 1, .snap = 96 };
	struct ft_frame frames[ROOM];
	struct scene scene;

	(void)state;
	open_device(&scene, &config);
	assert_int_equal(scene.driver->receive(scene.device, frames, 8), 8);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(frames[i].captured, 96);
		assert_int_equal(frames[i].original, 512);
		assert_int_equal(frames[i].wire, 512);
	}
	close_device(&scene);
}

/* net_ring hands out what another part of the process puts in. */

static void open_ring(struct scene *scene, const char *address, unsigned keep)
{
	struct ft_device_config config = { .address = address, .keep = keep };

	open_device(scene, &config);
	scene->pool =
		rte_pktmbuf_pool_create("test", TEST_BUFFERS, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM, 0);
	assert_non_null(scene->pool);
}

/* Every buffer has come back. */
static void close_ring(struct scene *scene)
{
	close_device(scene);
	assert_int_equal(rte_mempool_avail_count(scene->pool), TEST_BUFFERS);
	rte_mempool_free(scene->pool);
}

/* `pieces` of `length` bytes in all. */
static struct rte_mbuf *make(struct scene *scene, uint32_t length, unsigned pieces, uint32_t seed)
{
	struct rte_mbuf *head = NULL;
	uint8_t bytes[LONGEST];
	uint32_t done = 0;

	fill(bytes, length, seed);
	for (unsigned i = 0; i < pieces; i++) {
		uint32_t piece = i + 1 == pieces ? length - done : length / pieces;
		struct rte_mbuf *buffer = rte_pktmbuf_alloc(scene->pool);

		assert_non_null(buffer);
		memcpy(rte_pktmbuf_append(buffer, (uint16_t)piece), bytes + done, piece);
		done += piece;
		if (head == NULL)
			head = buffer;
		else
			assert_int_equal(rte_pktmbuf_chain(head, buffer), 0);
	}
	return head;
}

static void feed(const char *ring, struct rte_mbuf *buffer)
{
	struct rte_ring *found = rte_ring_lookup(ring);

	assert_non_null(found);
	assert_int_equal(rte_ring_enqueue(found, buffer), 0);
}

static void check_cut(const struct ft_frame *frame, uint32_t length, uint32_t original,
		      uint32_t seed)
{
	uint8_t bytes[LONGEST];

	fill(bytes, length, seed);
	assert_int_equal(frame->captured, length);
	assert_int_equal(frame->original, original);
	assert_int_equal(frame->wire, original);
	assert_memory_equal(frame->bytes, bytes, length);
}

static void check_bytes(const struct ft_frame *frame, uint32_t length, uint32_t seed)
{
	check_cut(frame, length, length, seed);
}

static void frames_in_pieces_are_joined(void **state)
{
	static const struct {
		uint32_t length;
		unsigned pieces;
	} shapes[] = { { 60, 1 }, { 60, 2 }, { 4200, 3 }, { 9216, 5 }, { 9217, 7 }, { 1, 1 } };
	enum { COUNT = sizeof shapes / sizeof shapes[0] };
	struct ft_frame frames[ROOM];
	struct scene scene;

	(void)state;
	open_ring(&scene, "net_ring0", 1);
	/* many times what the joined bytes have room for */
	for (unsigned round = 0; round < 5000; round++) {
		for (uint32_t i = 0; i < COUNT; i++)
			feed("ETH_RXTX0_net_ring0",
			     make(&scene, shapes[i].length, shapes[i].pieces, round + i));
		assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), COUNT);
		if (round % 100 != 0)
			continue;
		for (uint32_t i = 0; i < COUNT; i++)
			check_bytes(&frames[i], shapes[i].length, round + i);
	}
	close_ring(&scene);
}

/* What the card took out, as the bytes have to read again. */
static void check_tags(const struct ft_frame *frame, const char *tags, uint32_t tags_length,
		       uint32_t length, uint32_t seed)
{
	uint8_t bytes[LONGEST];

	fill(bytes, length, seed);
	assert_int_equal(frame->captured, length + tags_length);
	assert_int_equal(frame->wire, length + tags_length);
	assert_memory_equal(frame->bytes, bytes, 12);
	assert_memory_equal(frame->bytes + 12, tags, tags_length);
	assert_memory_equal(frame->bytes + 12 + tags_length, bytes + 12, length - 12);
}

static void tags_that_the_device_took_out_are_put_back(void **state)
{
	struct rte_mbuf *one, *two, *pieces, *lent, *original, *outer;
	uint8_t bytes[LONGEST];
	struct ft_frame frames[ROOM];
	struct scene scene;

	(void)state;
	open_ring(&scene, "net_ring0", 1);
	one = make(&scene, 100, 1, 1);
	one->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	one->vlan_tci = 0x2064;
	two = make(&scene, 100, 1, 2);
	two->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED;
	two->vlan_tci = 7;
	two->vlan_tci_outer = 0xefff;
	pieces = make(&scene, 3000, 2, 3);
	pieces->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED;
	pieces->vlan_tci = 100;
	original = make(&scene, 200, 1, 4);
	lent = rte_pktmbuf_alloc(scene.pool); /* bytes that belong to another buffer may not move */
	rte_pktmbuf_attach(lent, original);
	lent->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED;
	lent->vlan_tci = 100;
	outer = make(&scene, 100, 1, 5);
	outer->ol_flags |= RTE_MBUF_F_RX_QINQ_STRIPPED;
	outer->vlan_tci_outer = 9;
	feed("ETH_RXTX0_net_ring0", one);
	feed("ETH_RXTX0_net_ring0", two);
	feed("ETH_RXTX0_net_ring0", pieces);
	feed("ETH_RXTX0_net_ring0", lent);
	feed("ETH_RXTX0_net_ring0", outer);
	assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), 5);
	check_tags(&frames[0], "\x81\x00\x20\x64", 4, 100, 1);
	check_tags(&frames[1], "\x88\xa8\xef\xff\x81\x00\x00\x07", 8, 100, 2);
	check_tags(&frames[2], "\x81\x00\x00\x64", 4, 3000, 3);
	check_tags(&frames[3], "\x81\x00\x00\x64", 4, 200, 4);
	check_tags(&frames[4], "\x88\xa8\x00\x09", 4, 100, 5);
	fill(bytes, 200, 4);
	assert_memory_equal(rte_pktmbuf_mtod(original, const uint8_t *), bytes, 200);
	rte_pktmbuf_free(original);
	close_ring(&scene);
}

static void a_tag_does_not_fit_into_a_frame_without_addresses(void **state)
{
	struct ft_frame frames[ROOM];
	struct rte_mbuf *short_one;
	struct scene scene;

	(void)state;
	open_ring(&scene, "net_ring0", 1);
	short_one = make(&scene, 11, 1, 1);
	short_one->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED;
	feed("ETH_RXTX0_net_ring0", short_one);
	assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), 1);
	check_bytes(&frames[0], 11, 1);
	close_ring(&scene);
}

/* Write over every buffer that has come back. */
static void spoil_free_buffers(struct scene *scene)
{
	struct rte_mbuf *buffers[TEST_BUFFERS];
	unsigned count = 0;

	while ((buffers[count] = rte_pktmbuf_alloc(scene->pool)) != NULL) {
		memset(buffers[count]->buf_addr, 0xee, buffers[count]->buf_len);
		if (++count == TEST_BUFFERS)
			break;
	}
	rte_pktmbuf_free_bulk(buffers, count);
}

static void frames_stay_readable_for_as_many_calls_as_asked(void **state)
{
	enum { KEEP = 5, PER_CALL = 7, CALLS = 200, LENGTH = 90 };
	struct ft_frame frames[KEEP][ROOM];
	struct scene scene;

	(void)state;
	open_ring(&scene, "net_ring0", KEEP);
	for (uint32_t call = 0; call < CALLS; call++) {
		uint32_t oldest = call < KEEP ? 0 : call - KEEP + 1;

		for (uint32_t i = 0; i < PER_CALL; i++)
			feed("ETH_RXTX0_net_ring0",
			     make(&scene, LENGTH, 1 + i % 2, call * PER_CALL + i));
		assert_int_equal(scene.driver->receive(scene.device, frames[call % KEEP], ROOM),
				 PER_CALL);
		/* finding nothing ends no frame's life */
		assert_int_equal(scene.driver->receive(scene.device, frames[call % KEEP] + PER_CALL,
						       ROOM - PER_CALL),
				 0);
		spoil_free_buffers(&scene);
		for (uint32_t kept = oldest; kept <= call; kept++) {
			for (uint32_t i = 0; i < PER_CALL; i++)
				check_bytes(&frames[kept % KEEP][i], LENGTH, kept * PER_CALL + i);
		}
	}
	close_ring(&scene);
}

static void queues_are_taken_in_turn(void **state)
{
	struct ft_frame frames[ROOM];
	struct scene scene;

	(void)state;
	open_ring(&scene, "net_ring0,queues=2", 1);
	feed("ETH_RXTX0_net_ring0", make(&scene, 60, 1, 1));
	feed("ETH_RXTX0_net_ring0", make(&scene, 60, 1, 2));
	feed("ETH_RXTX1_net_ring0", make(&scene, 60, 1, 3));
	assert_int_equal(scene.driver->receive(scene.device, frames, 1), 1);
	check_bytes(&frames[0], 60, 1);
	assert_int_equal(scene.driver->receive(scene.device, frames, 1), 1);
	check_bytes(&frames[0], 60, 3);
	assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), 1);
	check_bytes(&frames[0], 60, 2);
	assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), 0);
	close_ring(&scene);
}

/* net_pcap replays a capture file, here one of frames that the test makes up. */

enum { FILE_FRAMES = 700, FILE_SECOND = 1700000000 };

static uint32_t file_length(uint32_t i)
{
	static const uint32_t lengths[] = { 60, 128, 1514, 4200, 9216, 64, LONGEST };

	return lengths[i % (sizeof lengths / sizeof lengths[0])];
}

/* Some frames were cut. */
static uint32_t file_original(uint32_t i)
{
	return file_length(i) + (i % 3 == 0 ? 4000 + i : 0);
}

static void put32(FILE *file, uint32_t value, bool big)
{
	for (unsigned i = 0; i < 4; i++)
		fputc((int)(value >> 8 * (big ? 3 - i : i) & 0xff), file);
}

static void write_file(const char *path, uint32_t magic, bool big, uint32_t link, uint32_t count)
{
	FILE *file = fopen(path, "wb");
	uint8_t bytes[LONGEST];

	assert_non_null(file);
	put32(file, magic, big);
	put32(file, big ? 2 << 16 | 4 : 4 << 16 | 2, big);
	for (unsigned i = 0; i < 2; i++)
		put32(file, 0, big);
	put32(file, 262144, big);
	put32(file, link, big);
	for (uint32_t i = 0; i < count; i++) {
		put32(file, FILE_SECOND + i, big);
		put32(file, i * 1001 % 1000000, big);
		put32(file, file_length(i), big);
		put32(file, file_original(i), big);
		fill(bytes, file_length(i), i);
		assert_int_equal(fwrite(bytes, 1, file_length(i), file), file_length(i));
	}
	assert_int_equal(fclose(file), 0);
}

static void name_file(char path[static 64])
{
	int file;

	strcpy(path, "/tmp/fabtap_dpdk_XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
}

static void replay(const char *path, unsigned keep, int room)
{
	struct ft_frame frames[256];
	struct ft_device_counts counts;
	struct scene scene;
	char address[128];
	struct ft_device_config config = { .address = address, .keep = keep };
	uint32_t seen = 0;
	int count;

	snprintf(address, sizeof address, "net_pcap0,rx_pcap=%s", path);
	open_device(&scene, &config);
	assert_int_equal(scene.facts.stamps, FT_STAMP_FILE);
	assert_int_equal(scene.facts.transmit_queues, 0);
	while ((count = scene.driver->receive(scene.device, frames, room)) >= 0) {
		for (int i = 0; i < count; i++, seen++) {
			check_cut(&frames[i], file_length(seen), file_original(seen), seen);
			assert_int_equal(frames[i].ts_ns,
					 (FILE_SECOND + seen) * UINT64_C(1000000000) +
						 seen * 1001 % 1000000 * 1000);
		}
	}
	assert_int_equal(count, -ENODATA);
	assert_int_equal(seen, FILE_FRAMES);
	assert_int_equal(scene.driver->receive(scene.device, frames, room), -ENODATA);
	scene.driver->count(scene.device, &counts);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(counts.errors, 0);
	close_device(&scene);
}

static void a_file_is_replayed_as_it_is_and_ends(void **state)
{
	char path[64];

	(void)state;
	name_file(path);
	for (unsigned big = 0; big < 2; big++) {
		write_file(path, 0xa1b2c3d4, big, 1, FILE_FRAMES);
		replay(path, 1, 32);
		replay(path, 33, 256);
		replay(path, 2, 1);
	}
	unlink(path);
}

static void a_file_without_frames_ends_at_once(void **state)
{
	struct ft_frame frames[ROOM];
	struct scene scene;
	char path[64], address[128];
	struct ft_device_config config = { .address = address, .keep = 1 };

	(void)state;
	name_file(path);
	write_file(path, 0xa1b2c3d4, false, 1, 0);
	snprintf(address, sizeof address, "net_pcap0,rx_pcap=%s", path);
	open_device(&scene, &config);
	assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), -ENODATA);
	close_device(&scene);
	unlink(path);
}

static void a_file_is_replayed_again_and_again(void **state)
{
	struct ft_frame frames[ROOM];
	struct scene scene;
	char path[64], address[128];
	struct ft_device_config config = { .address = address, .keep = 4 };
	uint32_t seen = 0;

	(void)state;
	name_file(path);
	write_file(path, 0xa1b2c3d4, false, 1, FILE_FRAMES);
	snprintf(address, sizeof address, "net_pcap0,rx_pcap=%s,infinite_rx=1", path);
	open_device(&scene, &config);
	assert_int_equal(scene.facts.stamps, FT_STAMP_PROGRAM);
	while (seen < 3 * FILE_FRAMES) {
		int count = scene.driver->receive(scene.device, frames, ROOM);

		assert_int_equal(count, ROOM);
		for (int i = 0; i < count; i++, seen++)
			check_cut(&frames[i], file_length(seen % FILE_FRAMES),
				  file_original(seen % FILE_FRAMES), seen % FILE_FRAMES);
	}
	close_device(&scene);
	unlink(path);
}

/*
 * Frames that find no buffer are lost and counted; the file goes on when there are buffers again. Which frames were lost
 * is not known, so the lengths of those that come are not, either.
 */
static void a_shortage_of_buffers_is_no_end(void **state)
{
	static struct rte_mbuf *taken[1 << 16];
	struct ft_frame frames[ROOM];
	struct ft_device_counts counts;
	struct scene scene;
	char path[64], address[128];
	struct ft_device_config config = { .address = address, .keep = 1 };
	unsigned count = 0, seen = 0;
	struct ft_dpdk *dpdk;
	int got;

	(void)state;
	name_file(path);
	write_file(path, 0xa1b2c3d4, false, 1, FILE_FRAMES);
	snprintf(address, sizeof address, "net_pcap0,rx_pcap=%s", path);
	open_device(&scene, &config);
	dpdk = scene.device;
	while (count < sizeof taken / sizeof taken[0] &&
	       (taken[count] = rte_pktmbuf_alloc(dpdk->pool)) != NULL)
		count++;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), 0);
	scene.driver->count(scene.device, &counts);
	assert_int_equal(counts.lost, 3);
	rte_pktmbuf_free_bulk(taken, count);
	while ((got = scene.driver->receive(scene.device, frames, ROOM)) > 0) {
		check_bytes(&frames[0], file_length(3 + seen), 3 + seen);
		seen += (unsigned)got;
	}
	assert_int_equal(got, -ENODATA);
	assert_int_equal(seen, FILE_FRAMES - 3);
	close_device(&scene);
	unlink(path);
}

/* An adapter's stamps, as a frame would bring them: net_ring has none of its own. */

static int adapter_clock(void *adapter, struct ft_dpdk_moment *moment)
{
	struct timespec now;

	(void)adapter;
	clock_gettime(CLOCK_REALTIME, &now);
	moment->ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	moment->ticks = (moment->ns - UINT64_C(1700000000000000000)) / 8; /* 125 MHz since then */
	moment->error_ns = 40;
	return 0;
}

static void adapters_stamp_with_ticks_or_nanoseconds(void **state)
{
	static const struct {
		const char *says;
		bool ticks, nonsense;
		enum ft_dpdk_stamps stamps;
	} cases[] = {
		{ "ticks of the adapter's clock", true, false, FT_DPDK_STAMPS_TICKS },
		{ "nanoseconds of an adapter that keeps the time", false, false,
		  FT_DPDK_STAMPS_NANOSECONDS },
		{ "something else is not believed", true, true, FT_DPDK_STAMPS_PROGRAM },
	};
	struct ft_frame frames[ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_dpdk_moment now;
		struct rte_mbuf *buffer;
		struct ft_dpdk *dpdk;
		struct scene scene;
		uint64_t off;

		print_message("%s\n", cases[i].says);
		open_ring(&scene, "net_ring0", 1);
		dpdk = scene.device;
		assert_int_equal(
			rte_mbuf_dyn_rx_timestamp_register(&dpdk->stamp_offset, &dpdk->stamp_flag),
			0);
		assert_int_equal(ft_dpdk_clock_set(&dpdk->clock, adapter_clock, NULL), 0);
		dpdk->stamps = FT_DPDK_STAMPS_UNSURE;

		feed("ETH_RXTX0_net_ring0", make(&scene, 60, 1, 1)); /* one without a stamp */
		assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), 1);
		buffer = make(&scene, 60, 1, 2);
		adapter_clock(NULL, &now);
		*RTE_MBUF_DYNFIELD(buffer, (unsigned)dpdk->stamp_offset, rte_mbuf_timestamp_t *) =
			cases[i].nonsense ? 12345
			: cases[i].ticks  ? now.ticks
					  : now.ns;
		buffer->ol_flags |= dpdk->stamp_flag;
		feed("ETH_RXTX0_net_ring0", buffer);
		feed("ETH_RXTX0_net_ring0", make(&scene, 60, 1, 3));
		assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), 2);
		assert_int_equal(dpdk->stamps, cases[i].stamps);
		off = frames[0].ts_ns > now.ns ? frames[0].ts_ns - now.ns
					       : now.ns - frames[0].ts_ns;
		assert_true(off < (cases[i].nonsense ? 1000000000 : 10000));
		assert_int_equal(frames[1].ts_ns == FT_TS_UNKNOWN, !cases[i].nonsense);
		scene.driver->describe(scene.device, &scene.facts);
		assert_int_equal(scene.facts.stamps,
				 cases[i].nonsense ? FT_STAMP_PROGRAM : FT_STAMP_ADAPTER);
		close_ring(&scene);
	}
}

static void *receive_elsewhere(void *opaque)
{
	struct scene *scene = opaque;
	struct ft_frame frames[ROOM];

	for (unsigned i = 0; i < 100; i++) {
		if (scene->driver->receive(scene->device, frames, ROOM) != ROOM)
			return NULL;
	}
	return scene;
}

/* More threads than DPDK has numbers for threads. */
static void any_thread_may_read(void **state)
{
	(void)state;
	for (unsigned keep = 1; keep <= 4; keep += 3) {
		struct ft_device_config config = { .address = "net_null0", .keep = keep };
		struct ft_frame frames[ROOM];
		struct scene scene;

		open_device(&scene, &config);
		for (unsigned i = 0; i < RTE_MAX_LCORE + 8; i++) {
			pthread_t thread;
			void *received;

			assert_int_equal(pthread_create(&thread, NULL, receive_elsewhere, &scene),
					 0);
			assert_int_equal(pthread_join(thread, &received), 0);
			assert_ptr_equal(received, &scene);
			assert_int_equal(scene.driver->receive(scene.device, frames, ROOM), ROOM);
		}
		close_device(&scene);
	}
}

static void two_devices_share_the_process(void **state)
{
	struct ft_device_config config = { .address = "net_null0,size=80", .keep = 1 };
	struct ft_device_config other = { .address = "net_null1,size=90", .keep = 2 };
	struct ft_source_complaint complaint;
	struct ft_frame frames[ROOM];
	struct scene first, second;
	void *again;

	(void)state;
	open_device(&first, &config);
	open_device(&second, &other);
	assert_int_equal(ft_driver_dpdk.open(&again, &config, &complaint), -EBUSY);
	assert_int_equal(first.driver->receive(first.device, frames, ROOM), ROOM);
	assert_int_equal(frames[0].wire, 80);
	close_device(&first);
	assert_int_equal(second.driver->receive(second.device, frames, ROOM), ROOM);
	assert_int_equal(frames[0].wire, 90);
	close_device(&second);
	assert_int_equal(rte_eth_dev_count_avail(), 0);
}

static void what_cannot_be_opened_is_said_in_a_line(void **state)
{
	static const struct {
		const char *address, *filter;
		int error;
		const char *complaint;
	} cases[] = {
		{ "ffff:ff:1f.7", NULL, -ENODEV, "no such PCI device" },
		{ "net_af_packet0,iface=fabtap_none", NULL, -ENODEV, "no interface fabtap_none" },
		{ "net_pcap0,rx_iface=fabtap_none", NULL, -ENODEV, "no interface fabtap_none" },
		{ "net_af_xdp0,iface=lo", NULL, -EPERM, "--allow-tx-queue" },
		{ "net_pcap0,rx_pcap=/nonexistent/file", NULL, -ENOENT, "/nonexistent/file" },
		{ "net_null0,queues=64,size=x", "udp", -EINVAL, "filter" },
		{ "net_ring0,queues=40", NULL, -EINVAL, "receive queues" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_device_config config = { .address = cases[i].address,
						   .filter = cases[i].filter,
						   .keep = 1 };
		struct ft_source_complaint complaint = { "" };
		void *device = &complaint;

		print_message("%s\n", cases[i].address);
		assert_int_equal(ft_driver_dpdk.open(&device, &config, &complaint), cases[i].error);
		assert_ptr_equal(device, &complaint);
		assert_non_null(strstr(complaint.text, cases[i].complaint));
		assert_null(strchr(complaint.text, '\n'));
		assert_int_equal(rte_eth_dev_count_avail(), 0);
	}
}

static void a_file_of_another_link_is_not_taken_for_ethernet(void **state)
{
	struct ft_source_complaint complaint;
	char path[64], address[128];
	struct ft_device_config config = { .address = address, .keep = 1 };
	void *device;

	(void)state;
	name_file(path);
	write_file(path, 0xa1b2c3d4, false, FT_LINK_INFINIBAND, 3);
	snprintf(address, sizeof address, "net_pcap0,rx_pcap=%s", path);
	assert_int_equal(ft_driver_dpdk.open(&device, &config, &complaint), -EOPNOTSUPP);
	assert_non_null(strstr(complaint.text, "247"));
	unlink(path);
}

static int tell_some(void *context, const struct ft_device_listing *listing)
{
	unsigned *told = context;

	assert_ptr_equal(strstr(listing->address, "dpdk:"), listing->address);
	assert_true(strlen(listing->about) > 0);
	return ++*told == 1 ? 0 : -ECANCELED;
}

static void a_list_ends_where_the_caller_wants(void **state)
{
	unsigned told = 0;
	int error;

	(void)state;
	error = ft_driver_dpdk.list(tell_some, &told);
	assert_true(told >= 1);
	assert_int_equal(error, told == 1 ? 0 : -ECANCELED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_ends_where_the_caller_wants),
		cmocka_unit_test(a_port_has_no_transmit_queue),
		cmocka_unit_test(frames_are_stamped_by_the_program_where_the_device_has_no_clock),
		cmocka_unit_test(frames_are_cut_where_asked),
		cmocka_unit_test(frames_in_pieces_are_joined),
		cmocka_unit_test(tags_that_the_device_took_out_are_put_back),
		cmocka_unit_test(a_tag_does_not_fit_into_a_frame_without_addresses),
		cmocka_unit_test(frames_stay_readable_for_as_many_calls_as_asked),
		cmocka_unit_test(queues_are_taken_in_turn),
		cmocka_unit_test(a_file_is_replayed_as_it_is_and_ends),
		cmocka_unit_test(a_file_without_frames_ends_at_once),
		cmocka_unit_test(a_file_is_replayed_again_and_again),
		cmocka_unit_test(a_shortage_of_buffers_is_no_end),
		cmocka_unit_test(adapters_stamp_with_ticks_or_nanoseconds),
		cmocka_unit_test(any_thread_may_read),
		cmocka_unit_test(two_devices_share_the_process),
		cmocka_unit_test(what_cannot_be_opened_is_said_in_a_line),
		cmocka_unit_test(a_file_of_another_link_is_not_taken_for_ethernet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
