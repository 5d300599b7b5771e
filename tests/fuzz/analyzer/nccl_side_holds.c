/*
 * Any segments of a few connections, one of each kind and one of the input's own bytes: a connection is told of once,
 * what is told lies within its bounds, no more processes are kept than there may be, and another seed tells the same.
 * Four bytes make a segment.
 */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include <side_channel.h>

#include "../holds.h"

enum {
	EVENT = 4,
	EVENTS_MAX = 600,
	SETUP = 0, /* connections: the last is wild */
	RAS = 1,
	BOOTSTRAP = 2,
	CONNECTIONS = 4,
	STREAM_BYTES = 8192,
	METADATA = 3336,
	PROCESSES = 4,
	WORLDS = 3,
};

struct world {
	struct ft_nccl_side_channel *side;
	unsigned exchanges[CONNECTIONS], contacts[CONNECTIONS];
	uint64_t frame, sum; /* shown now; of all that was told */
};

/* What both ends of a connection send. */
struct talk {
	uint8_t bytes[2][STREAM_BYTES];
	uint32_t size[2];
};

static void exchange(void *context, const struct ft_nccl_exchange *told)
{
	struct world *world = context;
	unsigned connection = told->connecting_port % CONNECTIONS;

	assert(told->frames[0] <= told->frames[1] && told->frames[1] <= world->frame);
	assert(told->sender->form == told->receiver->form);
	assert(told->sender->qp_count >= 1 && told->receiver->device_count >= 1);
	world->exchanges[connection]++;
	world->sum = world->sum * 31 + world->frame + told->sender->qpns[0];
}

static void cut_exchange(void *context, const struct ft_nccl_cut_exchange *told)
{
	struct world *world = context;

	assert(told->tcp.frames[0] <= told->tcp.frames[1] && told->tcp.frames[1] <= world->frame);
	assert(told->form != NULL && told->sender_qpn != 0 && told->receiver_qpn != 0);
	world->exchanges[told->tcp.connecting_port % CONNECTIONS]++;
	world->sum = world->sum * 41 + world->frame + told->sender_qpn;
}

static void contact(void *context, const struct ft_nccl_contact *told)
{
	struct world *world = context;
	unsigned connection = told->from.address[0] % CONNECTIONS;

	assert(told->frame <= world->frame && told->connection == FT_NCCL_NONE);
	world->contacts[connection]++;
	world->sum = world->sum * 37 + told->frame + told->kind;
}

static void put(struct talk *talk, unsigned end, const void *bytes, uint32_t size)
{
	memcpy(talk->bytes[end] + talk->size[end], bytes, size);
	talk->size[end] += size;
}

/* Words of 1 are taken for queue pair, device and MTU. */
static void put_metadata(struct talk *talk, unsigned end)
{
	uint8_t bytes[METADATA];

	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = i % 4 == 0 && (i < 3072 ? i % 24 == 0 || i % 24 == 4 : true);
	put(talk, end, bytes, sizeof bytes);
}

static void make_setup(struct talk *talk)
{
	put(talk, 0, "\x6c\x9d\x4b\xfc\xf2\xb9\x4a\x56\4\0\0", 12);
	put_metadata(talk, 0);
	put(talk, 0, "\1\0\0", 4);
	put_metadata(talk, 1);
}

static void make_ras(struct talk *talk)
{
	static const uint8_t init[60] = { 56, [4] = 1, [12] = 0xb3, 0x58, [16] = 2, [20] = 10 };
	static const uint8_t alive[60] = { 56, [4] = 3 };

	put(talk, 0, "\x6c\x9d\x4b\xfc\xf2\xb9\x4a\x56\5\0\0", 12);
	put(talk, 0, init, sizeof init);
	for (unsigned end = 0; end < 2; end++) {
		while (talk->size[end] + sizeof alive <= STREAM_BYTES)
			put(talk, end, alive, sizeof alive);
	}
}

static void make_bootstrap(struct talk *talk)
{
	static const uint8_t check_in[68] = { 64, [4] = 1, [8] = 2, [12] = 2, [40] = 10 };

	put(talk, 0, "whatever\1\0\0", 12);
	put(talk, 0, check_in, sizeof check_in);
}

static struct ft_nccl_segment segment_of(const uint8_t *event, const struct talk *talk)
{
	unsigned connection = event[0] % CONNECTIONS, from = event[0] >> 2 & 1;
	uint16_t ports[2] = { (uint16_t)(40000 + connection), 50000 };
	uint32_t at = event[1] * 16u, size = event[2] * 8u, all = talk->size[from];
	struct ft_nccl_segment segment = {
		.vni = UINT32_MAX,
		.sport = ports[from],
		.dport = ports[!from],
		.syn = (event[0] & 0x08) != 0,
		.fin = (event[0] & 0x30) == 0x30,
		.rst = (event[0] & 0x50) == 0x50,
		.ack = (event[0] & 0x80) != 0,
		.acknowledgment = 1 + event[3] * 16u,
	};

	if (at > all)
		at = all;
	if (size > all - at || event[2] == 255)
		size = all - at;
	if (segment.syn) {
		at = size = 0;
		segment.ack = from == 1;
		segment.acknowledgment = 1;
	}
	segment.sequence = 1 + at - segment.syn;
	segment.payload = talk->bytes[from] + at;
	segment.length = size;
	segment.captured = (event[0] & 0x60) == 0x60 ? size / 2 : size;
	segment.src[0] = (uint8_t)(from == 0 ? connection : 0x80);
	segment.dst[0] = (uint8_t)(from == 0 ? 0x80 : connection);
	return segment;
}

static void create(struct world *world, uint32_t streams, uint64_t seed)
{
	struct ft_nccl_config config = FT_NCCL_DEFAULTS;
	struct ft_nccl_side_sink sink = { exchange, cut_exchange, contact, world };

	*world = (struct world){ .side = NULL };
	config.streams = streams;
	config.connections = PROCESSES;
	config.seed = seed;
	assert(ft_nccl_side_create(&world->side, &config, &sink) == 0);
}

static void see(struct world *world, struct ft_nccl_segment *segment)
{
	segment->frame = ++world->frame;
	segment->ts_ns = world->frame;
	ft_nccl_side_see(world->side, segment);
}

static void close_world(struct world *world)
{
	const struct ft_nccl_process *processes;
	size_t count;

	processes = ft_nccl_side_processes(world->side, &count);
	assert(count <= PROCESSES);
	for (size_t i = 0; i < count; i++) {
		assert(processes[i].first_frame <= processes[i].last_frame);
		assert(i == 0 || processes[i - 1].first_frame <= processes[i].first_frame);
		assert(!processes[i].has_rank || processes[i].rank < processes[i].ranks);
	}
	ft_nccl_side_destroy(world->side);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static struct talk talks[CONNECTIONS];
	struct world worlds[WORLDS];
	struct talk *wild = &talks[CONNECTIONS - 1];

	memset(talks, 0, sizeof talks);
	make_setup(&talks[SETUP]);
	make_ras(&talks[RAS]);
	make_bootstrap(&talks[BOOTSTRAP]);
	for (unsigned end = 0; end < 2; end++)
		put(wild, end, bytes, (uint32_t)(size < STREAM_BYTES ? size : STREAM_BYTES));
	create(&worlds[0], CONNECTIONS, 7);
	create(&worlds[1], CONNECTIONS, 8);
	create(&worlds[2], 1, 9);
	for (size_t i = 0; i < size / EVENT && i < EVENTS_MAX; i++) {
		const uint8_t *event = bytes + i * EVENT;
		struct ft_nccl_segment segment = segment_of(event, &talks[event[0] % CONNECTIONS]);

		for (unsigned world = 0; world < WORLDS; world++)
			see(&worlds[world], &segment);
	}
	assert(worlds[0].sum == worlds[1].sum);
	for (unsigned i = 0; i < CONNECTIONS - 1; i++)
		assert(worlds[0].exchanges[i] <= (i == SETUP) && worlds[0].contacts[i] <= 1);
	for (unsigned world = 0; world < WORLDS; world++)
		close_world(&worlds[world]);
}
