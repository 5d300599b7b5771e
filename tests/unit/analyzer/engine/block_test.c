#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "block.h"

enum { FRAMES = 5, UD_BYTES = 14 + 20 + 8 + 12 + 8 + 4 };

/*
 * A RoCEv2 datagram, and an sFlow datagram whose samples each hold the start of one. Lengths as the headers
 * state them; ICRCs are not looked at.
 */
static const uint8_t ethernet_ipv4[] = {
	2,    0, 0, 0,  0, 2, 2, 0, 0,  0,  0, 1, 8,  0, /* to, from, IPv4 */
	0x45, 0, 0, 52, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
};
static const uint8_t roce[] = {
	0xc0, 0, 0x12, 0xb7, 0, 32, 0, 0,              /* UDP to 4791 */
	0x64, 0, 0xff, 0xff, 0, 0,  0, 17, 0, 0, 0, 1, /* UD SEND-only to queue pair 17 */
	0,    0, 0,    1,    0, 0,  0, 18,             /* DETH */
	0,    0, 0,    0,                              /* ICRC */
};
static_assert(sizeof ethernet_ipv4 + sizeof roce == UD_BYTES, "the lengths in the headers");

static uint32_t put(uint8_t *frame, uint32_t at, const void *bytes, uint32_t size)
{
	memcpy(frame + at, bytes, size);
	return at + size;
}

static uint32_t put_word(uint8_t *frame, uint32_t at, uint32_t word)
{
	return put(frame, at,
		   (uint8_t[]){ (uint8_t)(word >> 24), (uint8_t)(word >> 16), (uint8_t)(word >> 8),
				(uint8_t)word },
		   4);
}

static uint32_t put_ud(uint8_t *frame, uint32_t at, uint8_t dest_qp)
{
	at = put(frame, at, ethernet_ipv4, sizeof ethernet_ipv4);
	at = put(frame, at, roce, sizeof roce);
	frame[at - 17] = dest_qp;
	return at;
}

/* A sample with one raw header, of a datagram to queue pair `dest_qp`. */
static uint32_t put_sample(uint8_t *frame, uint32_t at, uint8_t dest_qp)
{
	enum { PADDED = (UD_BYTES + 3) & ~3 };
	const uint32_t words[] = { 1, 32 + 8 + 16 + PADDED,
				   0, 0,
				   0, 0,
				   0, 0,
				   0, 1, /* flow sample, one record */
				   1, 16 + PADDED,
				   1, UD_BYTES + 4,
				   4, UD_BYTES /* raw header, Ethernet, stripped FCS */ };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		at = put_word(frame, at, words[i]);
	put_ud(frame, at, dest_qp);
	return at + PADDED;
}

/* An sFlow datagram to 6343 with so many samples, of packets to queue pairs 2, 3 and so on. */
static uint32_t put_sflow(uint8_t *frame, uint32_t samples)
{
	const uint32_t words[] = { 5, 1, 0x0a000003, 0, 0, 0 };
	uint32_t at = put(frame, 0, ethernet_ipv4, sizeof ethernet_ipv4);
	uint32_t udp = at;

	at = put(frame, at, (uint8_t[]){ 0xc0, 0, 0x18, 0xc7, 0, 0, 0, 0 }, 8);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		at = put_word(frame, at, words[i]);
	at = put_word(frame, at, samples);
	for (uint32_t i = 0; i < samples; i++)
		at = put_sample(frame, at, (uint8_t)(2 + i));
	frame[16] = (uint8_t)((at - 14) >> 8);
	frame[17] = (uint8_t)(at - 14);
	frame[udp + 4] = (uint8_t)((at - udp) >> 8);
	frame[udp + 5] = (uint8_t)(at - udp);
	return at;
}

static struct ft_frame frame_of(const uint8_t *bytes, uint32_t size, uint64_t number)
{
	return (struct ft_frame){
		.bytes = bytes,
		.captured = size,
		.original = size,
		.wire = size,
		.link_type = FT_LINK_ETHERNET,
		.ts_ns = 1000 + number,
		.number = number,
	};
}

static const struct ft_decode_config config = {
	.roce_ports = { 4791 },
	.roce_port_count = 1,
};

static void items_stand_in_the_order_of_frames_and_packets(void **state)
{
	static uint8_t plain[256], sflow[1024];
	uint32_t plain_size = put_ud(plain, 0, 99), sflow_size = put_sflow(sflow, 3);
	const struct {
		uint64_t frame;
		uint16_t sub;
		uint32_t dest_qp;
	} expected[] = {
		{ 1, 0, 99 }, { 2, 0, 2 }, { 2, 1, 3 }, { 2, 2, 4 }, { 3, 0, 99 },
	};
	static struct ft_block block;
	struct ft_batch batch;

	(void)state;
	assert_int_equal(ft_batch_init(&batch, 8), 0);
	batch.count = 3; /* of what it held before */
	for (unsigned i = 0; i < 3; i++)
		block.frames[i] = i == 1 ? frame_of(sflow, sflow_size, 2)
					 : frame_of(plain, plain_size, i + 1);
	block.frame_count = 3;
	ft_batch_fill(&batch, &block, &config, 7);
	assert_int_equal(batch.count, 5);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(batch.items[i].frame->number, expected[i].frame);
		assert_int_equal(batch.items[i].sub, expected[i].sub);
		assert_true(batch.items[i].has_flow);
		assert_int_equal(batch.items[i].dest_qp, expected[i].dest_qp);
	}
	ft_batch_free(&batch);
}

/* The packet of an item can be had again, whichever of its frame's it is. */
static void an_item_is_decoded_anew(void **state)
{
	static uint8_t sflow[1024];
	const struct ft_frame frame = frame_of(sflow, put_sflow(sflow, 4), 1);
	struct ft_batch batch;
	struct ft_packet packet;

	(void)state;
	assert_int_equal(ft_batch_init(&batch, 8), 0);
	ft_batch_add(&batch, &frame, &config, 7);
	assert_int_equal(batch.count, 4);
	for (unsigned i = 4; i-- > 0;) {
		ft_item_decode(&batch.items[i], &config, &packet);
		assert_int_equal(packet.dest_qp, 2 + i);
	}
	ft_batch_free(&batch);
}

/* Ten frames of sixty samples are more packets than there is room for at first. */
static void a_batch_grows_with_the_packets_in_it(void **state)
{
	enum { SAMPLES = 60, DATAGRAMS = 10, ROOM = 32 };
	static uint8_t sflow[60 * 160];
	uint32_t size = put_sflow(sflow, SAMPLES);
	struct ft_block block;
	struct ft_batch batch;

	(void)state;
	assert_int_equal(ft_batch_init(&batch, ROOM), 0);
	for (unsigned i = 0; i < DATAGRAMS; i++)
		block.frames[i] = frame_of(sflow, size, i + 1);
	block.frame_count = DATAGRAMS;
	ft_batch_fill(&batch, &block, &config, 7);
	assert_int_equal(batch.count, DATAGRAMS * SAMPLES);
	assert_true(batch.room >= batch.count);
	for (unsigned i = 0; i < batch.count; i++) {
		assert_int_equal(batch.items[i].frame->number, i / SAMPLES + 1);
		assert_int_equal(batch.items[i].sub, i % SAMPLES);
		assert_int_equal(batch.items[i].dest_qp, 2 + i % SAMPLES);
		batch.more[i].flow = i; /* there is one beside each */
	}
	ft_batch_free(&batch);
}

/* SEND-only of 64 bytes by an rxe device, in a capture of the kernel's; its last four bytes are the ICRC. */
static const uint8_t send_only[126] = {
	0x02, 0x10, 0x5e, 0x00, 0x00, 0x12, 0x02, 0x10, 0x5e, 0x00, 0x00, 0x11, 0x08, 0x00,
	0x45, 0x00, 0x00, 0x70, 0x90, 0x7c, 0x40, 0x00, 0x40, 0x11, 0x95, 0xae, 0x0a, 0x28,
	0x00, 0x01, 0x0a, 0x28, 0x00, 0x02, 0xc5, 0x7c, 0x12, 0xb7, 0x00, 0x5c, 0x00, 0x00,
	0x05, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x36, 0x80, 0x1e, 0x2f, 0xfb, 0xa0, 0x00,
	0x00, 0x01, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x31, 0x31, 0x31, 0x31,
	0x31, 0x31, 0x31, 0x31, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x32, 0x33, 0x33,
	0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x34, 0x34, 0x34, 0x34, 0x34, 0x34, 0x34, 0x34,
	0x35, 0x35, 0x35, 0x35, 0x35, 0x35, 0x35, 0x35, 0x36, 0x36, 0x36, 0x36, 0x36, 0x36,
	0x36, 0x36, 0x37, 0x37, 0x37, 0x37, 0x37, 0x37, 0x37, 0x37, 0xe8, 0x1f, 0xc2, 0x9e,
};

/* A frame with a wrong ICRC is found wherever it stands among others, and they stay what they are. */
static void wrong_icrcs_are_found_among_others(void **state)
{
	enum { COUNT = 21, FLIPPED = 100 };
	static const struct ft_decode_config checking = {
		.roce_ports = { 4791 },
		.roce_port_count = 1,
		.check_icrc = true,
	};
	static uint8_t wrong[sizeof send_only];
	struct ft_batch batch;
	struct ft_block block = { .frame_count = COUNT };

	(void)state;
	put(wrong, 0, send_only, sizeof send_only);
	wrong[FLIPPED] ^= 0x10;
	assert_int_equal(ft_batch_init(&batch, COUNT), 0);
	for (unsigned first = 0; first < COUNT; first++) {
		for (unsigned i = 0; i < COUNT; i++)
			block.frames[i] = frame_of(i == first || i == 12 ? wrong : send_only,
						   sizeof wrong, i + 1);
		ft_batch_fill(&batch, &block, &checking, 7);
		assert_int_equal(batch.count, COUNT);
		for (unsigned i = 0; i < COUNT; i++) {
			assert_int_equal(batch.items[i].frame->number, i + 1);
			assert_int_equal(batch.items[i].kind, i == first || i == 12
								      ? FT_FRAME_BAD_ICRC
								      : FT_FRAME_JUDGED);
		}
	}
	ft_batch_free(&batch);
}

/* Three frames in a pcap file: blocks end where they are told, and the last is short. */
static void frames_are_read_up_to_the_most_asked_for(void **state)
{
	enum { HEADER = 24, RECORD = 16 + 1 };
	static const uint8_t header[HEADER] = { 0xd4, 0xc3, 0xb2,        0xa1, 2,       0,
						4,    0,    [16] = 0xff, 0xff, [20] = 1 };
	static const uint8_t record[RECORD] = { 1, [8] = 1, [12] = 1 };
	static uint8_t bytes[HEADER + 3 * RECORD];
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_block block;

	(void)state;
	put(bytes, 0, header, HEADER);
	for (uint32_t i = 0; i < 3; i++)
		put(bytes, HEADER + i * RECORD, record, RECORD);
	assert_int_equal(ft_source_open_memory(&source, bytes, sizeof bytes, &complaint), 0);
	assert_int_equal(ft_block_read(&block, source, 2), 2);
	assert_int_equal(block.frame_count, 2);
	assert_int_equal(block.frames[1].number, 2);
	assert_int_equal(ft_block_read(&block, source, 1000000), 1);
	assert_int_equal(block.frames[0].number, 3);
	assert_true(ft_block_read(&block, source, 1) < 0);
	assert_int_equal(block.frame_count, 0);
	ft_source_close(source);
}

/* --- whether frames are a stretch --- */

enum { STRETCHES = 20000, STRETCH_FRAMES = 6 };

static uint64_t draw(uint64_t *chance)
{
	*chance = *chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *chance >> 33;
}

/* From frame to frame no more than a millisecond either way, all of one input, in one tenth of a second. */
static bool is_stretch(const struct ft_block *block)
{
	const uint64_t tenth_ns = 100000000, most_ns = 1000000;
	const struct ft_frame *frames = block->frames;

	for (unsigned i = 0; i < block->frame_count; i++) {
		uint64_t ts_ns = frames[i].ts_ns, before_ns = frames[i == 0 ? 0 : i - 1].ts_ns;
		uint64_t apart_ns = ts_ns > before_ns ? ts_ns - before_ns : before_ns - ts_ns;

		if (ts_ns == FT_TS_UNKNOWN || apart_ns > most_ns ||
		    ts_ns / tenth_ns != frames[0].ts_ns / tenth_ns ||
		    frames[i].input != frames[0].input)
			return false;
	}
	return true;
}

/* Steps of none to a little more than all that is allowed, where tenths begin and end. */
static uint64_t next_time(uint64_t ts_ns, uint64_t *chance)
{
	static const uint64_t steps_ns[] = { 0,      1,      100,     499999, 500000,
					     500001, 999999, 1000000, 1000001 };
	uint64_t step_ns = steps_ns[draw(chance) % (sizeof steps_ns / sizeof *steps_ns)];

	if (draw(chance) % 200 == 0)
		return FT_TS_UNKNOWN;
	return draw(chance) % 4 == 0 && step_ns <= ts_ns ? ts_ns - step_ns : ts_ns + step_ns;
}

/* Of one input, each with a time that is none before the one in front of it. */
static bool is_in_order(const struct ft_block *block)
{
	for (unsigned i = 0; i < block->frame_count; i++) {
		const struct ft_frame *frame = &block->frames[i];

		if (frame->ts_ns == FT_TS_UNKNOWN || frame->input != block->frames[0].input ||
		    (i != 0 && frame->ts_ns < frame[-1].ts_ns))
			return false;
	}
	return true;
}

static void a_stretch_is_frames_soon_after_one_another_in_a_tenth_of_a_second(void **state)
{
	static const uint64_t starts_ns[] = { 0,        1,        400000,    99000000,
					      99500000, 99999999, 100000000, 100499999 };
	static struct ft_block block;
	unsigned stretches = 0, in_order = 0;
	uint64_t chance = 1;

	(void)state;
	for (unsigned i = 0; i < STRETCHES; i++) {
		uint64_t ts_ns = starts_ns[draw(&chance) % (sizeof starts_ns / sizeof *starts_ns)];
		struct ft_stretch stretch;

		block.frame_count = 1 + (unsigned)(draw(&chance) % STRETCH_FRAMES);
		for (unsigned f = 0; f < block.frame_count; f++) {
			block.frames[f].ts_ns = ts_ns = next_time(ts_ns, &chance);
			block.frames[f].input = 3 + (draw(&chance) % 20 == 0);
		}
		block.in_order = i % 2 != 0 && is_in_order(&block); /* it need not be known */
		in_order += block.in_order;
		stretch = ft_block_stretch(&block);
		assert_int_equal(stretch.frames, is_stretch(&block) ? block.frame_count : 0);
		if (stretch.frames == 0)
			continue;
		stretches++;
		assert_int_equal(stretch.first_ns, block.frames[0].ts_ns);
		assert_int_equal(stretch.last_ns, ts_ns);
		assert_int_equal(stretch.input, block.frames[0].input);
	}
	assert_in_range(stretches, STRETCHES / 10, STRETCHES * 9 / 10);
	assert_in_range(in_order, STRETCHES / 50, STRETCHES / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stretch_is_frames_soon_after_one_another_in_a_tenth_of_a_second),
		cmocka_unit_test(items_stand_in_the_order_of_frames_and_packets),
		cmocka_unit_test(an_item_is_decoded_anew),
		cmocka_unit_test(a_batch_grows_with_the_packets_in_it),
		cmocka_unit_test(wrong_icrcs_are_found_among_others),
		cmocka_unit_test(frames_are_read_up_to_the_most_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
