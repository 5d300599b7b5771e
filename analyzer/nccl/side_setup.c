#include <string.h>

#include <decode/little_endian.h>

#include "side_parts.h"

/* The most that a side sends until the end of a set-up: 2.30; before there was a hello: 2.10. */
enum { LONGEST = 4629, LONGEST_BARE = 556, READY = 1 };

/* Both sides' messages; *is_whole: the last word too. */
struct sides {
	struct ft_nccl_setup connecting, listening;
	bool is_whole;
};

static bool is_too_long(const struct ft_nccl_stream *stream, uint32_t asked, uint32_t answered)
{
	uint32_t longest = stream->kind == FT_NCCL_STREAM_BARE ? LONGEST_BARE : LONGEST;

	return asked > longest || answered > longest;
}

/* A part of the bytes may add up to another release's, so only agreement tells. */
static enum ft_nccl_verdict agree(struct sides *sides, uint32_t asked)
{
	if (sides->connecting.form != sides->listening.form)
		return FT_NCCL_CUT;
	sides->is_whole = asked > sides->connecting.metadata_at + sides->connecting.form->bytes;
	return FT_NCCL_READ;
}

static enum ft_nccl_verdict find(const struct ft_nccl_stream *stream, struct sides *sides)
{
	const struct ft_nccl_half *client = &stream->halves[FT_NCCL_CLIENT];
	const struct ft_nccl_half *server = &stream->halves[FT_NCCL_SERVER];
	uint32_t asked = ft_nccl_half_ready(client), answered = ft_nccl_half_ready(server);

	if (is_too_long(stream, asked, answered))
		return FT_NCCL_NOT;
	if (ft_nccl_setup_find(FT_NCCL_CONNECTING, client->window, asked, &sides->connecting) !=
		    FT_NCCL_READ ||
	    ft_nccl_setup_find(FT_NCCL_LISTENING, server->window, answered, &sides->listening) !=
		    FT_NCCL_READ ||
	    agree(sides, asked) != FT_NCCL_READ)
		return FT_NCCL_CUT;
	if (sides->is_whole && ft_le32(client->window + asked - FT_NCCL_READY_BYTES) != READY)
		return FT_NCCL_NOT;
	return FT_NCCL_READ;
}

/* By how many bytes either side sent, of which slices left some. */
static enum ft_nccl_verdict find_cut(const struct ft_nccl_stream *stream, struct sides *sides)
{
	const struct ft_nccl_half *client = &stream->halves[FT_NCCL_CLIENT];
	const struct ft_nccl_half *server = &stream->halves[FT_NCCL_SERVER];
	uint32_t asked = (uint32_t)client->reached, answered = (uint32_t)server->reached;

	if (is_too_long(stream, asked, answered) ||
	    ft_nccl_setup_find_cut(FT_NCCL_CONNECTING, client->window, ft_nccl_half_ready(client),
				   asked, &sides->connecting) != FT_NCCL_READ ||
	    ft_nccl_setup_find_cut(FT_NCCL_LISTENING, server->window, ft_nccl_half_ready(server),
				   answered, &sides->listening) != FT_NCCL_READ)
		return FT_NCCL_CUT;
	return agree(sides, asked);
}

/* The other side, or a later number of its own, tells of bytes that were not captured: of the ready word. */
static bool is_past(const struct ft_nccl_stream *stream)
{
	const struct ft_nccl_half *client = &stream->halves[FT_NCCL_CLIENT];

	return client->reached > (int32_t)ft_nccl_half_ready(client);
}

/* A segment was missed; until the connection is over it may come late. */
static bool has_hole(const struct ft_nccl_stream *stream)
{
	return is_past(stream) ||
	       stream->halves[FT_NCCL_SERVER].reached >
		       (int32_t)ft_nccl_half_ready(&stream->halves[FT_NCCL_SERVER]);
}

static enum ft_nccl_verdict read_side(const struct ft_nccl_half *half,
				      const struct ft_nccl_setup *setup,
				      struct ft_nccl_metadata *metadata)
{
	return ft_nccl_metadata_read(setup->form, half->window + setup->metadata_at,
				     ft_nccl_half_ready(half) - setup->metadata_at, metadata);
}

static struct ft_nccl_exchange exchange_of(const struct ft_nccl_stream *stream)
{
	struct ft_nccl_exchange exchange = {
		.connecting_port = stream->pair.ports[FT_NCCL_CLIENT],
		.listening_port = stream->pair.ports[FT_NCCL_SERVER],
		.vni = stream->pair.vni,
		.vlan = stream->vlan,
		.frames = { stream->frames[0], stream->frames[1] },
		.ts_ns = stream->ts_ns,
	};

	memcpy(exchange.connecting.address, stream->pair.addresses[FT_NCCL_CLIENT],
	       sizeof exchange.connecting.address);
	memcpy(exchange.listening.address, stream->pair.addresses[FT_NCCL_SERVER],
	       sizeof exchange.listening.address);
	return exchange;
}

static enum ft_nccl_verdict read_first_qp(const struct ft_nccl_half *half,
					  const struct ft_nccl_setup *setup, uint32_t *qpn)
{
	return ft_nccl_first_qp_read(setup->form, half->window + setup->metadata_at,
				     ft_nccl_half_ready_at(half, setup->metadata_at), qpn);
}

/* By how much was sent, captured or not, and what is there of it. */
static enum ft_nccl_verdict read_cut(const struct ft_nccl_side_channel *side,
				     const struct ft_nccl_stream *stream, bool is_over)
{
	const struct ft_nccl_half *client = &stream->halves[FT_NCCL_CLIENT];
	const struct ft_nccl_half *server = &stream->halves[FT_NCCL_SERVER];
	struct ft_nccl_cut_exchange exchange = { .tcp = exchange_of(stream) };
	struct sides sides;

	if (!stream->is_cut) /* it is over: what ends it is no part of it */
		exchange.tcp.frames[1] = stream->sent_frame;
	if (find_cut(stream, &sides) != FT_NCCL_READ)
		return FT_NCCL_CUT;
	if (!sides.is_whole && (stream->kind == FT_NCCL_STREAM_BARE || !is_over))
		return FT_NCCL_CUT;
	if (read_first_qp(client, &sides.connecting, &exchange.sender_qpn) != FT_NCCL_READ ||
	    read_first_qp(server, &sides.listening, &exchange.receiver_qpn) != FT_NCCL_READ)
		return FT_NCCL_CUT;
	exchange.form = sides.connecting.form;
	if (side->sink.cut_exchange != NULL)
		side->sink.cut_exchange(side->sink.context, &exchange);
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_side_read_setup(const struct ft_nccl_side_channel *side,
					     struct ft_nccl_stream *stream, bool is_over)
{
	struct ft_nccl_exchange exchange = exchange_of(stream);
	struct ft_nccl_metadata sender, receiver;
	struct sides sides;
	enum ft_nccl_verdict verdict = find(stream, &sides);

	if (verdict == FT_NCCL_CUT && (stream->is_cut || (is_over && has_hole(stream))))
		return read_cut(side, stream, is_over);
	if (verdict != FT_NCCL_READ)
		return verdict;
	if (!sides.is_whole &&
	    (stream->kind == FT_NCCL_STREAM_BARE || (!is_over && !is_past(stream))))
		return FT_NCCL_CUT;
	if (read_side(&stream->halves[FT_NCCL_CLIENT], &sides.connecting, &sender) !=
		    FT_NCCL_READ ||
	    read_side(&stream->halves[FT_NCCL_SERVER], &sides.listening, &receiver) != FT_NCCL_READ)
		return FT_NCCL_NOT;
	exchange.sender = &sender;
	exchange.receiver = &receiver;
	ft_nccl_side_tell(side, stream, FT_NCCL_CONTACT_SETUP);
	if (side->sink.exchange != NULL)
		side->sink.exchange(side->sink.context, &exchange);
	return FT_NCCL_READ;
}
