#include "side_channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "side_parts.h"

int ft_nccl_side_create(struct ft_nccl_side_channel **side, const struct ft_nccl_config *config,
			const struct ft_nccl_side_sink *sink)
{
	struct ft_nccl_side_channel *made = calloc(1, sizeof *made);
	int error;

	if (made == NULL)
		return -ENOMEM;
	made->sink = *sink;
	error = ft_nccl_streams_create(&made->streams, config->streams, config->seed);
	if (error == 0)
		error = ft_nccl_processes_create(&made->processes, config->connections,
						 config->seed);
	if (error != 0) {
		ft_nccl_side_destroy(made);
		return error;
	}
	*side = made;
	return 0;
}

void ft_nccl_side_destroy(struct ft_nccl_side_channel *side)
{
	if (side == NULL)
		return;
	ft_nccl_processes_destroy(side->processes);
	ft_nccl_streams_destroy(side->streams);
	free(side);
}

void ft_nccl_side_tell(const struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream,
		       enum ft_nccl_contact_kind kind)
{
	struct ft_nccl_contact contact = {
		.kind = kind,
		.frame = stream->frames[1],
		.ts_ns = stream->ts_ns,
		.connection = FT_NCCL_NONE,
		.magic = stream->magic,
	};

	if (stream->is_told)
		return;
	stream->is_told = true;
	memcpy(contact.from.address, stream->pair.addresses[FT_NCCL_CLIENT],
	       sizeof contact.from.address);
	memcpy(contact.to.address, stream->pair.addresses[FT_NCCL_SERVER],
	       sizeof contact.to.address);
	if (side->sink.contact != NULL)
		side->sink.contact(side->sink.context, &contact);
}

/* What was told of stays known, so that a repeated segment does not tell it again. */
static void end(struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream)
{
	if (stream->is_told)
		stream->kind = FT_NCCL_STREAM_DONE;
	else
		ft_nccl_streams_forget(side->streams, stream);
}

/* Nothing more is to come. */
static void settle(const struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream)
{
	if (stream->kind == FT_NCCL_STREAM_SETUP &&
	    ft_nccl_side_read_setup(side, stream, true) == FT_NCCL_READ)
		stream->kind = FT_NCCL_STREAM_DONE;
}

static void settle_and_forget(struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream)
{
	settle(side, stream);
	ft_nccl_streams_forget(side->streams, stream);
}

static struct ft_nccl_stream *begin(struct ft_nccl_side_channel *side,
				    const struct ft_nccl_segment *segment, enum ft_nccl_end *sender)
{
	struct ft_nccl_stream *in_the_way;

	if (!segment->syn && !ft_nccl_beginning_is_known(segment) &&
	    !ft_nccl_side_is_check_in(segment) && !ft_nccl_side_is_keep_alive(segment))
		return NULL;
	in_the_way = ft_nccl_streams_in_the_way(side->streams);
	if (in_the_way != NULL)
		settle_and_forget(side, in_the_way);
	*sender = segment->syn && segment->ack ? FT_NCCL_SERVER : FT_NCCL_CLIENT;
	return ft_nccl_streams_add(side->streams, segment, *sender);
}

static bool begins_at(const struct ft_nccl_half *half, uint32_t sequence)
{
	return half->has_base && half->start == sequence;
}

enum { NEAR = 1 << 16 /* bytes that a segment may be from where its connection was joined */ };

static bool is_near(uint32_t one, uint32_t other)
{
	return one - other < NEAR || other - one < NEAR;
}

/* The same ends, but another connection: its first number is not the one we began with. */
static bool is_another(const struct ft_nccl_stream *stream, enum ft_nccl_end sender,
		       const struct ft_nccl_segment *segment)
{
	const struct ft_nccl_half *here = &stream->halves[sender],
				  *there = &stream->halves[!sender];
	const uint32_t first = segment->sequence + segment->syn;

	if (!here->has_base || begins_at(here, first) ||
	    (stream->is_joined && is_near(here->start, first)))
		return false;
	if (!segment->syn && !ft_nccl_beginning_is_known(segment))
		return !is_near(here->start, first) && ft_nccl_side_is_check_in(segment);
	/* a SYN knows better than what was inferred from the other side's */
	return !segment->syn || !segment->ack || !begins_at(there, segment->acknowledgment);
}

static struct ft_nccl_stream *stream_of(struct ft_nccl_side_channel *side,
					const struct ft_nccl_segment *segment,
					enum ft_nccl_end *sender)
{
	struct ft_nccl_stream *stream = ft_nccl_streams_find(side->streams, segment, sender);

	if (stream != NULL && is_another(stream, *sender, segment)) {
		settle_and_forget(side, stream);
		stream = NULL;
	}
	return stream != NULL ? stream : begin(side, segment, sender);
}

/*
 * Where both directions begin: behind a SYN; where the client's first bytes stand; and what a SYN or the client's first
 * segment acknowledges, because a server of NCCL does not speak first.
 */
static void learn_starts(struct ft_nccl_stream *stream, enum ft_nccl_end sender,
			 const struct ft_nccl_segment *segment)
{
	struct ft_nccl_half *here = &stream->halves[sender];
	struct ft_nccl_half *there = &stream->halves[!sender];

	if (segment->syn || (sender == FT_NCCL_CLIENT && ft_nccl_beginning_is_known(segment)))
		ft_nccl_half_start(here, segment->sequence + segment->syn);
	if (segment->ack && !there->has_base &&
	    (segment->syn || (sender == FT_NCCL_CLIENT && begins_at(here, segment->sequence))))
		ft_nccl_half_start(there, segment->acknowledgment);
	ft_nccl_half_reach(here, segment->sequence + segment->syn + segment->length);
	if (segment->ack)
		ft_nccl_half_reach(there, segment->acknowledgment);
}

/* The client's first bytes, seen as they come: nothing is copied of what is not NCCL's. */
static bool is_something_else(const struct ft_nccl_stream *stream, enum ft_nccl_end sender,
			      const struct ft_nccl_segment *segment)
{
	const struct ft_nccl_half *half = &stream->halves[sender];
	struct ft_nccl_beginning beginning;
	enum ft_nccl_verdict verdict;

	if (stream->kind != FT_NCCL_STREAM_NEW)
		return false;
	if (segment->rst || (segment->fin && segment->length == 0))
		return true;
	if (sender != FT_NCCL_CLIENT || segment->length == 0 || !half->has_base ||
	    segment->sequence + segment->syn != half->start)
		return false;
	verdict = ft_nccl_beginning_read(segment->payload, segment->captured, &beginning);
	return verdict == FT_NCCL_NOT ||
	       (verdict == FT_NCCL_CUT && segment->captured < segment->length);
}

static enum ft_nccl_verdict read_beginning(const struct ft_nccl_side_channel *side,
					   struct ft_nccl_stream *stream)
{
	static const enum ft_nccl_contact_kind contacts[] = {
		[FT_NCCL_STREAM_SETUP] = FT_NCCL_CONTACT_SETUP,
		[FT_NCCL_STREAM_BOOTSTRAP] = FT_NCCL_CONTACT_BOOTSTRAP,
		[FT_NCCL_STREAM_RAS] = FT_NCCL_CONTACT_RAS,
	};
	struct ft_nccl_half *client = &stream->halves[FT_NCCL_CLIENT];
	struct ft_nccl_beginning beginning;
	enum ft_nccl_verdict verdict =
		ft_nccl_beginning_read(client->window, ft_nccl_half_ready(client), &beginning);

	if (verdict != FT_NCCL_READ)
		return verdict;
	stream->kind = (uint8_t)beginning.kind;
	stream->magic = beginning.magic;
	if (beginning.is_sure)
		ft_nccl_side_tell(side, stream, contacts[beginning.kind]);
	if (beginning.kind == FT_NCCL_STREAM_RAS)
		ft_nccl_half_drop(client, FT_NCCL_HELLO_BYTES);
	return FT_NCCL_READ;
}

static enum ft_nccl_verdict read_bare(const struct ft_nccl_side_channel *side,
				      struct ft_nccl_stream *stream)
{
	if (ft_nccl_side_read_bootstrap(side, stream) == FT_NCCL_READ)
		return FT_NCCL_READ;
	return ft_nccl_side_read_setup(side, stream, false);
}

static enum ft_nccl_verdict read_on(const struct ft_nccl_side_channel *side,
				    struct ft_nccl_stream *stream, enum ft_nccl_end sender)
{
	if (stream->kind == FT_NCCL_STREAM_NEW) {
		enum ft_nccl_verdict verdict = read_beginning(side, stream);

		if (verdict != FT_NCCL_READ)
			return verdict;
	}
	switch ((enum ft_nccl_stream_kind)stream->kind) {
	case FT_NCCL_STREAM_BARE:
		return read_bare(side, stream);
	case FT_NCCL_STREAM_SETUP:
		return ft_nccl_side_read_setup(side, stream, false);
	case FT_NCCL_STREAM_BOOTSTRAP:
		return ft_nccl_side_read_bootstrap(side, stream);
	case FT_NCCL_STREAM_RAS:
		ft_nccl_side_read_ras(side, stream, sender);
		return FT_NCCL_CUT;
	default:
		return FT_NCCL_CUT;
	}
}

static void take(struct ft_nccl_stream *stream, enum ft_nccl_end sender,
		 const struct ft_nccl_segment *segment)
{
	struct ft_nccl_half *half = &stream->halves[sender];

	stream->is_cut |= segment->captured < segment->length;
	if (segment->length != 0)
		stream->sent_frame = segment->frame;
	if (segment->captured == 0)
		return;
	if (stream->kind == FT_NCCL_STREAM_RAS)
		ft_nccl_side_rejoin_ras(half, segment);
	if (half->has_base)
		ft_nccl_half_put(half, segment->sequence + segment->syn, segment->payload,
				 segment->captured);
}

/* It is not read with what came before: something in front of it was not captured, or not all of it. */
static bool stands_alone(const struct ft_nccl_stream *stream, enum ft_nccl_end sender,
			 const struct ft_nccl_segment *segment)
{
	const struct ft_nccl_half *client = &stream->halves[FT_NCCL_CLIENT];

	return (stream->kind == FT_NCCL_STREAM_NEW || stream->kind == FT_NCCL_STREAM_BARE ||
		stream->kind == FT_NCCL_STREAM_BOOTSTRAP) &&
	       (segment->captured < segment->length || !client->has_base ||
		sender == FT_NCCL_SERVER ||
		segment->sequence + segment->syn != client->base + ft_nccl_half_ready(client));
}

/* What tells by itself what the stream is. */
static void join_in_the_middle(const struct ft_nccl_side_channel *side,
			       struct ft_nccl_stream *stream, enum ft_nccl_end sender,
			       const struct ft_nccl_segment *segment)
{
	struct ft_nccl_half *half = &stream->halves[sender];

	if (!stands_alone(stream, sender, segment))
		return;
	ft_nccl_side_join_at_check_in(side, stream, segment);
	if (ft_nccl_side_is_keep_alive(segment)) {
		ft_nccl_side_tell(side, stream, FT_NCCL_CONTACT_RAS);
		stream->kind = FT_NCCL_STREAM_DONE;
	}
	stream->is_joined = stream->kind == FT_NCCL_STREAM_DONE && !half->has_base;
	if (stream->is_joined)
		ft_nccl_half_start(half, segment->sequence);
}

void ft_nccl_side_see(struct ft_nccl_side_channel *side, const struct ft_nccl_segment *segment)
{
	enum ft_nccl_end sender;
	struct ft_nccl_stream *stream = stream_of(side, segment, &sender);

	if (stream == NULL)
		return;
	stream->frames[1] = segment->frame;
	stream->ts_ns = segment->ts_ns;
	join_in_the_middle(side, stream, sender, segment);
	if (stream->kind == FT_NCCL_STREAM_DONE)
		return;
	learn_starts(stream, sender, segment);
	if (is_something_else(stream, sender, segment)) {
		ft_nccl_streams_forget(side->streams, stream);
		return;
	}
	take(stream, sender, segment);
	if (read_on(side, stream, sender) != FT_NCCL_CUT)
		end(side, stream);
	else if (segment->fin || segment->rst)
		settle(side, stream);
}

const struct ft_nccl_process *ft_nccl_side_processes(const struct ft_nccl_side_channel *side,
						     size_t *count)
{
	return ft_nccl_processes_report(side->processes, count);
}
