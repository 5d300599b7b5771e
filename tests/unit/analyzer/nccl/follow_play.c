#include "follow_play.h"

#include <stdlib.h>

static void note_found(void *context, const struct ft_nccl_found *found)
{
	struct follow *follow = context;

	assert_true(follow->found_count < FOUND_MAX);
	follow->found[follow->found_count++] = *found;
}

static void note_contact(void *context, const struct ft_nccl_contact *contact)
{
	struct follow *follow = context;

	assert_int_equal(contact->kind, FT_NCCL_CONTACT_CONNECTION);
	assert_int_equal(contact->from.address[15], SENDER);
	assert_int_equal(contact->to.address[15], RECEIVER);
	follow->contact_count++;
}

struct follow *follow_start_with(char family, const struct ft_nccl_config *config)
{
	struct follow *follow = calloc(1, sizeof *follow);
	const struct ft_nccl_sink sink = { .found = note_found,
					   .contact = note_contact,
					   .context = follow };

	assert_non_null(follow);
	follow->family = family;
	assert_int_equal(ft_nccl_qps_create(&follow->qps, 64, 1), 0);
	assert_int_equal(
		ft_nccl_connections_create(&follow->connections, config, follow->qps, &sink), 0);
	return follow;
}

struct follow *follow_start(char family)
{
	const struct ft_nccl_config config = FT_NCCL_DEFAULTS;

	return follow_start_with(family, &config);
}

void follow_stop(struct follow *follow)
{
	ft_nccl_connections_destroy(follow->connections);
	ft_nccl_qps_destroy(follow->qps);
	free(follow);
}

void follow_keep(struct follow *follow)
{
	assert_int_equal(ft_nccl_connections_keep(follow->connections, &follow->kept), 0);
}

const struct ft_nccl_message *follow_message(const struct follow *follow, uint64_t k)
{
	const struct ft_nccl_message *found = NULL;

	for (size_t i = 0; i < follow->kept.message_count; i++) {
		if (!follow->kept.messages[i].has_k || follow->kept.messages[i].k != k)
			continue;
		assert_null(found); /* once each */
		found = &follow->kept.messages[i];
	}
	assert_non_null(found);
	return found;
}

uint64_t follow_packet(struct follow *follow, const struct packet *packet)
{
	struct ft_nccl_seen seen = seen_of(packet, ++follow->frame);

	seen.ends.vni = follow->vni != 0 ? follow->vni : UINT32_MAX;
	seen.vlan = follow->vlan;
	ft_nccl_connections_see(follow->connections, &seen, NULL);
	return follow->frame;
}

struct packet cts_of(const struct follow *follow, uint64_t k)
{
	return clear_to_send(follow->family, k, follow->cts_psn);
}

uint64_t ask(struct follow *follow, uint64_t k)
{
	struct packet packet = cts_of(follow, k);

	follow->cts_psn++;
	return follow_packet(follow, &packet);
}

uint32_t packets_in(uint32_t length)
{
	return length == 0 ? 1 : (length + MTU - 1) / MTU;
}

struct packet data_of(const struct follow *follow, uint64_t k, uint32_t length, uint32_t at)
{
	uint32_t count = packets_in(length);
	bool is_first = at == 0, is_last = at + 1 == count;
	struct packet packet = {
		.from = SENDER,
		.to = RECEIVER,
		.opcode = is_first ? (is_last ? 0x0b : 0x06) : (is_last ? 0x09 : 0x07),
		.qpn = RECEIVER_QP,
		.psn = follow->data_psn + at,
		.va = buffer_of(k),
		.rkey = DATA_KEY,
		.length = length,
		.immdt = length,
		.payload = is_last ? length - at * MTU : MTU,
	};

	return packet;
}

uint64_t answer_without(struct follow *follow, uint64_t k, uint32_t length, uint64_t missing)
{
	uint64_t frame = 0;

	for (uint32_t i = 0; i < packets_in(length); i++) {
		struct packet packet = data_of(follow, k, length, i);

		if ((missing >> i & 1) == 0)
			frame = follow_packet(follow, &packet);
	}
	follow->data_psn += packets_in(length);
	return frame;
}

uint64_t answer(struct follow *follow, uint64_t k, uint32_t length)
{
	return answer_without(follow, k, length, 0);
}

void acknowledge_both(struct follow *follow)
{
	follow_packet(follow, &(struct packet){ .from = SENDER,
						.to = RECEIVER,
						.opcode = 0x11,
						.qpn = RECEIVER_QP,
						.psn = follow->cts_psn - 1 });
	follow_packet(follow, &(struct packet){ .from = RECEIVER,
						.to = SENDER,
						.opcode = 0x11,
						.qpn = SENDER_QP,
						.psn = follow->data_psn - 1 });
}

void converse(struct follow *follow, uint64_t from, uint64_t count)
{
	for (uint64_t k = from; k < from + count; k++) {
		ask(follow, k);
		answer(follow, k, 1500 + (uint32_t)k % 64 * 256);
	}
}

struct follow *follow_start_behind(uint64_t count)
{
	struct follow *follow = follow_start('E');

	converse(follow, 0, count);
	acknowledge_both(follow);
	ask(follow, count);
	return follow;
}

void follow_set_up(struct follow *follow, uint64_t fifo, uint8_t queue_pairs, uint32_t vni)
{
	const struct set_up set_up = {
		.queue_pairs = queue_pairs,
		.metadata_bytes = 3648,
		.fifo = fifo,
		.vni = vni,
		.frames = { follow->frame + 1, follow->frame + 9 },
	};

	follow->frame += 9;
	learn_set_up(follow->connections, &set_up);
}

const struct ft_nccl_connection *follow_kept(struct follow *follow, size_t at, size_t count)
{
	follow_keep(follow);
	assert_int_equal(follow->kept.connection_count, count);
	return follow->kept.connections[at];
}
