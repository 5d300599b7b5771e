#include "live_fake.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { DEVICES_MAX = 3, BURST = 512 };

#define MS UINT64_C(1000000)

static const char *const names[DEVICES_MAX] = { "fake:a", "fake:b", "fake:c" };

/* Sources over fakes that do as the scripts say, until the first NULL. */
static int open_fakes(struct ft_source **source, const char *const *scripts, unsigned keep,
		      struct ft_source_complaint *complaint)
{
	struct ft_live_address addresses[DEVICES_MAX];
	struct ft_live_config config = { .keep = keep };
	size_t count = 0;

	for (; count < DEVICES_MAX && scripts[count] != NULL; count++)
		addresses[count] = (struct ft_live_address){
			.name = names[count],
			.device = scripts[count],
			.driver = &fake_driver,
		};
	return ft_live_open_devices(source, addresses, count, &config, complaint);
}

static struct ft_source *started(const char *const *scripts, unsigned keep)
{
	struct ft_source_complaint complaint;
	struct ft_source *source;

	assert_int_equal(open_fakes(&source, scripts, keep, &complaint), 0);
	assert_int_equal(ft_live_start(source, &complaint), 0);
	return source;
}

static void close_source(struct ft_source *source)
{
	ft_source_close(source);
	assert_int_equal(fakes_open, 0);
}

/* Frames until the end as "a0 b0 a1": device and number on it. */
static void read_order(struct ft_source *source, char *order, size_t room)
{
	struct ft_frame burst[BURST];
	uint64_t number = 0;
	int count;

	*order = '\0';
	while ((count = ft_source_next(source, burst, BURST)) >= 0) {
		for (int i = 0; i < count; i++) {
			size_t used = strlen(order);

			assert_int_equal(burst[i].number, ++number);
			snprintf(order + used, room - used, "%s%c%u", used > 0 ? " " : "",
				 'a' + (int)burst[i].input, fake_number(&burst[i]));
		}
	}
	assert_int_equal(count, -ENODATA);
	assert_int_equal(ft_source_next(source, burst, BURST), -ENODATA);
}

static const struct {
	const char *sentence;
	const char *scripts[DEVICES_MAX];
	const char *order;
} orders[] = {
	{ "one device is handed on as it comes", { "5 2,9 . 3 $" }, "a0 a1 a2 a3" },
	{ "one after the other", { "1,2 $", "3,4 $" }, "a0 a1 b0 b1" },
	{ "in turns", { "1,3 5 $", "2 4,6 $" }, "a0 b0 a1 b1 a2 b2" },
	{ "earlier devices first on a tie", { "5,5 $", "5 $", "5 $" }, "a0 a1 b0 c0" },
	{ "also in the middle of a burst", { "5 $", "3,5 $" }, "b0 a0 b1" },
	{ "also when they are asked later", { ". . 5 $", "5 $", ". 5 $" }, "a0 b0 c0" },
	{ "three and one that ends at once", { "3,9 $", "$", "1,10 $" }, "c0 a0 a1 c1" },
	{ "frames without a time follow their predecessor",
	  { "1,7 $", "5,?,? 6 $" },
	  "a0 b0 b1 b2 b3 a1" },
	{ "without any predecessor they come first", { "1 $", "?,2 $" }, "b0 a0 b1" },
	{ "a clock that steps back is not sorted", { "5,2,6 $", "3,4 $" }, "b0 b1 a0 a1 a2" },
	{ "a frame that comes some milliseconds late has its turn",
	  { "8,9 $", "@4 1 $" },
	  "b0 a0 a1" },
	{ "one that comes much later does not", { "8,9 $", "@30 1 $" }, "a0 a1 b0" },
	{ "one that vanishes holds nothing back", { "1 8 $", "2 !" }, "a0 b0 a1" },
};

static void frames_come_in_order_of_time(void **state)
{
	(void)state;
	for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
		struct ft_source *source = started(orders[o].scripts, 1);
		char order[256];

		print_message("%s\n", orders[o].sentence);
		read_order(source, order, sizeof order);
		assert_string_equal(order, orders[o].order);
		close_source(source);
	}
}

/* Read until `frames` have come; how long that took. */
static uint64_t time_to(struct ft_source *source, uint64_t frames)
{
	struct ft_frame burst[BURST];
	uint64_t start = ft_live_now(), seen = 0;

	while (seen < frames) {
		int count = ft_source_next(source, burst, BURST);

		assert_true(count >= 0);
		seen += (uint64_t)count;
	}
	return ft_live_now() - start;
}

static void silence_is_told_after_a_while(void **state)
{
	const char *const alone[] = { "1", NULL }, *const both[] = { ".", ".", NULL };
	const char *const *const cases[] = { alone, both };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ft_source *source = started(cases[i], 1);
		struct ft_frame frame;
		uint64_t start, took;

		if (i == 0)
			assert_int_equal(ft_source_next(source, &frame, 1), 1);
		start = ft_live_now();
		assert_int_equal(ft_source_next(source, &frame, 1), 0);
		took = ft_live_now() - start;
		assert_in_range(took, (FT_LIVE_WAIT_MS - 5) * MS, 20 * FT_LIVE_WAIT_MS * MS);
		close_source(source);
	}
}

static void a_silent_device_stalls_nobody(void **state)
{
	const char *const scripts[] = { "1,2,3", "", NULL };
	struct ft_source *source = started(scripts, 1);

	(void)state;
	assert_in_range(time_to(source, 3), FT_LIVE_HOLD_NS, 100 * FT_LIVE_HOLD_NS);
	close_source(source);
}

/* The silent one may hold back so many frames only, not the device: there is always something to hand out. */
static void a_busy_device_waits_for_no_silent_one(void **state)
{
	const uint64_t frames = 1000 * 256, held = FT_LIVE_HOLD_FRAMES;
	const char *const scripts[] = { "#", "", NULL };
	struct ft_source *source = started(scripts, 1);

	(void)state;
	fakes_naps = 0;
	time_to(source, frames - held);
	assert_int_equal(fakes_naps, 0);
	close_source(source);
}

/* Frames that were handed out stay as they were for as many calls as was asked for; freed bytes would show. */
static void check_keep(const char *const *scripts, unsigned keep, int room)
{
	struct ft_source *source = started(scripts, keep);
	struct ft_frame kept[8][64];
	uint32_t numbers[8][64];
	int counts[8] = { 0 }, count;
	unsigned call = 0;

	assert_int_equal(ft_source_keep(source, keep + 1), -EINVAL);
	assert_int_equal(ft_source_keep(source, keep), 0);
	while ((count = ft_source_next(source, kept[call % keep], room)) >= 0) {
		if (count == 0)
			continue;
		for (int i = 0; i < count; i++)
			numbers[call % keep][i] = fake_number(&kept[call % keep][i]);
		counts[call % keep] = count;
		call++;
		for (unsigned old = 0; old < keep; old++)
			for (int i = 0; i < counts[old]; i++)
				assert_int_equal(fake_number(&kept[old][i]), numbers[old][i]);
	}
	assert_true(call > 3 * keep);
	close_source(source);
}

static void frames_stay_readable_as_long_as_asked(void **state)
{
	const char *const alone[] = { "1 2,3 . 4 5 . 6 7 8 9 10 11 12,13 14 15 . . 16 17 18 19 20 "
				      "21 22 23 24 25 26 27 28 29 30 31 $",
				      NULL };
	const char *const two[] = { "1 2,3 . 4 5 . 6 7 8 9 10 11 12,13 14 15 . . 16 17 18 $",
				    "200x1 . . 30x201 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 $",
				    NULL };

	const char *const held[] = { "1 256x2 256x258 256x514 256x770 256x1026 256x1282 256x1538 "
				     "256x1794 256x2050 256x2306 256x2562 256x2818 256x3074 "
				     "256x3330 256x3586 256x3842 256x4098 256x4354 $",
				     "1 @60 5000 $", NULL };

	(void)state;
	for (unsigned keep = 1; keep <= 8; keep++) {
		check_keep(alone, keep, 64);
		check_keep(two, keep, 7);
		check_keep(held, keep, 64);
	}
}

static void a_vanished_device_is_marked_and_the_others_go_on(void **state)
{
	const char *const scripts[] = { "lost=4 1 !", "2 . . . 3 $", NULL };
	struct ft_source *source = started(scripts, 1);
	const struct ft_source_input *gone = ft_source_input(source, 0);
	char order[64];

	(void)state;
	read_order(source, order, sizeof order);
	assert_string_equal(order, "a0 b0 b1");
	assert_true(gone->damaged);
	assert_string_equal(gone->complaint.text,
			    "fake:a: the device has vanished: it was removed or taken down");
	assert_int_equal(gone->dropped, 4);
	assert_string_equal(gone->kind, "fake");
	assert_int_equal(gone->frames, 1);
	assert_int_equal(gone->bytes, 100);
	assert_false(ft_source_input(source, 1)->damaged);
	assert_int_equal(ft_source_input(source, 1)->frames, 2);
	close_source(source);
}

static void losses_are_told_or_said_to_be_unknown(void **state)
{
	const char *const scripts[] = { "lost=3 errors=2 1 $", "unknown 1 $", "1 $" };
	struct ft_source *source = started(scripts, 1);
	char order[64];

	(void)state;
	assert_true(ft_source_input(source, 1)->losses_unknown);
	read_order(source, order, sizeof order);
	assert_int_equal(ft_source_input(source, 0)->dropped, 5);
	assert_false(ft_source_input(source, 0)->losses_unknown);
	assert_int_equal(ft_source_input(source, 1)->dropped, 0);
	assert_true(ft_source_input(source, 1)->losses_unknown);
	assert_int_equal(ft_source_input(source, 2)->dropped, 0);
	assert_false(ft_source_input(source, 2)->losses_unknown);
	close_source(source);
}

/* Frames of 1970 arrived before the stop; what a device stamps now, after it. */
static void a_stopped_source_hands_out_what_is_at_hand(void **state)
{
	static const struct {
		const char *scripts[DEVICES_MAX];
		const char *order;
	} cases[] = {
		{ { "1 2 3 . 4" }, "a0 a1 a2 a3" },
		{ { "1 2 3 . 4", "5" }, "a0 a1 a2 a3 b0" },
		{ { "1 2 *" }, "a0 a1 a2" },
		{ { "1 4", "2 3 5 *" }, "a0 b0 b1 a1 b2 b3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_source *source = started(cases[i].scripts, 1);
		uint64_t start = ft_live_now();
		char order[256];

		ft_source_stop(source);
		read_order(source, order, sizeof order);
		assert_string_equal(order, cases[i].order);
		assert_in_range(ft_live_now() - start, 0, FT_LIVE_STOP_MS * MS / 2);
		close_source(source);
	}
}

static void nobody_sleeps_while_one_must_be_polled(void **state)
{
	const char *const scripts[][DEVICES_MAX] = {
		{ "@3 1 @6 4 $", "poll @5 2 @9 3 $" },
		{ "@3 1 @6 4 $", "@5 2 @9 3 $" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ft_source *source = started(scripts[i], 1);
		char order[64];

		fakes_naps = 0;
		read_order(source, order, sizeof order);
		assert_string_equal(order, "a0 b0 b1 a1");
		assert_int_equal(fakes_naps > 0, i == 1);
		close_source(source);
	}
}

static void what_cannot_be_opened_leaves_nothing_open(void **state)
{
	static const struct ft_live_config config = FT_LIVE_DEFAULTS;
	const char *const scripts[] = { "1", "refuse", NULL };
	const struct ft_live_address twice[] = {
		{ .name = "fake:a", .device = "1", .driver = &fake_driver },
		{ .name = "fake:a", .device = "2", .driver = &fake_driver },
	};
	struct ft_live_address absent; /* no driver is linked here, nor lies beside this program */
	const char *const file = "tap0";
	struct ft_source_complaint complaint;
	struct ft_source *source = NULL;

	(void)state;
	assert_int_equal(open_fakes(&source, scripts, 1, &complaint), -EPERM);
	assert_string_equal(complaint.text, "fake: refused");
	assert_int_equal(ft_live_open_devices(&source, twice, 2, &config, &complaint), -EINVAL);
	assert_string_equal(complaint.text, "fake:a: is named twice");
	assert_true(ft_live_address_read(&absent, "pcap:a"));
	assert_int_equal(ft_live_open_devices(&source, &absent, 1, &config, &complaint),
			 -EOPNOTSUPP);
	assert_true(strncmp(complaint.text, "pcap:a: its driver cannot be loaded: ", 37) == 0 ||
		    strcmp(complaint.text, "pcap:a: this build has no libpcap") == 0);
	assert_int_equal(ft_live_open(&source, &file, 1, &config, &complaint), -EINVAL);
	assert_string_equal(complaint.text,
			    "tap0: not a live source: pcap:, dpdk: or verbs: and a device");
	assert_null(source);
	assert_int_equal(fakes_open, 0);
}

static void addresses_are_known_by_their_prefix(void **state)
{
	(void)state;
	assert_true(ft_live_is_address("pcap:eth0"));
	assert_true(ft_live_is_address("dpdk:0000:81:00.0,queues=2"));
	assert_true(ft_live_is_address("verbs:mlx5_0/1"));
	assert_false(ft_live_is_address("eth0"));
	assert_false(ft_live_is_address("file:a.pcap"));
	assert_false(ft_live_is_address("pcapng"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_in_order_of_time),
		cmocka_unit_test(silence_is_told_after_a_while),
		cmocka_unit_test(a_silent_device_stalls_nobody),
		cmocka_unit_test(a_busy_device_waits_for_no_silent_one),
		cmocka_unit_test(frames_stay_readable_as_long_as_asked),
		cmocka_unit_test(a_vanished_device_is_marked_and_the_others_go_on),
		cmocka_unit_test(losses_are_told_or_said_to_be_unknown),
		cmocka_unit_test(a_stopped_source_hands_out_what_is_at_hand),
		cmocka_unit_test(nobody_sleeps_while_one_must_be_polled),
		cmocka_unit_test(what_cannot_be_opened_leaves_nothing_open),
		cmocka_unit_test(addresses_are_known_by_their_prefix),
	};

	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
