#include "streams.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <flow/reserve.h>

enum { NONE = UINT32_MAX, BUCKETS_PER_STREAM = 4 };
enum { NEAR = 1 << 16 /* bytes that TCP's numbers may be from what was seen of a connection */ };

static_assert(sizeof(struct ft_nccl_pair) == 40, "padding would be compared");

/* What a look-up asks first, apart from the slots so that it stays in the cache. */
struct link {
	uint32_t hash, next;
};

struct ft_nccl_streams {
	uint32_t most, used; /* slots; used ever */
	uint32_t idlest, freshest, free;
	uint32_t mask; /* of the buckets */
	uint64_t seed;
	uint32_t *buckets;
	struct link *links; /* of the slots */
	struct ft_nccl_stream *slots;
	uint8_t *windows;
};

static size_t window_bytes(const struct ft_nccl_streams *streams)
{
	return (size_t)streams->most * FT_NCCL_ENDS * FT_NCCL_WINDOW;
}

static bool take_memory(struct ft_nccl_streams *streams)
{
	size_t buckets = BUCKETS_PER_STREAM;

	while (buckets < (size_t)streams->most * BUCKETS_PER_STREAM)
		buckets *= 2;
	streams->mask = (uint32_t)(buckets - 1);
	streams->buckets = malloc(buckets * sizeof *streams->buckets);
	streams->links = calloc(streams->most, sizeof *streams->links);
	streams->slots = calloc(streams->most, sizeof *streams->slots);
	streams->windows = ft_reserve(window_bytes(streams));
	if (streams->buckets == NULL || streams->links == NULL || streams->slots == NULL ||
	    streams->windows == NULL)
		return false;
	memset(streams->buckets, 0xff, buckets * sizeof *streams->buckets);
	return true;
}

int ft_nccl_streams_create(struct ft_nccl_streams **streams, uint32_t most, uint64_t seed)
{
	struct ft_nccl_streams *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	*made = (struct ft_nccl_streams){
		.most = most, .idlest = NONE, .freshest = NONE, .free = NONE, .seed = seed
	};
	if (most > 0 && !take_memory(made)) {
		ft_nccl_streams_destroy(made);
		return -ENOMEM;
	}
	*streams = made;
	return 0;
}

void ft_nccl_streams_destroy(struct ft_nccl_streams *streams)
{
	if (streams == NULL)
		return;
	if (streams->windows != NULL)
		ft_release(streams->windows, window_bytes(streams));
	free(streams->slots);
	free(streams->links);
	free(streams->buckets);
	free(streams);
}

static uint64_t end_hash(const uint8_t address[16], uint16_t port, uint64_t seed)
{
	uint64_t words[2];

	memcpy(words, address, sizeof words);
	return ft_hash_step(ft_hash_begin(port, seed), words[0], words[1], seed);
}

/* The sum, so that both directions meet. */
static uint32_t hash_of(const struct ft_nccl_streams *streams,
			const struct ft_nccl_segment *segment)
{
	uint64_t sum = end_hash(segment->src, segment->sport, streams->seed) +
		       end_hash(segment->dst, segment->dport, streams->seed);

	return (uint32_t)(sum ^ sum >> 32);
}

static struct ft_nccl_pair pair_of(const struct ft_nccl_segment *segment, enum ft_nccl_end sender)
{
	struct ft_nccl_pair pair = { .vni = segment->vni };

	memcpy(pair.addresses[sender], segment->src, sizeof segment->src);
	memcpy(pair.addresses[!sender], segment->dst, sizeof segment->dst);
	pair.ports[sender] = segment->sport;
	pair.ports[!sender] = segment->dport;
	return pair;
}

static bool are_same(const struct ft_nccl_pair *a, const struct ft_nccl_pair *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

static bool is_of(const struct ft_nccl_stream *stream, const struct ft_nccl_segment *segment,
		  enum ft_nccl_end *sender)
{
	struct ft_nccl_pair forth = pair_of(segment, FT_NCCL_CLIENT);
	struct ft_nccl_pair back = pair_of(segment, FT_NCCL_SERVER);

	*sender = are_same(&stream->pair, &forth) ? FT_NCCL_CLIENT : FT_NCCL_SERVER;
	return *sender == FT_NCCL_CLIENT || are_same(&stream->pair, &back);
}

static uint32_t number_of(const struct ft_nccl_streams *streams,
			  const struct ft_nccl_stream *stream)
{
	return (uint32_t)(stream - streams->slots);
}

static void leave_order(struct ft_nccl_streams *streams, const struct ft_nccl_stream *stream)
{
	uint32_t *older =
		stream->older == NONE ? &streams->idlest : &streams->slots[stream->older].newer;
	uint32_t *newer =
		stream->newer == NONE ? &streams->freshest : &streams->slots[stream->newer].older;

	*older = stream->newer;
	*newer = stream->older;
}

static void enter_order(struct ft_nccl_streams *streams, struct ft_nccl_stream *stream)
{
	uint32_t number = number_of(streams, stream);

	stream->older = streams->freshest;
	stream->newer = NONE;
	if (streams->freshest == NONE)
		streams->idlest = number;
	else
		streams->slots[streams->freshest].newer = number;
	streams->freshest = number;
}

static bool is_near(const struct ft_nccl_half *half, uint32_t sequence)
{
	const int32_t behind_base = (int32_t)(sequence - half->base);
	const int32_t behind_reached = behind_base - half->reached;

	return (behind_base > -NEAR && behind_base < NEAR) ||
	       (behind_reached > -NEAR && behind_reached < NEAR);
}

/* By its numbers it goes on with the connection, as far as those are known. */
static bool goes_on(const struct ft_nccl_stream *stream, const struct ft_nccl_segment *segment,
		    enum ft_nccl_end sender)
{
	const struct ft_nccl_half *here = &stream->halves[sender];
	const struct ft_nccl_half *there = &stream->halves[!sender];
	bool is_told_there = there->has_base && segment->ack;

	return (here->has_base && is_near(here, segment->sequence)) ||
	       (is_told_there && is_near(there, segment->acknowledgment)) ||
	       (!here->has_base && !is_told_there);
}

/* In its VLAN; or in another one, which a router or a mirror may put it in, if its numbers go on there. */
static struct ft_nccl_stream *stream_of(const struct ft_nccl_streams *streams,
					const struct ft_nccl_segment *segment,
					enum ft_nccl_end *sender)
{
	uint32_t hash = hash_of(streams, segment), at = streams->buckets[hash & streams->mask];
	struct ft_nccl_stream *elsewhere = NULL;
	enum ft_nccl_end end;

	for (; at != NONE; at = streams->links[at].next) {
		struct ft_nccl_stream *stream = &streams->slots[at];

		if (streams->links[at].hash != hash || !is_of(stream, segment, &end))
			continue;
		if (stream->vlan != segment->vlan &&
		    (elsewhere != NULL || !goes_on(stream, segment, end)))
			continue;
		*sender = end;
		if (stream->vlan == segment->vlan)
			return stream;
		elsewhere = stream;
	}
	return elsewhere;
}

struct ft_nccl_stream *ft_nccl_streams_find(struct ft_nccl_streams *streams,
					    const struct ft_nccl_segment *segment,
					    enum ft_nccl_end *sender)
{
	struct ft_nccl_stream *stream =
		streams->used != 0 ? stream_of(streams, segment, sender) : NULL;

	if (stream != NULL) {
		leave_order(streams, stream);
		enter_order(streams, stream);
	}
	return stream;
}

struct ft_nccl_stream *ft_nccl_streams_in_the_way(struct ft_nccl_streams *streams)
{
	if (streams->free != NONE || streams->used < streams->most || streams->most == 0)
		return NULL;
	return &streams->slots[streams->idlest];
}

static struct ft_nccl_stream *take_slot(struct ft_nccl_streams *streams)
{
	struct ft_nccl_stream *stream;

	if (streams->free == NONE)
		return streams->used < streams->most ? &streams->slots[streams->used++] : NULL;
	stream = &streams->slots[streams->free];
	streams->free = streams->links[streams->free].next;
	return stream;
}

struct ft_nccl_stream *ft_nccl_streams_add(struct ft_nccl_streams *streams,
					   const struct ft_nccl_segment *segment,
					   enum ft_nccl_end sender)
{
	struct ft_nccl_stream *stream = take_slot(streams);
	uint32_t number, *bucket;

	if (stream == NULL)
		return NULL;
	number = number_of(streams, stream);
	*stream = (struct ft_nccl_stream){ .pair = pair_of(segment, sender),
					   .vlan = segment->vlan,
					   .frames = { segment->frame, segment->frame } };
	for (unsigned end = 0; end < FT_NCCL_ENDS; end++) {
		size_t window = (size_t)number * FT_NCCL_ENDS + end;

		stream->halves[end].window = streams->windows + window * FT_NCCL_WINDOW;
		stream->halves[end].process = FT_NCCL_NONE;
	}
	streams->links[number].hash = hash_of(streams, segment);
	bucket = &streams->buckets[streams->links[number].hash & streams->mask];
	streams->links[number].next = *bucket;
	*bucket = number;
	enter_order(streams, stream);
	return stream;
}

void ft_nccl_streams_forget(struct ft_nccl_streams *streams, struct ft_nccl_stream *stream)
{
	uint32_t number = number_of(streams, stream);
	uint32_t *next = &streams->buckets[streams->links[number].hash & streams->mask];

	while (*next != number)
		next = &streams->links[*next].next;
	*next = streams->links[number].next;
	leave_order(streams, stream);
	streams->links[number].next = streams->free;
	streams->free = number;
}
