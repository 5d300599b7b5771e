#include "tcp_play.h"

#include <stdio.h>
#include <string.h>

static void keep_exchange(void *context, const struct ft_nccl_exchange *exchange)
{
	struct play *play = context;
	struct play_exchange *kept = &play->exchanges[play->exchange_count++];

	assert_true(play->exchange_count < PLAY_TOLD_MAX);
	kept->told = *exchange;
	kept->sender = *exchange->sender;
	kept->receiver = *exchange->receiver;
	kept->told.sender = kept->told.receiver = NULL;
	kept->sender.name = kept->receiver.name = NULL;
}

static void keep_cut(void *context, const struct ft_nccl_cut_exchange *exchange)
{
	struct play *play = context;

	play->cut_count++;
	play->cut = *exchange;
}

static void keep_contact(void *context, const struct ft_nccl_contact *contact)
{
	struct play *play = context;

	play->contacts[play->contact_count++] = *contact;
	assert_true(play->contact_count < PLAY_TOLD_MAX);
}

void play_open(struct play *play, uint32_t streams)
{
	struct ft_nccl_config config = FT_NCCL_DEFAULTS;
	struct ft_nccl_side_sink sink = { keep_exchange, keep_cut, keep_contact, play };

	memset(play, 0, sizeof *play);
	config.streams = streams;
	config.connections = 64;
	config.seed = 7;
	assert_int_equal(ft_nccl_side_create(&play->side, &config, &sink), 0);
}

void play_close(struct play *play)
{
	ft_nccl_side_destroy(play->side);
}

/* First sequence numbers: the client's bytes pass through 0. */
static uint32_t first_number(enum play_end end)
{
	return end == PLAY_CLIENT ? 0xfffffff0 : 1000;
}

void play_piece(struct play *play, unsigned connection, const struct play_piece *piece)
{
	static const uint8_t addresses[2][16] = {
		{ [10] = 0xff, 0xff, 10, 0, 0, 1 },
		{ [10] = 0xff, 0xff, 10, 0, 0, 2 },
	};
	uint16_t ports[2] = { (uint16_t)(40000 + connection), (uint16_t)(50000 + connection) };
	enum play_end from = piece->from, to = !from;
	bool syn = (piece->flags & PLAY_SYN) != 0;
	struct ft_nccl_segment segment = {
		.frame = ++play->frame,
		.ts_ns = play->frame * 1000,
		.vni = UINT32_MAX,
		.sport = ports[from],
		.dport = ports[to],
		.sequence = first_number(from) + piece->at - syn,
		.acknowledgment = first_number(to) + piece->acknowledged,
		.syn = syn,
		.fin = (piece->flags & PLAY_FIN) != 0,
		.rst = (piece->flags & PLAY_RST) != 0,
		.ack = (piece->flags & PLAY_ACK) != 0,
		.payload = piece->bytes,
		.captured = piece->size - piece->cut,
		.length = piece->size,
	};

	memcpy(segment.src, addresses[from], sizeof segment.src);
	memcpy(segment.dst, addresses[to], sizeof segment.dst);
	ft_nccl_side_see(play->side, &segment);
}

void play_open_connection(struct play *play, unsigned connection)
{
	const struct play_piece pieces[] = {
		{ .from = PLAY_CLIENT, .flags = PLAY_SYN },
		{ .from = PLAY_SERVER, .flags = PLAY_SYN | PLAY_ACK },
		{ .from = PLAY_CLIENT, .flags = PLAY_ACK },
	};

	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
		play_piece(play, connection, &pieces[i]);
}

uint32_t play_load(const char *name, uint8_t *bytes, uint32_t room)
{
	char path[512];
	FILE *file;
	size_t size;

	snprintf(path, sizeof path, "%s/nccl/%s.bin", FT_TEST_DATA, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	size = fread(bytes, 1, room, file);
	fclose(file);
	return (uint32_t)size;
}
