#include <string.h>

#include <capture/frame.h>
#include <decode/little_endian.h>
#include <decode/nccl_ras.h>

#include "side_parts.h"

enum {
	WINDOW_MOST = FT_NCCL_WINDOW - FT_NCCL_LENGTH_BYTES,
	LONGEST = 64 << 20, /* what a job of a million processes may send */
	TYPE_BYTES = 4,
	KEEP_ALIVE_BYTES = FT_NCCL_LENGTH_BYTES + 56, /* with its length */
	SECONDS_AT = FT_NCCL_LENGTH_BYTES + 32,
	NANOSECONDS_AT = SECONDS_AT + 8,
	NACK_AT = NANOSECONDS_AT + 8,  /* 0 or 1 */
	KEEP_ALIVE_READ = NACK_AT + 4, /* slices may leave no more */
	DAY_S = 86400,
	PATIENCE = 4, /* segments behind a hole until it is given up */
};

static struct ft_nccl_place place_of(const struct ft_nccl_address *address)
{
	struct ft_nccl_place place = { .by_lid = false };

	memcpy(place.address, address->ip, sizeof place.address);
	return place;
}

/* The server of a connection listens where it was called. */
static uint32_t server_process(const struct ft_nccl_side_channel *side,
			       const struct ft_nccl_stream *stream)
{
	struct ft_nccl_place place = { .by_lid = false };

	memcpy(place.address, stream->pair.addresses[FT_NCCL_SERVER], sizeof place.address);
	return ft_nccl_processes_listen(side->processes, &place, stream->pair.ports[FT_NCCL_SERVER],
					0, stream->frames[1]);
}

static void note_peers(const struct ft_nccl_side_channel *side, const struct ft_nccl_body *body,
		       const struct ft_nccl_ras *update, uint64_t frame)
{
	for (uint32_t i = 0; i < update->peers; i++) {
		struct ft_nccl_ras_peer peer;
		struct ft_nccl_place place;

		if (ft_nccl_ras_peer_read(body, i, &peer) != FT_NCCL_READ)
			continue;
		place = place_of(&peer.listen);
		ft_nccl_processes_listen(side->processes, &place, peer.listen.port, 0, frame);
	}
}

static void note_dead(const struct ft_nccl_side_channel *side, const struct ft_nccl_body *body,
		      const struct ft_nccl_ras *update, uint64_t frame)
{
	for (uint32_t i = 0; i < update->dead; i++) {
		struct ft_nccl_address dead;
		struct ft_nccl_place place;

		if (ft_nccl_ras_dead_read(body, i, &dead) != FT_NCCL_READ)
			continue;
		place = place_of(&dead);
		ft_nccl_processes_bury(side->processes, &place, dead.port, frame);
	}
}

/* False: it is no message. */
static bool note(const struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream,
		 enum ft_nccl_end sender, const struct ft_nccl_body *body)
{
	struct ft_nccl_half *half = &stream->halves[sender];
	struct ft_nccl_ras ras;

	if (ft_nccl_ras_read(body, &ras) != FT_NCCL_READ)
		return false;
	ft_nccl_side_tell(side, stream, FT_NCCL_CONTACT_RAS);
	if (ras.type == FT_NCCL_RAS_INIT) {
		struct ft_nccl_place place = place_of(&ras.listen);

		half->process = ft_nccl_processes_listen(side->processes, &place, ras.listen.port,
							 ras.release, stream->frames[1]);
	} else if (sender == FT_NCCL_SERVER && half->process == FT_NCCL_NONE) {
		half->process = server_process(side, stream);
	}
	ft_nccl_processes_see(side->processes, half->process, stream->frames[1]);
	if (ras.type == FT_NCCL_RAS_PEERS_UPDATE) {
		note_peers(side, body, &ras, stream->frames[1]);
		note_dead(side, body, &ras, stream->frames[1]);
	}
	return true;
}

/* As far as the first words tell: longer than the window are only messages of some types. */
static bool is_message(const uint8_t *bytes)
{
	uint32_t length = ft_le32(bytes), type = ft_le32(bytes + FT_NCCL_LENGTH_BYTES);

	return length >= TYPE_BYTES && length <= LONGEST && type >= FT_NCCL_RAS_INIT &&
	       type <= FT_NCCL_RAS_COLLECTED &&
	       (length <= WINDOW_MOST || type >= FT_NCCL_RAS_PEERS_UPDATE);
}

/* False: nothing more to be read now. */
static bool read_message(const struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream,
			 enum ft_nccl_end sender)
{
	struct ft_nccl_half *half = &stream->halves[sender];
	uint32_t ready = ft_nccl_half_ready(half);
	struct ft_nccl_body body;
	enum ft_nccl_verdict verdict;

	if (ready < FT_NCCL_LENGTH_BYTES + TYPE_BYTES)
		return false;
	verdict = ft_nccl_body_take(half->window, ready, WINDOW_MOST, &body);
	half->is_lost = !is_message(half->window) ||
			(verdict == FT_NCCL_READ && !note(side, stream, sender, &body));
	if (half->is_lost || verdict == FT_NCCL_CUT)
		return false;
	ft_nccl_half_drop(half, FT_NCCL_LENGTH_BYTES + ft_le32(half->window));
	return true;
}

void ft_nccl_side_read_ras(const struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream,
			   enum ft_nccl_end sender)
{
	while (read_message(side, stream, sender))
		;
}

void ft_nccl_side_rejoin_ras(struct ft_nccl_half *half, const struct ft_nccl_segment *segment)
{
	bool is_ahead = half->has_base && (int32_t)(segment->sequence - half->base) >
						  (int32_t)ft_nccl_half_ready(half);

	if (is_ahead)
		half->waited++;
	if (!half->has_base || half->is_lost || half->waited >= PATIENCE)
		ft_nccl_half_restart(half, segment->sequence);
}

static bool is_within_a_day(uint64_t seconds, uint64_t ts_ns)
{
	uint64_t now = ts_ns / 1000000000;

	return ts_ns != FT_TS_UNKNOWN && (seconds > now ? seconds - now : now - seconds) < DAY_S;
}

bool ft_nccl_side_is_keep_alive(const struct ft_nccl_segment *segment)
{
	const uint8_t *b = segment->payload;

	return segment->captured >= KEEP_ALIVE_READ && segment->length == KEEP_ALIVE_BYTES &&
	       ft_le32(b) == KEEP_ALIVE_BYTES - FT_NCCL_LENGTH_BYTES &&
	       ft_le32(b + FT_NCCL_LENGTH_BYTES) == FT_NCCL_RAS_KEEP_ALIVE &&
	       ft_le64(b + NANOSECONDS_AT) < 1000000000 && ft_le32(b + NACK_AT) <= 1 &&
	       is_within_a_day(ft_le64(b + SECONDS_AT), segment->ts_ns);
}
