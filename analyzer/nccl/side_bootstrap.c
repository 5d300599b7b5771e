#include <string.h>

#include <decode/little_endian.h>
#include <decode/nccl_ras.h>

#include "side_parts.h"

static struct ft_nccl_place client_of(const struct ft_nccl_stream *stream)
{
	struct ft_nccl_place place = { .by_lid = false };

	memcpy(place.address, stream->pair.addresses[FT_NCCL_CLIENT], sizeof place.address);
	return place;
}

/* Where a process listens is where it is; releases before 2.8 do not say. */
static struct ft_nccl_place place_of(const struct ft_nccl_stream *stream,
				     const struct ft_nccl_check_in *check_in)
{
	struct ft_nccl_place place = client_of(stream);

	if (check_in->address_count > 0)
		memcpy(place.address, check_in->listen_root.ip, sizeof place.address);
	return place;
}

static void note(const struct ft_nccl_side_channel *side, const struct ft_nccl_stream *stream,
		 const struct ft_nccl_check_in *check_in)
{
	struct ft_nccl_place place = place_of(stream, check_in);

	ft_nccl_processes_check_in(side->processes, &place, check_in->rank, check_in->ranks,
				   stream->frames[1]);
}

/* Messages without a rank; a ring's block says where its sender listens for RAS. */
static bool note_other(const struct ft_nccl_side_channel *side, const struct ft_nccl_stream *stream,
		       const struct ft_nccl_body *body)
{
	struct ft_nccl_ring_block block;
	struct ft_nccl_address next;
	struct ft_nccl_sender sender;

	if (ft_nccl_ring_block_read(body, &block) == FT_NCCL_READ) {
		struct ft_nccl_place place = { .by_lid = false };

		memcpy(place.address, block.ras.listen.ip, sizeof place.address);
		if (block.has_ras)
			ft_nccl_processes_listen(side->processes, &place, block.ras.listen.port, 0,
						 stream->frames[1]);
		return true;
	}
	return ft_nccl_next_read(body, &next) == FT_NCCL_READ ||
	       ft_nccl_sender_read(body, &sender) == FT_NCCL_READ;
}

/* Only the client's first message is looked at; what follows in a ring is of its own and long. */
enum ft_nccl_verdict ft_nccl_side_read_bootstrap(const struct ft_nccl_side_channel *side,
						 struct ft_nccl_stream *stream)
{
	const struct ft_nccl_half *client = &stream->halves[FT_NCCL_CLIENT];
	uint32_t at = stream->kind == FT_NCCL_STREAM_BARE ? 0 : FT_NCCL_HELLO_BYTES;
	uint32_t size = ft_nccl_half_ready(client) - at;
	uint32_t most = FT_NCCL_WINDOW - FT_NCCL_HELLO_BYTES - FT_NCCL_LENGTH_BYTES;
	struct ft_nccl_check_in check_in;
	struct ft_nccl_body body;
	enum ft_nccl_verdict verdict = ft_nccl_body_take(client->window + at, size, most, &body);

	if (verdict != FT_NCCL_READ)
		return verdict;
	/* without a hello metadata may look like one, but goes on */
	if (stream->kind == FT_NCCL_STREAM_BARE && size > FT_NCCL_LENGTH_BYTES + body.length)
		return FT_NCCL_NOT;
	if (ft_nccl_check_in_read(&body, &check_in) == FT_NCCL_READ)
		note(side, stream, &check_in);
	else if (stream->kind == FT_NCCL_STREAM_BARE || !note_other(side, stream, &body))
		return FT_NCCL_NOT;
	ft_nccl_side_tell(side, stream, FT_NCCL_CONTACT_BOOTSTRAP);
	return FT_NCCL_READ;
}

/* What a segment has of a check-in in front of the body: nothing; its length; the kind of socket; a hello. */
enum { LONGEST_AHEAD = FT_NCCL_HELLO_BYTES + FT_NCCL_LENGTH_BYTES };

static bool is_ahead(const uint8_t *bytes, uint32_t ahead, uint32_t length)
{
	if (ahead == 0)
		return true;
	if (ft_le32(bytes + ahead - FT_NCCL_LENGTH_BYTES) != length)
		return false;
	return ahead == FT_NCCL_LENGTH_BYTES ||
	       ft_le32(bytes + ahead - FT_NCCL_LENGTH_BYTES - 4) == FT_NCCL_SOCKET_BOOTSTRAP;
}

/* A slice may have left the front of it. */
static bool is_read(const struct ft_nccl_body *body, uint32_t captured,
		    struct ft_nccl_check_in *check_in)
{
	return (captured == body->length
			? ft_nccl_check_in_read(body, check_in)
			: ft_nccl_check_in_read_front(body, captured, check_in)) == FT_NCCL_READ;
}

/*
 * The segment ends with a check-in of 2.8 or later, of a process that listens at the address that it comes from. The magic
 * is 0 where it is not there.
 */
static bool is_filled(const struct ft_nccl_segment *segment, struct ft_nccl_check_in *check_in,
		      uint64_t *magic)
{
	static const uint8_t lengths[] = { 64, 172, 176 };
	static const uint8_t aheads[] = { 0, FT_NCCL_LENGTH_BYTES, FT_NCCL_LENGTH_BYTES + 4,
					  LONGEST_AHEAD };

	for (size_t i = 0; i < sizeof lengths * sizeof aheads; i++) {
		uint32_t length = lengths[i / sizeof aheads], ahead = aheads[i % sizeof aheads];
		struct ft_nccl_body body;

		if (segment->length != ahead + length || segment->captured < ahead)
			continue;
		body = (struct ft_nccl_body){ segment->payload + ahead, length };
		if (is_ahead(segment->payload, ahead, length) &&
		    is_read(&body, segment->captured - ahead, check_in) &&
		    memcmp(check_in->listen_root.ip, segment->src, sizeof segment->src) == 0) {
			*magic = ahead == LONGEST_AHEAD ? ft_le64(segment->payload) : 0;
			return true;
		}
	}
	return false;
}

bool ft_nccl_side_is_check_in(const struct ft_nccl_segment *segment)
{
	struct ft_nccl_check_in check_in;
	uint64_t magic;

	return is_filled(segment, &check_in, &magic);
}

void ft_nccl_side_join_at_check_in(const struct ft_nccl_side_channel *side,
				   struct ft_nccl_stream *stream,
				   const struct ft_nccl_segment *segment)
{
	struct ft_nccl_check_in check_in;
	uint64_t magic;

	if (!is_filled(segment, &check_in, &magic))
		return;
	if (magic != 0)
		stream->magic = magic;
	note(side, stream, &check_in);
	ft_nccl_side_tell(side, stream, FT_NCCL_CONTACT_BOOTSTRAP);
	stream->kind = FT_NCCL_STREAM_DONE;
}
