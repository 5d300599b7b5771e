#include "device.h"
#include "fake_verbs.h"
#include "reading.h"
#include "verbs_clock.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { FRAMES = 500, ROOM = 64, CALLS_MAX = 100000 };

/* A capture of noise, so that a byte of another frame in its place shows; and where its frames lie. */
struct noise {
	char *path;
	struct building file;
	size_t at[FRAMES];
	uint32_t size[FRAMES];
};

static struct noise noise;

static int make_noise(void **state)
{
	uint32_t random = 1;

	(void)state;
	put_pcap_header(&noise.file, 0xa1b2c3d4, 4, 1);
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t size = 14 + (random >> 8) % 1500;

		put_pcap_record(&noise.file, i, 0, size, size, 0);
		noise.size[i] = size;
		noise.at[i] = noise.file.size - size;
		for (size_t at = noise.at[i]; at < noise.file.size; at++) {
			random = random * 1664525 + 1013904223;
			noise.file.bytes[at] = (uint8_t)(random >> 24);
		}
	}
	noise.path = make_file("noise.pcap", noise.file.bytes, noise.file.size);
	return 0;
}

static int remove_noise(void **state)
{
	(void)state;
	remove_file(noise.path);
	build_free(&noise.file);
	return 0;
}

/* How the fake behaves in this test; see fake_verbs.h. Frames are those of `noise`. */
static __attribute__((format(printf, 1, 2))) void behave(const char *format, ...)
{
	char words[1024], said[512];
	va_list values;

	va_start(values, format);
	vsnprintf(said, sizeof said, format, values);
	va_end(values);
	snprintf(words, sizeof words, "frames=%s %s", noise.path, said);
	setenv("FT_FAKE_VERBS", words, 1);
	fake_verbs_forget();
}

static void *listen_with(const struct ft_device_config *config)
{
	struct ft_source_complaint complaint = { "" };
	void *device = NULL;

	if (ft_driver_verbs.open(&device, config, &complaint) != 0 ||
	    ft_driver_verbs.start(device, &complaint) != 0)
		fail_msg("%s", complaint.text);
	return device;
}

static void *listen_plainly(void)
{
	return listen_with(&(struct ft_device_config){ .address = "mlx5_0/1", .keep = 1 });
}

static void hang_up(void *device)
{
	ft_driver_verbs.close(device);
	assert_int_equal(fake_verbs_account.alive, 0);
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void check_frame(const struct ft_frame *frame, size_t index, uint32_t snap)
{
	uint32_t size = noise.size[index % FRAMES];
	uint32_t kept = snap != 0 && snap < size ? snap : size;

	assert_int_equal(frame->original, size);
	assert_int_equal(frame->wire, size);
	assert_int_equal(frame->captured, kept);
	if (memcmp(frame->bytes, noise.file.bytes + noise.at[index % FRAMES], kept) != 0)
		fail_msg("frame %zu has other bytes than were sent", index + 1);
}

/* Everything that comes, until nothing comes any more. */
struct hearing {
	size_t frames;
	int end; /* 0, or -ENODEV */
	struct ft_device_counts counts;
	char note[512];
};

static void conclude(void *device, struct hearing *heard)
{
	struct ft_device_facts facts;

	ft_driver_verbs.count(device, &heard->counts);
	ft_driver_verbs.describe(device, &facts);
	snprintf(heard->note, sizeof heard->note, "%s", facts.note != NULL ? facts.note : "");
}

static struct hearing hear(void *device)
{
	struct hearing heard = { 0 };
	struct ft_frame frames[ROOM];
	int idle = 0;

	while (idle < 1000) {
		int count = ft_driver_verbs.receive(device, frames, ROOM);

		if (count < 0) {
			heard.end = count;
			break;
		}
		idle = count == 0 ? idle + 1 : 0;
		heard.frames += (size_t)count;
	}
	conclude(device, &heard);
	return heard;
}

static const struct {
	const char *sentence, *words;
	uint32_t snap;
	uint64_t buffer_bytes;
	uint16_t link_type;
} deliveries[] = {
	{ "time stamps", "", 0, 0, FT_LINK_ETHERNET },
	{ "no time stamps", "stamps=0", 0, 0, FT_LINK_ETHERNET },
	{ "InfiniBand", "link=infiniband", 0, 0, FT_LINK_INFINIBAND },
	{ "frames are cut", "", 100, 0, FT_LINK_ETHERNET },
	{ "cut to one byte", "stamps=0", 1, 0, FT_LINK_ETHERNET },
	{ "buffers go round many times", "repeat=20 burst=8", 0, 64 * 10240, FT_LINK_ETHERNET },
	{ "one frame at a time", "burst=1", 0, 0, FT_LINK_ETHERNET },
	{ "a device that cannot scatter", "max_sge=1", 100, 0, FT_LINK_ETHERNET },
	{ "a device with few requests", "max_wr=100 repeat=3 burst=8", 0, 0, FT_LINK_ETHERNET },
	{ "a device with few completions", "max_cqe=200 repeat=3 burst=8", 0, 0, FT_LINK_ETHERNET },
};

static void delivers_the_frames_that_were_sent(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof deliveries / sizeof deliveries[0]; i++) {
		struct ft_device_config config = {
			.address = "mlx5_0",
			.snap = deliveries[i].snap,
			.buffer_bytes = deliveries[i].buffer_bytes,
			.keep = 1,
		};
		struct ft_device_counts counts;
		struct ft_frame frames[ROOM];
		size_t heard = 0;
		void *device;

		behave("%s", deliveries[i].words);
		device = listen_with(&config);
		for (int call = 0; call < CALLS_MAX; call++) {
			int count = ft_driver_verbs.receive(device, frames, ROOM);

			for (int f = 0; f < count; f++) {
				check_frame(&frames[f], heard++, config.snap);
				assert_int_equal(frames[f].link_type, deliveries[i].link_type);
				assert_int_equal(frames[f].fcs_bytes, 0);
			}
			if (count == 0 && heard == fake_verbs_account.frames)
				break;
		}
		ft_driver_verbs.count(device, &counts);
		if (heard % FRAMES != 0 || heard == 0 || counts.lost != 0 || counts.errors != 0)
			fail_msg("%s: %zu frames", deliveries[i].sentence, heard);
		hang_up(device);
	}
}

/* A buffer is spoiled as soon as the device has it again. */
static void check_keeping(unsigned keep, uint64_t buffer_bytes, int room)
{
	enum { CALLS = 3000, KEEP_MAX = 64 };
	uint64_t buffers = buffer_bytes / 10240;
	static struct ft_frame frames[KEEP_MAX][ROOM];
	int counts[KEEP_MAX] = { 0 };
	size_t first[KEEP_MAX] = { 0 }, heard = 0;
	uint64_t lent;
	struct ft_device_config config = {
		.address = "mlx5_0/1",
		.keep = keep,
		.buffer_bytes = buffer_bytes,
	};
	void *device = listen_with(&config);

	for (unsigned call = 0; call < CALLS; call++) {
		unsigned at = call % keep;

		first[at] = heard;
		counts[at] = ft_driver_verbs.receive(device, frames[at], room);
		assert_true(counts[at] >= 0);
		heard += (size_t)counts[at];
		lent = 0;
		for (unsigned kept = 0; kept < keep; kept++) {
			for (int f = 0; f < counts[kept]; f++)
				check_frame(&frames[kept][f], first[kept] + (size_t)f, 0);
			lent += (uint64_t)counts[kept];
		}
		assert_true(lent <= buffers / 2); /* the others are for what comes */
	}
	assert_true(heard > 1000);
	assert_true(fake_verbs_account.posted > 1000);
	hang_up(device);
}

static void keeps_frames_readable_for_as_many_calls_as_asked(void **state)
{
	(void)state;
	behave("repeat=1000 burst=8");
	check_keeping(1, 128 * 10240, ROOM);
	check_keeping(2, 128 * 10240, 3);
	check_keeping(16, 128 * 10240, ROOM);
	check_keeping(64, 256 * 10240, ROOM);
}

static void gives_buffers_back_in_batches(void **state)
{
	struct hearing heard;
	void *device;

	(void)state;
	behave("repeat=200");
	device = listen_plainly();
	heard = hear(device);
	assert_int_equal(heard.frames, 200 * FRAMES);
	assert_true(fake_verbs_account.posted >= 200 * FRAMES);
	assert_true(fake_verbs_account.posts <= 200 * FRAMES / 32);
	hang_up(device);
}

static const struct {
	const char *sentence, *words, *address;
	int error;
	const char *says;
} refusals[] = {
	{ "no RDMA in the kernel", "list=ENOSYS", "mlx5_0/1", -ENODEV,
	  "verbs:mlx5_0/1: no RDMA devices: the kernel has no RDMA support" },
	{ "the list is refused", "list=EPERM", "mlx5_0/1", -EPERM, "Operation not permitted" },
	{ "no devices", "devices=none:0", "mlx5_0/1", -ENODEV, "there are no RDMA devices" },
	{ "another device", "devices=mlx5_0:1,mlx5_1:2", "mlx4_0/1", -ENODEV,
	  "there are: mlx5_0, mlx5_1" },
	{ "a port too many", "", "mlx5_0/2", -ENODEV, "no such port; the device has 1" },
	{ "port 0", "", "mlx5_0/0", -ENODEV, "no such port" },
	{ "a port that is no number", "", "mlx5_0/one", -EINVAL, "the port is a number" },
	{ "a number with a tail", "", "mlx5_0/1x", -EINVAL, "the port is a number" },
	{ "a negative port", "", "mlx5_0/-1", -EINVAL, "the port is a number" },
	{ "an empty port", "", "mlx5_0/", -EINVAL, "the port is a number" },
	{ "two ports, none named", "devices=mlx5_0:2", "mlx5_0", -EINVAL, "append /1 to /2" },
	{ "no device named", "", "/1", -EINVAL, "name a device and its port" },
	{ "nothing named", "", "", -EINVAL, "name a device and its port" },
	{ "a name longer than any", "",
	  "mlx5_0000000000000000000000000000000000000000000000000000000000000000000000000000000",
	  -EINVAL, "name a device" },
	{ "device file not accessible", "open=EACCES", "mlx5_0/1", -EACCES,
	  "cannot open /dev/infiniband/uverbs0: Permission denied" },
	{ "no right to raw packets", "qp=EPERM", "mlx5_0/1", -EPERM, "needs CAP_NET_RAW" },
	{ "no raw packets", "qp=EOPNOTSUPP", "mlx5_0/1", -EOPNOTSUPP,
	  "use pcap:fake0 or dpdk: on the mirror port" },
	{ "no raw packets on InfiniBand", "qp=EINVAL link=infiniband", "mlx5_0/1", -EOPNOTSUPP,
	  "record with ibdump" },
	{ "no memory for a queue pair", "qp=ENOMEM", "mlx5_0/1", -ENOMEM, "no memory" },
	{ "no sniffer flow", "flow=EOPNOTSUPP", "mlx5_0/1", -EOPNOTSUPP,
	  "sniffer flow refused (Operation not supported): use pcap:fake0" },
	{ "sniffer flow refused as invalid", "flow=EINVAL", "mlx5_0/1", -EOPNOTSUPP,
	  "sniffer flow refused" },
	{ "no right to a sniffer flow", "flow=EPERM", "mlx5_0/1", -EPERM, "needs CAP_NET_RAW" },
	{ "another sniffer", "flow=EBUSY", "mlx5_0/1", -EBUSY, "another program" },
	{ "locked memory", "register=ENOMEM", "mlx5_0/1", -ENOMEM, "ulimit -l" },
};

static void says_in_one_line_why_it_cannot(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		struct ft_device_config config = { .address = refusals[i].address, .keep = 1 };
		struct ft_source_complaint complaint = { "" };
		void *device = NULL;
		int error;

		behave("%s", refusals[i].words);
		error = ft_driver_verbs.open(&device, &config, &complaint);
		if (error == 0)
			error = ft_driver_verbs.start(device, &complaint);
		else
			assert_null(device);
		if (error != refusals[i].error)
			fail_msg("%s: %d, %s", refusals[i].sentence, error, complaint.text);
		assert_says(complaint.text, "verbs:");
		assert_says(complaint.text, refusals[i].says);
		assert_null(strchr(complaint.text, '\n'));
		hang_up(device);
	}
}

static void refuses_what_it_has_no_means_for(void **state)
{
	struct ft_device_config filter = { .address = "mlx5_0/1", .keep = 1, .filter = "udp" };
	struct ft_device_config small = { .address = "mlx5_0/1", .keep = 1, .buffer_bytes = 4096 };
	struct ft_device_config keeping = {
		.address = "mlx5_0/1",
		.keep = 1024,
		.buffer_bytes = 1024 * 10240,
	};
	struct ft_source_complaint complaint;
	void *device = NULL;

	(void)state;
	behave("%s", "");
	assert_int_equal(ft_driver_verbs.open(&device, &filter, &complaint), -EOPNOTSUPP);
	assert_says(complaint.text, "verbs:mlx5_0/1: has no kernel filter");
	assert_int_equal(ft_driver_verbs.open(&device, &small, &complaint), -EINVAL);
	assert_says(complaint.text, "--buffer is too small");
	assert_int_equal(ft_driver_verbs.open(&device, &keeping, &complaint), -EINVAL);
	assert_says(complaint.text, "--buffer is too small");
	assert_null(device);
}

#define UNKNOWN FT_LOST_UNKNOWN

static const struct {
	const char *sentence, *words;
	size_t frames;
	int end;
	uint64_t lost, errors;
	const char *note; /* "": none */
} faults[] = {
	{ "nothing happens", "", FRAMES, 0, 0, 0, "" },
	{ "a completion shorter than an Ethernet header", "at=7:short", FRAMES, 0, 0, 0, "" },
	{ "a completion without bytes", "at=7:empty", FRAMES, 0, 0, 0, "" },
	{ "a protection error stops the queue pair", "at=7:prot", FRAMES - 1, 0, UNKNOWN, 1,
	  "started again 1 times" },
	{ "errors again and again, without time stamps",
	  "stamps=0 at=7:prot at=90:general at=91:prot", FRAMES - 3, 0, UNKNOWN, 3,
	  "started again 3 times" },
	{ "the queue pair fails", "at=7:qp-fatal", FRAMES, 0, UNKNOWN, 0, "started again" },
	{ "the device fails", "at=7:fatal", 7, -ENODEV, UNKNOWN, 0, "failed or was removed" },
	{ "the device vanishes", "at=7:vanish", 7, -ENODEV, UNKNOWN, 0, "was removed" },
	{ "the completion queue overruns", "at=7:cq-overrun", 7, -ENODEV, UNKNOWN, 0, "overran" },
	{ "the port goes down", "at=7:port-down", FRAMES, 0, 0, 0, "the port is down" },
	{ "the port goes down and up", "at=7:port-down at=9:port-up", FRAMES, 0, 0, 0, "" },
	{ "the port is down from the start", "down=1", FRAMES, 0, 0, 0, "the port is down" },
	{ "the GID table changes", "at=7:gid-change", FRAMES, 0, 0, 0, "GIDs" },
	{ "discards cannot be read", "counters=no-discards", FRAMES, 0, UNKNOWN, 0,
	  "no counter rx_discards_phy" },
	{ "no counters", "counters=none", FRAMES, 0, UNKNOWN, 0,
	  "no counter hw_counters/out_of_buffer" },
	{ "InfiniBand has no discards", "counters=no-discards link=infiniband", FRAMES, 0, 0, 0,
	  "" },
	{ "frames lost in the port", "discard=10", FRAMES - FRAMES / 10, 0, FRAMES / 10, 0, "" },
	{ "an interface that takes only its own", "interface=lo counters=none", FRAMES, 0, UNKNOWN,
	  0, "lo is not promiscuous" },
	{ "a clock that makes no sense", "clock_jump=1", FRAMES, 0, 0, 0,
	  "the device's clock jumped" },
};

static void survives_what_devices_do(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		struct hearing heard;
		void *device;

		behave("burst=1 %s", faults[i].words);
		device = listen_plainly();
		heard = hear(device);
		if (heard.frames != faults[i].frames || heard.end != faults[i].end ||
		    heard.counts.lost != faults[i].lost || heard.counts.errors != faults[i].errors)
			fail_msg("%s: %zu frames, end %d, lost %" PRIu64 ", errors %" PRIu64,
				 faults[i].sentence, heard.frames, heard.end, heard.counts.lost,
				 heard.counts.errors);
		if (faults[i].note[0] == '\0')
			assert_string_equal(heard.note, "");
		else
			assert_says(heard.note, faults[i].note);
		hang_up(device);
	}
}

/* Noise longer than its buffer; `strict` devices stop on it. */
static void counts_frames_longer_than_a_buffer(void **state)
{
	static const char *const words[] = { "", "strict=1", "stamps=0 strict=1" };
	struct building file = { 0 };
	char *path;

	(void)state;
	put_pcap_header(&file, 0xa1b2c3d4, 4, 1);
	for (uint32_t i = 0; i < 30; i++)
		put_pcap_record(&file, i, 0, i % 10 == 5 ? 11000 : 100, 11000, (uint8_t)i);
	path = make_file("long.pcap", file.bytes, file.size);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		struct hearing heard;
		void *device;

		behave("max_sge=1 frames=%s %s", path, words[i]);
		device = listen_plainly();
		heard = hear(device);
		assert_int_equal(fake_verbs_account.too_long, 3);
		assert_int_equal(heard.frames, 27);
		assert_int_equal(heard.counts.errors, 3);
		assert_true(heard.counts.lost == (i == 0 ? 0 : FT_LOST_UNKNOWN));
		hang_up(device);
	}
	remove_file(path);
	build_free(&file);
}

static void cuts_frames_longer_than_any_rather_than_refusing_them(void **state)
{
	struct building file = { 0 };
	struct ft_frame frame;
	void *device;
	char *path;

	(void)state;
	put_pcap_header(&file, 0xa1b2c3d4, 4, 1);
	put_pcap_record(&file, 0, 0, 16000, 16000, 5);
	path = make_file("long.pcap", file.bytes, file.size);
	behave("frames=%s", path);
	device = listen_plainly();
	while (ft_driver_verbs.receive(device, &frame, 1) == 0)
		;
	assert_int_equal(frame.captured, 10240);
	assert_int_equal(frame.original, 16000);
	assert_int_equal(frame.bytes[10239], 5);
	hang_up(device);
	remove_file(path);
	build_free(&file);
}

/* A reader that comes too seldom: more arrives between two calls than there are buffers. */
static void tells_losses_as_the_device_counts_them(void **state)
{
	static const struct {
		const char *words;
		bool known;
	} cases[] = {
		{ "", true },
		{ "stamps=0", true },
		{ "discard=7", true },
		{ "link=infiniband counters=no-discards", true },
		{ "counters=no-discards", false },
		{ "counters=none", false },
		{ "counters=stuck",
		  false }, /* what counts nothing while buffers run out is not believed */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_device_config config = {
			.address = "mlx5_0/1",
			.keep = 1,
			.buffer_bytes = 64 * 10240,
		};
		struct hearing heard;
		void *device;

		behave("drop=1 burst=100 repeat=20 %s", cases[i].words);
		device = listen_with(&config);
		heard = hear(device);
		assert_true(fake_verbs_account.dropped > 1000);
		assert_int_equal(heard.frames, fake_verbs_account.frames);
		assert_int_equal(heard.frames + fake_verbs_account.dropped, 20 * FRAMES);
		if (heard.counts.lost != (cases[i].known ? fake_verbs_account.dropped : UNKNOWN))
			fail_msg("`%s`: lost %" PRIu64, cases[i].words, heard.counts.lost);
		assert_says(heard.note, "ran out of receive buffers");
		hang_up(device);
	}
}

/* Stamps of a clock that is too fast or slow lie between the looks at wall time around each call. */
static void converts_the_devices_clock(void **state)
{
	static const char *const words[] = {
		"ppm=0",
		"ppm=90",
		"ppm=-90",
		"ppm=50 clock_khz=1000000",
		"ppm=-50 clock_khz=427000",
	};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		struct ft_device_facts facts;
		struct ft_frame frames[ROOM];
		uint64_t end, slack, previous = 0;
		void *device;

		behave("repeat=1000000 burst=1 %s", words[i]);
		device = listen_plainly();
		for (end = wall_ns() + 150000000; wall_ns() < end;) {
			uint64_t before = wall_ns(), after;
			int count = ft_driver_verbs.receive(device, frames, ROOM);

			after = wall_ns();
			ft_driver_verbs.describe(device, &facts);
			assert_int_equal(facts.stamps, FT_STAMP_ADAPTER);
			slack = facts.clock_error_ns + 20000;
			for (int f = 0; f < count; f++) {
				if (frames[f].ts_ns + slack < before ||
				    frames[f].ts_ns > after + slack)
					fail_msg("%s: %" PRId64 " ns off", words[i],
						 (int64_t)(frames[f].ts_ns - before));
				assert_true(frames[f].ts_ns >= previous);
				previous = frames[f].ts_ns;
			}
			assert_true(facts.clock_error_ns > 0);
		}
		hang_up(device);
	}
}

/* Frames that came while the program, in the midst of fetching some, did not run. */
static void believes_the_time_of_what_came_meanwhile(void **state)
{
	struct ft_frame frames[ROOM];
	struct hearing heard;
	uint64_t previous = 0;
	size_t count = 0;
	void *device;

	(void)state;
	behave("burst=1 late=1500");
	device = listen_plainly();
	for (int call = 0; call < CALLS_MAX && count < FRAMES; call++) {
		int came = ft_driver_verbs.receive(device, frames, ROOM);

		for (int f = 0; f < came; f++) {
			assert_true(frames[f].ts_ns > previous);
			previous = frames[f].ts_ns;
		}
		count += (size_t)came;
	}
	assert_int_equal(count, FRAMES);
	conclude(device, &heard);
	assert_string_equal(heard.note, "");
	hang_up(device);
}

/* A look that is late does not let the correction run on. */
static void bends_the_clock_no_longer_than_a_period(void **state)
{
	const struct ft_verbs_clock clock = {
		.mask = UINT64_MAX,
		.ticks = 5000,
		.wall_ns = 1000,
		.rate = UINT64_C(2) << 32,
		.bent = 100,
		.measured = UINT64_C(1) << 32,
	};

	(void)state;
	assert_int_equal(ft_verbs_clock_convert(&clock, 5000), 1000);
	assert_int_equal(ft_verbs_clock_convert(&clock, 5100), 1200);
	assert_int_equal(ft_verbs_clock_convert(&clock, 5300), 1400);
}

static void takes_the_programs_time_without_a_clock(void **state)
{
	struct ft_device_facts facts;
	struct ft_frame frame;
	uint64_t before = wall_ns();
	void *device;

	(void)state;
	behave("stamps=0");
	device = listen_plainly();
	while (ft_driver_verbs.receive(device, &frame, 1) == 0)
		;
	assert_true(frame.ts_ns >= before && frame.ts_ns <= wall_ns());
	ft_driver_verbs.describe(device, &facts);
	assert_int_equal(facts.stamps, FT_STAMP_PROGRAM);
	assert_int_equal(facts.clock_error_ns, 0);
	hang_up(device);
}

static void sleeps_until_frames_may_be_at_hand(void **state)
{
	struct ft_frame frames[ROOM];
	uint64_t before;
	void *device;

	(void)state;
	behave("burst=500");
	device = listen_plainly();
	ft_driver_verbs.wait(device, 1000); /* armed, looks once more */
	while (ft_driver_verbs.receive(device, frames, ROOM) != 0)
		;
	before = wall_ns();
	ft_driver_verbs.wait(device, 1000); /* what came in meanwhile woke it */
	assert_true(wall_ns() - before < 500000000);
	ft_driver_verbs.wait(device, 30);
	before = wall_ns();
	ft_driver_verbs.wait(device, 30);
	assert_true(wall_ns() - before >= 20000000);
	hang_up(device);
}

static void assert_identities(const char *const *lines, const char *wanted)
{
	char text[1024] = "";

	for (size_t i = 0; lines[i] != NULL; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", lines[i]);
	assert_string_equal(text, wanted);
}

static void tells_what_it_is(void **state)
{
	struct ft_device_facts facts;
	void *device;

	(void)state;
	behave("%s", "");
	device = listen_plainly();
	ft_driver_verbs.describe(device, &facts);
	assert_says(facts.driver, "libibverbs");
	assert_string_equal(facts.interface, "fake0");
	assert_int_equal(facts.transmit_queues, 0);
	assert_true(facts.counts_losses);
	assert_identities(facts.identities, "GUID 0x0002c903000a0b0c\nP_Key 0xffff\nP_Key 0x8001\n"
					    "P_Key 0x0002\nGID 0 fe80::200:c9ff:fe0a:b0c, RoCE v1\n"
					    "GID 1 ::ffff:10.0.0.1, RoCE v2\n");
	hang_up(device);
	behave("link=infiniband counters=none");
	device = listen_plainly();
	ft_driver_verbs.describe(device, &facts);
	assert_null(facts.interface);
	assert_false(facts.counts_losses);
	hang_up(device);
}

struct told {
	char text[1024];
	unsigned count;
	int answer;
};

static int tell(void *context, const struct ft_device_listing *listing)
{
	struct told *told = context;
	size_t used = strlen(told->text);

	told->count++;
	snprintf(told->text + used, sizeof told->text - used, "%s %s: %s\n", listing->address,
		 listing->usable ? "usable" : "not usable", listing->about);
	return told->answer;
}

static void lists_ports(void **state)
{
	struct told told = { .answer = 0 };

	(void)state;
	behave("devices=mlx5_0:1,mlx5_1:2");
	assert_int_equal(ft_driver_verbs.list(tell, &told), 0);
	assert_string_equal(told.text, "verbs:mlx5_0/1 usable: Ethernet, active, 400 Gbit/s\n"
				       "verbs:mlx5_1/1 usable: Ethernet, active, 400 Gbit/s\n"
				       "verbs:mlx5_1/2 usable: Ethernet, active, 400 Gbit/s\n");
	told = (struct told){ .answer = -ENOSPC };
	assert_int_equal(ft_driver_verbs.list(tell, &told), -ENOSPC);
	assert_int_equal(told.count, 1);
	behave("link=infiniband down=1");
	told = (struct told){ .answer = 0 };
	assert_int_equal(ft_driver_verbs.list(tell, &told), 0);
	assert_string_equal(told.text, "verbs:mlx5_0/1 usable: InfiniBand, down, 400 Gbit/s\n");
	behave("open=EACCES");
	told = (struct told){ .answer = 0 };
	assert_int_equal(ft_driver_verbs.list(tell, &told), 0);
	assert_string_equal(told.text, "verbs:mlx5_0 not usable: cannot open "
				       "/dev/infiniband/uverbs0: Permission denied\n");
	behave("list=ENOSYS");
	told = (struct told){ .answer = 0 };
	assert_int_equal(ft_driver_verbs.list(tell, &told), 0);
	assert_int_equal(told.count, 0);
	behave("list=EPERM");
	assert_int_equal(ft_driver_verbs.list(tell, &told), -EPERM);
	assert_int_equal(fake_verbs_account.alive, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delivers_the_frames_that_were_sent),
		cmocka_unit_test(keeps_frames_readable_for_as_many_calls_as_asked),
		cmocka_unit_test(gives_buffers_back_in_batches),
		cmocka_unit_test(says_in_one_line_why_it_cannot),
		cmocka_unit_test(refuses_what_it_has_no_means_for),
		cmocka_unit_test(survives_what_devices_do),
		cmocka_unit_test(counts_frames_longer_than_a_buffer),
		cmocka_unit_test(cuts_frames_longer_than_any_rather_than_refusing_them),
		cmocka_unit_test(tells_losses_as_the_device_counts_them),
		cmocka_unit_test(converts_the_devices_clock),
		cmocka_unit_test(believes_the_time_of_what_came_meanwhile),
		cmocka_unit_test(bends_the_clock_no_longer_than_a_period),
		cmocka_unit_test(takes_the_programs_time_without_a_clock),
		cmocka_unit_test(sleeps_until_frames_may_be_at_hand),
		cmocka_unit_test(tells_what_it_is),
		cmocka_unit_test(lists_ports),
	};

	return cmocka_run_group_tests(tests, make_noise, remove_noise);
}
