/*
 * Any bytes as a message of the bootstrap or of RAS: a body lies inside them, an output is written only when it is
 * read, and as many peers and dead ones are within an update as it counts.
 */
#undef NDEBUG
#include <assert.h>

#include <decode/nccl_ras.h>

#include "../holds.h"

enum { UNTOUCHED = 77, LOOKED_AT = 4 };

static bool is_address(const struct ft_nccl_address *address)
{
	return address->version == 4 || address->version == 6;
}

static void ring_holds(const struct ft_nccl_body *body)
{
	struct ft_nccl_ring_block block = { .minor_last = UNTOUCHED };
	struct ft_nccl_address next = { .version = UNTOUCHED };

	if (ft_nccl_ring_block_read(body, &block) == FT_NCCL_READ)
		assert(block.minor_first <= block.minor_last && is_address(&block.peer) &&
		       block.has_proxy == (body->length >= 64) &&
		       block.has_ras == (body->length == 120) &&
		       (!block.has_proxy || is_address(&block.proxy)) &&
		       (!block.has_ras || is_address(&block.ras.listen)));
	else
		assert(block.minor_last == UNTOUCHED);
	if (ft_nccl_next_read(body, &next) == FT_NCCL_READ)
		assert(body->length >= FT_NCCL_ADDRESS_BYTES && is_address(&next));
	else
		assert(next.version == UNTOUCHED);
}

/* Of a body twice as long as what there is of it. */
static void front_holds(const struct ft_nccl_body *body)
{
	const struct ft_nccl_body longer = { body->bytes, body->length * 2 };
	struct ft_nccl_check_in in = { .rank = UNTOUCHED };

	if (ft_nccl_check_in_read_front(&longer, body->length, &in) == FT_NCCL_READ)
		assert(in.rank >= 0 && in.rank < in.ranks && in.root >= 0 && in.root < in.roots &&
		       in.address_count == 1 && is_address(&in.listen_root));
	else
		assert(in.rank == UNTOUCHED);
}

static void bootstrap_holds(const struct ft_nccl_body *body)
{
	struct ft_nccl_check_in in = { .rank = UNTOUCHED };
	struct ft_nccl_sender sender = { .tag = UNTOUCHED };

	if (ft_nccl_check_in_read(body, &in) == FT_NCCL_READ)
		assert(in.rank >= 0 && in.rank < in.ranks && in.root >= 0 && in.root < in.roots &&
		       in.minor_first <= in.minor_last && in.address_count <= 2);
	else
		assert(in.rank == UNTOUCHED);
	if (ft_nccl_sender_read(body, &sender) == FT_NCCL_READ)
		assert(body->length == 8 && sender.rank >= 0);
	else
		assert(sender.tag == UNTOUCHED);
	front_holds(body);
	ring_holds(body);
}

static void records_hold(const struct ft_nccl_body *body, const struct ft_nccl_ras *ras)
{
	struct ft_nccl_address dead;
	struct ft_nccl_ras_peer peer;

	assert(ras->type == FT_NCCL_RAS_PEERS_UPDATE || (ras->peers == 0 && ras->dead == 0));
	assert(ras->peers <= body->length / 64 && ras->dead <= body->length / 28);
	assert(ft_nccl_ras_peer_read(body, ras->peers, &peer) == FT_NCCL_NOT);
	assert(ft_nccl_ras_dead_read(body, ras->dead, &dead) == FT_NCCL_NOT);
	for (uint32_t i = 0; i < LOOKED_AT && i < ras->peers; i++) {
		if (ft_nccl_ras_peer_read(body, ras->peers - 1 - i, &peer) == FT_NCCL_READ)
			assert(peer.listen.version == 4 || peer.listen.version == 6);
	}
	for (uint32_t i = 0; i < LOOKED_AT && i < ras->dead; i++) {
		if (ft_nccl_ras_dead_read(body, ras->dead - 1 - i, &dead) == FT_NCCL_READ)
			assert(dead.version == 4 || dead.version == 6);
	}
}

static void body_holds(const struct ft_nccl_body *body)
{
	struct ft_nccl_ras ras = { .links = UNTOUCHED };

	bootstrap_holds(body);
	if (ft_nccl_ras_read(body, &ras) != FT_NCCL_READ) {
		assert(ras.links == UNTOUCHED);
		return;
	}
	assert(ras.type >= FT_NCCL_RAS_INIT && ras.type <= FT_NCCL_RAS_COLLECTED);
	records_hold(body, &ras);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_nccl_body whole = { bytes, (uint32_t)size }, body = { .length = UNTOUCHED };
	enum ft_nccl_verdict verdict = ft_nccl_body_take(bytes, (uint32_t)size, 65536, &body);

	body_holds(&whole);
	if (verdict != FT_NCCL_READ) {
		assert(body.length == UNTOUCHED);
		return;
	}
	assert(body.bytes == bytes + 4 && body.length <= size - 4);
	body_holds(&body);
}
