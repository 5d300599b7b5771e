#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <zlib.h>

#include "share.h"

enum { FRAME_BYTES = 66, SAMPLE_WORDS = 16, SEED = 7, FRAMES_MOST = 64, ROOM = 8192 };

/*
 * A RoCEv2 datagram between two addresses, plain, in a VXLAN tunnel, and as a sample of an sFlow datagram. Lengths as the
 * headers state them; ICRCs are not looked at.
 */
static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

static uint8_t *put_ipv4(uint8_t *at, uint32_t size, uint8_t from, uint8_t to, uint16_t port)
{
	const uint8_t headers[] = {
		2,
		0,
		0,
		0,
		0,
		2,
		2,
		0,
		0,
		0,
		0,
		1,
		8,
		0, /* to, from, IPv4 */
		0x45,
		0,
		(uint8_t)((size + 28) >> 8),
		(uint8_t)(size + 28),
		0,
		1,
		0,
		0,
		64,
		17,
		0,
		0,
		10,
		0,
		0,
		from,
		10,
		0,
		0,
		to,
		0xc0,
		0,
		(uint8_t)(port >> 8),
		(uint8_t)port,
		(uint8_t)((size + 8) >> 8),
		(uint8_t)(size + 8),
		0,
		0,
	};

	return put(at, headers, sizeof headers);
}

/* A SEND-only on a connection. */
static uint8_t *put_plain(uint8_t *at, uint8_t from, uint8_t to, uint8_t psn)
{
	const uint8_t roce[] = {
		0x04, 0, 0xff, 0xff, 0, 0, 0, 17, 0, 0, 0, psn, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0,
	};

	return put(put_ipv4(at, sizeof roce, from, to, 4791), roce, sizeof roce);
}

static uint8_t *put_in_vxlan(uint8_t *at, uint8_t from, uint8_t to, uint8_t psn)
{
	static const uint8_t vxlan[] = { 8, 0, 0, 0, 0, 0, 1, 0 };

	at = put_ipv4(at, sizeof vxlan + FRAME_BYTES, 200, 201, 4789);
	return put_plain(put(at, vxlan, sizeof vxlan), from, to, psn);
}

static uint8_t *put_word(uint8_t *at, uint32_t word)
{
	return put(at,
		   (uint8_t[]){ (uint8_t)(word >> 24), (uint8_t)(word >> 16), (uint8_t)(word >> 8),
				(uint8_t)word },
		   4);
}

/* In ERSPAN II. */
static uint8_t *put_in_erspan(uint8_t *at, uint8_t psn, uint32_t sequence)
{
	enum { UDP = 8, GRE = 8, ERSPAN = 8, IPV4_PROTOCOL = 23 };
	const uint32_t words[] = { 0x100088be, sequence, 0x10000007, 0 };
	uint8_t *frame = at;

	at = put_ipv4(at, GRE + ERSPAN + FRAME_BYTES - UDP, 200, 201, 0) - UDP;
	frame[IPV4_PROTOCOL] = 47;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		at = put_word(at, words[i]);
	return put_plain(at, 1, (uint8_t)(2 + psn), psn);
}

/* Samples of packets from 10.0.0.1 to 10.0.0.2, 10.0.0.3 and so on. */
static uint8_t *put_sflow(uint8_t *at, uint32_t samples)
{
	enum { PADDED = (FRAME_BYTES + 3) & ~3, SAMPLE = 4 * SAMPLE_WORDS + PADDED };
	const uint32_t head[] = { 5, 1, 0x0a000003, 0, 0, 0, samples };

	at = put_ipv4(at, (uint32_t)sizeof head + samples * SAMPLE, 202, 203, 6343);
	for (size_t i = 0; i < sizeof head / sizeof *head; i++)
		at = put_word(at, head[i]);
	for (uint32_t s = 0; s < samples; s++) {
		const uint32_t words[SAMPLE_WORDS] = {
			1, SAMPLE - 8, /* a flow sample */
			0, 0,
			0, 0,
			0, 0,
			0, 1,           /* with one record */
			1, 16 + PADDED, /* a raw header: Ethernet, stripped FCS */
			1, FRAME_BYTES + 4,
			4, FRAME_BYTES,
		};

		for (size_t i = 0; i < SAMPLE_WORDS; i++)
			at = put_word(at, words[i]);
		put_plain(at, 1, (uint8_t)(2 + s), (uint8_t)s);
		at += PADDED;
	}
	return at;
}

static const struct ft_decode_config config = { .roce_ports = { 4791 }, .roce_port_count = 1 };

/* Frames for one block. */
struct bench {
	struct ft_block block;
	struct ft_share share;
	uint8_t bytes[FRAMES_MOST][ROOM];
};

static void set_up(struct bench *bench, unsigned workers)
{
	memset(bench, 0, sizeof *bench);
	assert_int_equal(ft_share_init(&bench->share, workers), 0);
}

static void tear_down(struct bench *bench)
{
	ft_share_free(&bench->share);
}

static uint8_t *room_for_frame(struct bench *bench)
{
	return bench->bytes[bench->block.frame_count];
}

static void add_frame(struct bench *bench, const uint8_t *end)
{
	struct ft_block *block = &bench->block;
	const uint8_t *bytes = bench->bytes[block->frame_count];
	uint32_t size = (uint32_t)(end - bytes);

	block->frames[block->frame_count++] = (struct ft_frame){
		.bytes = bytes,
		.captured = size,
		.original = size,
		.wire = size,
		.link_type = FT_LINK_ETHERNET,
		.ts_ns = 1000 + block->frame_count,
		.number = block->frame_count,
	};
}

/* And find all packets. */
static void share_out(struct bench *bench)
{
	ft_share_out(&bench->share, &bench->block, &config, SEED);
	assert_int_equal(ft_share_order(&bench->share, FT_ACCOUNT_NOTHING),
			 bench->share.batch.count);
}

static unsigned owner_of(const struct ft_share *share, unsigned number)
{
	return share->places[number] / share->room;
}

/* Each packet is one worker's, and those of a worker stand in the order of the capture. */
static void assert_shared_out(const struct ft_share *share)
{
	unsigned all = 0;

	for (unsigned w = 0; w < share->workers; w++) {
		const struct ft_parcel *parcels = &share->parcels[w * share->room];

		for (unsigned i = 0; i < share->parts[w].count; i++) {
			assert_int_equal(share->places[parcels[i].number], w * share->room + i);
			assert_true(i == 0 || parcels[i].number > parcels[i - 1].number);
		}
		all += share->parts[w].count;
	}
	assert_int_equal(all, share->batch.count);
}

static const unsigned crews[] = { 1, 2, 3, 7, 64 };
#define CREWS (sizeof crews / sizeof *crews)

/* Both directions too. The tunnel's own addresses are others. */
static void a_packet_and_its_copy_in_a_tunnel_have_one_owner(void **state)
{
	static struct bench bench;

	(void)state;
	for (size_t c = 0; c < CREWS; c++) {
		set_up(&bench, crews[c]);
		for (uint8_t i = 0; i < FRAMES_MOST / 4; i++) {
			add_frame(&bench, put_plain(room_for_frame(&bench), 1, 2 + i, i));
			add_frame(&bench, put_in_vxlan(room_for_frame(&bench), 1, 2 + i, i));
			add_frame(&bench, put_plain(room_for_frame(&bench), 2 + i, 1, i));
			add_frame(&bench, put_in_vxlan(room_for_frame(&bench), 2 + i, 1, i));
		}
		share_out(&bench);
		assert_shared_out(&bench.share);
		assert_int_equal(bench.share.batch.count, FRAMES_MOST);
		for (unsigned i = 0; i < FRAMES_MOST; i++) {
			assert_int_equal(owner_of(&bench.share, i),
					 owner_of(&bench.share, i / 4 * 4));
			assert_int_equal(
				ft_share_frame(&bench.share, bench.share.places[i])->number, 1 + i);
		}
		tear_down(&bench);
	}
}

/* Also where the first word of the headers behind it is broken, so that it has to be decoded. */
static void a_broken_frame_stays_with_its_owner(void **state)
{
	static struct bench bench;

	(void)state;
	set_up(&bench, 7);
	for (uint8_t i = 0; i < FRAMES_MOST / 2; i++) {
		uint8_t *frame = room_for_frame(&bench);

		add_frame(&bench, put_plain(frame, 1, 2 + i, i));
		frame = room_for_frame(&bench);
		add_frame(&bench, put_plain(frame, 1, 2 + i, i));
		frame[38] = 0xff; /* length of the UDP datagram */
		bench.block.frames[2 * i + 1].captured -= i % 30;
	}
	share_out(&bench);
	assert_shared_out(&bench.share);
	for (unsigned i = 0; i < FRAMES_MOST; i += 2)
		assert_int_equal(owner_of(&bench.share, i), owner_of(&bench.share, i + 1));
	tear_down(&bench);
}

/* Packets of one frame may have several owners. There are more of them than a block has frames. */
static void packets_of_an_sflow_datagram_find_their_owners(void **state)
{
	enum { SAMPLES = 50 };
	static struct bench bench;
	unsigned owners = 0;

	(void)state;
	set_up(&bench, 3);
	for (unsigned i = 0; i < FRAMES_MOST; i++)
		add_frame(&bench, i % 2 == 0 ? put_sflow(room_for_frame(&bench), SAMPLES)
					     : put_plain(room_for_frame(&bench), 1, 2, 0));
	share_out(&bench);
	assert_int_equal(bench.share.batch.count, FRAMES_MOST / 2 * (SAMPLES + 1));
	assert_true(bench.share.batch.count > FT_BLOCK_FRAMES);
	assert_shared_out(&bench.share);
	for (unsigned i = 0; i < bench.share.batch.count; i++) {
		unsigned sample = i % (SAMPLES + 1) % SAMPLES; /* the plain one is like the first */

		assert_int_equal(owner_of(&bench.share, i), owner_of(&bench.share, sample));
		assert_int_equal(ft_share_frame(&bench.share, bench.share.places[i])->number,
				 1 + i / (SAMPLES + 1) * 2 + (i % (SAMPLES + 1) == SAMPLES));
		owners |= 1u << owner_of(&bench.share, i);
	}
	assert_int_equal(owners, 7);
	tear_down(&bench);
}

/* Whether a glance suffices to tell their owner or not; those of no mirror have none. */
static void numbers_of_mirrors_stand_in_the_order_of_the_capture(void **state)
{
	enum { IN_GRE = 50, UDP_PORT = 37, KINDS = 4, NUMBERED = 2 };
	static struct bench bench;
	const struct ft_share *share = &bench.share;

	(void)state;
	set_up(&bench, 7);
	for (uint8_t i = 0; i < FRAMES_MOST / KINDS; i++) {
		uint8_t *frame;

		add_frame(&bench, put_in_erspan(room_for_frame(&bench), i, 100u + 2 * i));
		add_frame(&bench, put_plain(room_for_frame(&bench), 1, 2 + i, i));
		frame = room_for_frame(&bench);
		add_frame(&bench, put_in_erspan(frame, i, 101u + 2 * i));
		frame[IN_GRE + UDP_PORT] ^= 0xff; /* of nobody's */
		add_frame(&bench, put_in_vxlan(room_for_frame(&bench), 1, 2 + i, i));
	}
	share_out(&bench);
	assert_int_equal(share->numbered, FRAMES_MOST / KINDS * NUMBERED);
	for (unsigned i = 0; i < share->numbered; i++) {
		assert_int_equal(share->numbers[i].frame, NUMBERED * i);
		assert_int_equal(share->numbers[i].sequence, 100 + i);
		assert_int_equal(share->numbers[i].mirror, share->numbers[0].mirror);
	}
	ft_share_out(&bench.share, &bench.block, &config, SEED); /* another block */
	assert_int_equal(share->numbered, FRAMES_MOST / KINDS * NUMBERED);
	tear_down(&bench);
}

/* Run by workers who tell all, every item comes back whole, its verdict with it. */
static void what_is_told_is_kept_beside_its_packet(void **state)
{
	enum { WORKERS = 2 };
	static struct bench bench;
	struct ft_engine_config engine = FT_ENGINE_DEFAULTS;
	struct ft_worker *workers[WORKERS];

	(void)state;
	engine.flows = 1024;
	engine.details = true;
	set_up(&bench, WORKERS);
	for (uint8_t i = 0; i < FRAMES_MOST; i++)
		add_frame(&bench, i % 2 == 0 ? put_plain(room_for_frame(&bench), 1, 2 + i, i)
					     : put_in_vxlan(room_for_frame(&bench), 1, 2 + i, i));
	share_out(&bench);
	for (unsigned w = WORKERS; w-- > 0;) { /* in any order */
		assert_int_equal(ft_worker_create(&workers[w], &engine, NULL), 0);
		ft_worker_tell_all(workers[w]);
		ft_share_run(&bench.share, workers[w], w);
		ft_worker_destroy(workers[w]);
	}
	assert_int_equal(ft_share_order(&bench.share, FT_ACCOUNT_ITEM), FRAMES_MOST);
	for (unsigned i = 0; i < FRAMES_MOST; i++) {
		const struct ft_item *item = &bench.share.batch.items[i];
		uint32_t place = bench.share.places[i];

		assert_int_equal(ft_share_number(&bench.share, place), i);
		assert_int_equal(ft_share_outcome(&bench.share, place)->wants, FT_ACCOUNT_ITEM);
		assert_ptr_equal(item->frame, ft_share_frame(&bench.share, place));
		assert_int_equal(item->observed.psn, i);
		assert_int_equal(bench.share.batch.more[i].flow != 0, 1);
	}
	tear_down(&bench);
}

/* Of an IPv4 datagram that ends with its ICRC: CRC-32 over eight bytes of ones and all before it, variant fields as ones. */
static void put_icrc(uint8_t *frame, const uint8_t *end)
{
	enum { IP = 14, TOS = 1, TTL = 8, CHECKSUM = 10, UDP_CHECKSUM = 26, RESERVED = 32 };
	static const uint8_t ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint8_t covered[ROOM], *icrc = frame + (end - frame) - 4;
	size_t size = (size_t)(icrc - frame) - IP;
	unsigned long crc = crc32(0, ones, sizeof ones);

	memcpy(covered, frame + IP, size);
	covered[TOS] = covered[TTL] = covered[RESERVED] = 0xff;
	memset(covered + CHECKSUM, 0xff, 2);
	memset(covered + UDP_CHECKSUM, 0xff, 2);
	crc = crc32(crc, covered, (unsigned)size);
	for (unsigned i = 0; i < 4; i++)
		icrc[i] = (uint8_t)(crc >> 8 * i);
}

/* A SEND-only of `size` bytes. */
static uint8_t *put_whole(uint8_t *at, uint8_t to, uint8_t psn, uint32_t size)
{
	const uint8_t bth[] = { 0x04, 0, 0xff, 0xff, 0, 0, 0, 17, 0, 0, 0, psn };
	uint8_t *end = put(put_ipv4(at, sizeof bth + size + 4, 1, to, 4791), bth, sizeof bth);

	memset(end, psn, size);
	end += size + 4;
	put_icrc(at, end);
	return end;
}

/* By whoever shares them out; it makes no difference to what is told of them, wherever a bad one stands. */
static void icrcs_of_large_frames_are_checked_once(void **state)
{
	enum { WORKERS = 2, SIZE = 1024, SMALL = 64, BAD = 29, BAD_TOO = 38 };
	static struct bench bench;
	struct ft_engine_config engine = FT_ENGINE_DEFAULTS;
	unsigned checked = 0;

	(void)state;
	engine.flows = 1024;
	engine.details = true;
	set_up(&bench, WORKERS);
	for (uint8_t i = 0; i < FRAMES_MOST; i++)
		add_frame(&bench,
			  put_whole(room_for_frame(&bench), 2 + i, i, i % 4 == 3 ? SMALL : SIZE));
	bench.bytes[BAD][100] ^= 1;
	bench.bytes[BAD_TOO][60] ^= 1;
	ft_share_out(&bench.share, &bench.block, &engine.decode, SEED);
	for (unsigned w = 0; w < WORKERS; w++) {
		struct ft_worker *worker;

		for (unsigned i = 0; i < bench.share.parts[w].count; i++) {
			const struct ft_parcel *parcel =
				&bench.share.parcels[w * bench.share.room + i];

			assert_true(!parcel->checked ||
				    (parcel->number % 4 != 3 && parcel->number != BAD &&
				     parcel->number != BAD_TOO));
			checked += parcel->checked;
		}
		assert_int_equal(ft_worker_create(&worker, &engine, NULL), 0);
		ft_worker_tell_all(worker);
		ft_share_run(&bench.share, worker, w);
		ft_worker_destroy(worker);
	}
	assert_true(checked >= FRAMES_MOST / 2);
	for (unsigned i = 0; i < FRAMES_MOST; i++)
		assert_int_equal(bench.share.batch.items[i].kind == FT_FRAME_BAD_ICRC,
				 i == BAD || i == BAD_TOO);
	tear_down(&bench);
}

/* In places, those of which items are kept: in order, and no other. */
static void what_is_told_is_found_in_order(void **state)
{
	static struct bench bench;
	unsigned told = 0;

	(void)state;
	set_up(&bench, 3);
	for (uint8_t i = 0; i < FRAMES_MOST; i++)
		add_frame(&bench, put_plain(room_for_frame(&bench), 1, 2 + i, i));
	share_out(&bench);
	assert_int_equal(ft_share_order(&bench.share, FT_ACCOUNT_ITEM), 0);
	for (unsigned w = 0; w < 3; w++)
		for (unsigned i = 0; i < bench.share.parts[w].count; i++) {
			unsigned place = w * bench.share.room + i;

			if (ft_share_number(&bench.share, place) % 5 != 0)
				continue;
			bench.share.outcomes[place].wants = FT_ACCOUNT_ITEM;
		}
	told = ft_share_order(&bench.share, FT_ACCOUNT_ITEM);
	assert_int_equal(told, (FRAMES_MOST + 4) / 5);
	for (unsigned i = 0; i < told; i++)
		assert_int_equal(ft_share_number(&bench.share, bench.share.places[i]), 5 * i);
	tear_down(&bench);
}

/* One whose item was not kept is made of its frame again; those with more to tell are in order with it. */
static void a_stranger_is_made_once_more(void **state)
{
	struct ft_engine_config engine = FT_ENGINE_DEFAULTS;
	static struct bench bench;
	unsigned count;

	(void)state;
	engine.decode.check_icrc = false;
	set_up(&bench, 3);
	for (uint8_t i = 0; i < FRAMES_MOST; i++)
		add_frame(&bench, put_plain(room_for_frame(&bench), 1, 2 + i, i));
	share_out(&bench);
	memset(bench.share.batch.items, 0xee, FRAMES_MOST * sizeof *bench.share.batch.items);
	for (unsigned w = 0; w < 3; w++)
		for (unsigned i = 0; i < bench.share.parts[w].count; i++)
			bench.share.outcomes[w * bench.share.room + i].wants =
				w == 0 ? FT_ACCOUNT_FRAME : FT_ACCOUNT_STRANGE;
	count = ft_share_order(&bench.share, FT_ACCOUNT_STRANGE);
	assert_int_equal(count, FRAMES_MOST - bench.share.parts[0].count);
	for (unsigned i = 0; i < count; i++) {
		uint32_t place = bench.share.places[i];
		const struct ft_item *item = ft_share_strange(&bench.share, place, &engine);

		assert_int_equal(item->observed.psn, ft_share_number(&bench.share, place));
		assert_ptr_equal(item->frame, ft_share_frame(&bench.share, place));
		assert_int_equal(item->framing, FT_FRAMING_STRANGE);
		assert_false(item->copy);
	}
	tear_down(&bench);
}

/* --- accounting for all frames at once --- */

enum { TENANTS = 3, INPUTS = 2, BLOCKS = 4000 };

struct books {
	struct ft_account at_once, in_turn;
	unsigned seen;
	uint64_t now_ns;
	uint32_t chance;
};

static uint32_t draw(struct books *books, uint32_t choices)
{
	books->chance = books->chance * 1664525 + 1013904223;
	return (books->chance >> 16) % choices;
}

static void open_books(struct books *books)
{
	*books = (struct books){ .now_ns = UINT64_C(1700000000000000000) };
	assert_int_equal(ft_peaks_init(&books->at_once.peaks, TENANTS), 0);
	assert_int_equal(ft_peaks_init(&books->in_turn.peaks, TENANTS), 0);
	assert_int_equal(ft_silences_init(&books->at_once.silences, INPUTS), 0);
	assert_int_equal(ft_silences_init(&books->in_turn.silences, INPUTS), 0);
}

static void close_books(struct books *books)
{
	ft_account_free(&books->at_once);
	ft_account_free(&books->in_turn);
}

/* Times that mostly go on, and sometimes stand still, go back, leap, or are not known; now and then another input. */
static void fill_block(struct bench *bench, struct books *books)
{
	uint32_t rough = draw(books, 2), input = draw(books, 4) == 0;

	bench->block.frame_count = 0;
	for (uint8_t i = 0; i < FRAMES_MOST; i++) {
		struct ft_frame *frame = &bench->block.frames[i];

		add_frame(bench, put_plain(room_for_frame(bench), 1, 2 + i, i));
		books->now_ns += draw(books, 300000);
		if (draw(books, 8) == 0)
			books->now_ns -= draw(books, 1500000);
		if (rough && draw(books, 64) == 0)
			books->now_ns += draw(books, 4) * UINT64_C(500000000);
		frame->ts_ns = rough && draw(books, 128) == 0 ? FT_TS_UNKNOWN : books->now_ns;
		frame->input = rough && draw(books, 32) == 0 ? 1 - input : input;
		frame->wire = draw(books, 5000);
	}
}

static void account_for_block(struct bench *bench, struct books *books)
{
	struct ft_share *share = &bench->share;
	bool seen;

	share_out(bench);
	for (unsigned i = 0; i < FRAMES_MOST; i++) {
		const struct ft_frame *frame = ft_share_frame(share, share->places[i]);
		uint32_t from = draw(books, TENANTS + 1);

		share->outcomes[share->places[i]] =
			(struct ft_outcome){ from == TENANTS ? FT_NONE : from, frame->wire,
					     FT_ACCOUNT_FRAME };
		ft_account_frame(&books->in_turn, frame, from);
	}
	seen = ft_share_see(share, &books->at_once);
	books->seen += seen;
	for (unsigned i = 0; i < FRAMES_MOST && !seen; i++)
		ft_account_frame(&books->at_once, ft_share_frame(share, share->places[i]),
				 ft_share_outcome(share, share->places[i])->from);
}

static void assert_same(const struct books *books)
{
	const struct ft_silences *a = &books->at_once.silences, *b = &books->in_turn.silences;

	assert_memory_equal(books->at_once.peaks.now, books->in_turn.peaks.now,
			    TENANTS * sizeof(struct ft_peak_now));
	assert_memory_equal(books->at_once.peaks.before, books->in_turn.peaks.before,
			    TENANTS * sizeof(struct ft_peak));
	assert_memory_equal(a->inputs, b->inputs, INPUTS * sizeof *a->inputs);
	assert_int_equal(a->current, b->current);
	assert_int_equal(a->frames, b->frames);
}

static void frames_seen_at_once_count_as_if_seen_in_turn(void **state)
{
	static struct bench bench;
	struct books books;

	(void)state;
	set_up(&bench, 3);
	open_books(&books);
	for (unsigned i = 0; i < BLOCKS; i++) {
		fill_block(&bench, &books);
		account_for_block(&bench, &books);
		assert_same(&books);
	}
	assert_true(books.seen > BLOCKS / 8 && books.seen < BLOCKS - BLOCKS / 8);
	close_books(&books);
	tear_down(&bench);
}

/* A copy is no frame of its input; an sFlow datagram counts once. */
static void copies_and_samples_are_not_seen_at_once(void **state)
{
	static struct bench bench;
	struct books books;

	(void)state;
	for (unsigned odd = 0; odd < 3; odd++) {
		set_up(&bench, 2);
		open_books(&books);
		add_frame(&bench, put_plain(room_for_frame(&bench), 1, 2, 0));
		add_frame(&bench, odd == 1 ? put_sflow(room_for_frame(&bench), 2)
					   : put_plain(room_for_frame(&bench), 1, 3, 0));
		share_out(&bench);
		ft_silences_see(&books.at_once.silences, 0, 999);
		bench.share.parts[1].copies = odd == 2;
		assert_int_equal(ft_share_see(&bench.share, &books.at_once), odd == 0);
		close_books(&books);
		tear_down(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_and_its_copy_in_a_tunnel_have_one_owner),
		cmocka_unit_test(a_broken_frame_stays_with_its_owner),
		cmocka_unit_test(packets_of_an_sflow_datagram_find_their_owners),
		cmocka_unit_test(numbers_of_mirrors_stand_in_the_order_of_the_capture),
		cmocka_unit_test(what_is_told_is_kept_beside_its_packet),
		cmocka_unit_test(icrcs_of_large_frames_are_checked_once),
		cmocka_unit_test(what_is_told_is_found_in_order),
		cmocka_unit_test(a_stranger_is_made_once_more),
		cmocka_unit_test(frames_seen_at_once_count_as_if_seen_in_turn),
		cmocka_unit_test(copies_and_samples_are_not_seen_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
