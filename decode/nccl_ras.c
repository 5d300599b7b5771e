#include <decode/nccl_ras.h>

#include <stddef.h>

#include <decode/little_endian.h>

/* Offsets by type; 0: it has no such field. */
struct layout {
	uint8_t bytes; /* the least for PEERS_UPDATE, COLLECT and COLLECTED */
	uint8_t release_at, listen_at, hashes_at, links_at, nack_at, counts_at;
};

static const struct layout layouts[] = {
	[FT_NCCL_RAS_INIT] = { .bytes = 56, .release_at = 8, .listen_at = 12, .hashes_at = 40 },
	[FT_NCCL_RAS_INIT_ACK] = { .bytes = 12, .nack_at = 8 },
	[FT_NCCL_RAS_KEEP_ALIVE] = { .bytes = 56, .hashes_at = 8, .links_at = 24, .nack_at = 48 },
	[FT_NCCL_RAS_PEERS_UPDATE] = { .bytes = 32, .hashes_at = 8, .counts_at = 24 },
	[FT_NCCL_RAS_COLLECT] = { .bytes = 4 },
	[FT_NCCL_RAS_COLLECTED] = { .bytes = 4 },
};
enum { TYPES = sizeof layouts / sizeof layouts[0] };

enum {
	PEERS_AT = 32,
	PEER_BYTES = 64,
	PEER_PID_AT = 28,
	PEER_CUDA_AT = 32,
	PEER_NVML_AT = 40,
	PEER_HOST_AT = 48,
	PEER_PID_HASH_AT = 56,
};

static uint32_t number_at(const struct ft_nccl_body *body, uint8_t at)
{
	return at != 0 ? ft_le32(body->bytes + at) : 0;
}

static bool is_of_its_length(const struct ft_nccl_body *body, enum ft_nccl_ras_type type,
			     const struct ft_nccl_ras *ras)
{
	switch (type) {
	case FT_NCCL_RAS_COLLECT:
	case FT_NCCL_RAS_COLLECTED:
		return true;
	case FT_NCCL_RAS_PEERS_UPDATE:
		return body->length == PEERS_AT + (uint64_t)ras->peers * PEER_BYTES +
					       (uint64_t)ras->dead * FT_NCCL_ADDRESS_BYTES;
	default:
		return body->length == layouts[type].bytes;
	}
}

enum ft_nccl_verdict ft_nccl_ras_read(const struct ft_nccl_body *body, struct ft_nccl_ras *ras)
{
	uint32_t type = body->length >= 4 ? ft_le32(body->bytes) : 0;
	const struct layout *layout = &layouts[type < TYPES ? type : 0];
	struct ft_nccl_ras read = { .type = (enum ft_nccl_ras_type)type };

	if (layout->bytes == 0 || body->length < layout->bytes)
		return FT_NCCL_NOT;
	read.release = (int32_t)number_at(body, layout->release_at);
	read.nack = (int32_t)number_at(body, layout->nack_at);
	read.links = (int32_t)number_at(body, layout->links_at);
	if (layout->hashes_at != 0) {
		read.peers_hash = ft_le64(body->bytes + layout->hashes_at);
		read.dead_hash = ft_le64(body->bytes + layout->hashes_at + 8);
	}
	if (layout->counts_at != 0) {
		read.peers = ft_le32(body->bytes + layout->counts_at);
		read.dead = ft_le32(body->bytes + layout->counts_at + 4);
	}
	if (layout->listen_at != 0 &&
	    ft_nccl_address_read(body->bytes + layout->listen_at, FT_NCCL_ADDRESS_BYTES,
				 &read.listen) != FT_NCCL_READ)
		return FT_NCCL_NOT;
	if (!is_of_its_length(body, read.type, &read))
		return FT_NCCL_NOT;
	*ras = read;
	return FT_NCCL_READ;
}

static bool is_update(const struct ft_nccl_body *body, struct ft_nccl_ras *ras)
{
	return ft_nccl_ras_read(body, ras) == FT_NCCL_READ && ras->type == FT_NCCL_RAS_PEERS_UPDATE;
}

enum ft_nccl_verdict ft_nccl_ras_peer_read(const struct ft_nccl_body *body, uint32_t index,
					   struct ft_nccl_ras_peer *peer)
{
	struct ft_nccl_address listen;
	struct ft_nccl_ras update;
	const uint8_t *record;

	if (!is_update(body, &update) || index >= update.peers)
		return FT_NCCL_NOT;
	record = body->bytes + PEERS_AT + (size_t)index * PEER_BYTES;
	if (ft_nccl_address_read(record, FT_NCCL_ADDRESS_BYTES, &listen) != FT_NCCL_READ)
		return FT_NCCL_NOT;
	*peer = (struct ft_nccl_ras_peer){
		.listen = listen,
		.pid = (int32_t)ft_le32(record + PEER_PID_AT),
		.cuda_devices = ft_le64(record + PEER_CUDA_AT),
		.nvml_devices = ft_le64(record + PEER_NVML_AT),
		.host_hash = ft_le64(record + PEER_HOST_AT),
		.pid_hash = ft_le64(record + PEER_PID_HASH_AT),
	};
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_ras_dead_read(const struct ft_nccl_body *body, uint32_t index,
					   struct ft_nccl_address *dead)
{
	struct ft_nccl_ras update;
	size_t at;

	if (!is_update(body, &update) || index >= update.dead)
		return FT_NCCL_NOT;
	at = PEERS_AT + (size_t)update.peers * PEER_BYTES + (size_t)index * FT_NCCL_ADDRESS_BYTES;
	return ft_nccl_address_read(body->bytes + at, FT_NCCL_ADDRESS_BYTES, dead);
}
