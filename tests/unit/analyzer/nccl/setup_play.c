#include "setup_play.h"

#include <stdio.h>
#include <string.h>

const struct setup_release setup_releases[SETUP_RELEASES] = {
	{ "2.10.3", 24, 35, 0x563668ce2120, 552, 0 },
	{ "2.19.3", 41, 27, 0x55b0bf66d820, 2600, FT_NCCL_MAGIC_SOCKET },
	{ "2.21.5", 17, 17, 0x7f7816b30100, 3336, FT_NCCL_MAGIC_SOCKET },
	{ "2.27.7", 24, 50, 0x7f775b667180, 3648, FT_NCCL_MAGIC_SOCKET },
	{ "2.30.7", 17, 17, 0x7fe832d3aa80, 4576, FT_NCCL_MAGIC_SOCKET },
};
void setup_load(struct setup *setup, const struct setup_release *release)
{
	static const char *const sides[] = { "connecting", "listening" };

	*setup = (struct setup){ .release = release };
	for (unsigned end = 0; end < 2; end++) {
		char name[64];

		snprintf(name, sizeof name, "setup-%s-%s", release->name, sides[end]);
		setup->size[end] = play_load(name, setup->bytes[end], SETUP_STREAM_MAX);
	}
}

void setup_add(struct setup *setup, enum play_end from, uint32_t at, uint32_t size)
{
	assert_true(setup->count < SETUP_PIECES_MAX && at + size <= setup->size[from]);
	setup->pieces[setup->count++] = (struct play_piece){
		.from = from, .at = at, .bytes = setup->bytes[from] + at, .size = size
	};
}

/* From `at` on, in pieces of at most `most`. */
static void add_rest(struct setup *setup, enum play_end from, uint32_t at, uint32_t end,
		     uint32_t most)
{
	for (uint32_t size; at < end; at += size) {
		size = end - at < most ? end - at : most;
		setup_add(setup, from, at, size);
	}
}

void setup_add_all(struct setup *setup, uint32_t hello, uint32_t most)
{
	uint32_t ready = setup->size[PLAY_CLIENT] - SETUP_READY;

	if (hello != 0)
		setup_add(setup, PLAY_CLIENT, 0, hello);
	add_rest(setup, PLAY_CLIENT, hello, ready, most);
	add_rest(setup, PLAY_SERVER, 0, setup->size[PLAY_SERVER], most);
	setup_add(setup, PLAY_CLIENT, ready, SETUP_READY);
}

void setup_send(struct play *play, const struct setup *setup)
{
	for (unsigned i = 0; i < setup->count; i++)
		play_piece(play, 0, &setup->pieces[i]);
}

static const uint8_t client_address[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
static const uint8_t server_address[16] = { [10] = 0xff, 0xff, 10, 0, 0, 2 };

bool setup_is_told(const struct play *play, const struct setup *setup, uint64_t first,
		   uint64_t last)
{
	const struct setup_release *release = setup->release;
	const struct play_exchange *exchange = &play->exchanges[0];
	const struct ft_nccl_exchange *told = &exchange->told;

	return play->exchange_count == 1 && exchange->sender.form->bytes == release->bytes &&
	       exchange->receiver.form == exchange->sender.form &&
	       exchange->sender.qpns[0] == release->sender_qpn &&
	       exchange->receiver.qpns[0] == release->receiver_qpn &&
	       exchange->sender.addr == release->fifo && told->connecting_port == 40000 &&
	       told->listening_port == 50000 && told->frames[0] == first &&
	       told->frames[1] == last && told->ts_ns == last * 1000 &&
	       memcmp(told->connecting.address, client_address, 16) == 0 &&
	       memcmp(told->listening.address, server_address, 16) == 0;
}

bool setup_is_contact(const struct play *play, const struct setup *setup, uint64_t frame)
{
	const struct ft_nccl_contact *contact = &play->contacts[0];

	return play->contact_count == 1 && contact->kind == FT_NCCL_CONTACT_SETUP &&
	       contact->frame == frame && contact->ts_ns == frame * 1000 &&
	       contact->magic == setup->release->magic && contact->connection == FT_NCCL_NONE &&
	       memcmp(contact->from.address, client_address, 16) == 0 &&
	       memcmp(contact->to.address, server_address, 16) == 0;
}

void setup_send_unready(struct play *play, struct setup *setup, const struct setup_release *release)
{
	setup_load(setup, release);
	setup_add_all(setup, 12, SETUP_MSS);
	setup->count--;
	play_open(play, 1);
	play_open_connection(play, 0);
	setup_send(play, setup);
	assert_int_equal(play->exchange_count, 0);
}
