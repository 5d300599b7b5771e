#undef NDEBUG /* the promises are the point, in every build */

#include "walk.h"

#include <capture/source.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BURST_MAX = 64, CAPTURED_MAX = 262144 };

struct burst {
	struct ft_frame frames[BURST_MAX];
	int count;
};

static uint64_t mix(uint64_t digest, uint64_t value)
{
	return (digest ^ value) * 0x9e3779b97f4a7c15u + (digest >> 29);
}

static uint64_t digest_frame(uint64_t digest, const struct ft_frame *frame)
{
	for (uint32_t i = 0; i < frame->captured; i++)
		digest = mix(digest, frame->bytes[i]);
	digest = mix(digest, frame->captured);
	digest = mix(digest, frame->original);
	digest = mix(digest, frame->wire);
	digest = mix(digest, frame->ts_ns);
	digest = mix(digest, (uint64_t)frame->link_type << 16 | (uint64_t)frame->direction << 8 |
				     frame->fcs_bytes);
	return mix(digest, (uint64_t)frame->section << 32 | frame->interface);
}

static void check_frame(const struct ft_frame *frame, uint64_t number)
{
	assert(frame->number == number);
	assert(frame->captured <= frame->original);
	assert(frame->captured <= CAPTURED_MAX);
	assert(frame->direction <= FT_DIRECTION_OUT);
	assert(frame->fcs_bytes == 0 || frame->fcs_bytes == 4);
	assert(frame->input == 0);
	assert(frame->is_pcapng || (frame->section == 0 && frame->interface == 0));
	assert(frame->wire == frame->original || frame->link_type == FT_LINK_ERF);
}

static void check_complaint(const struct ft_source_complaint *complaint)
{
	assert(memchr(complaint->text, '\0', sizeof complaint->text) != NULL);
	assert(complaint->text[0] != '\0');
	assert(strchr(complaint->text, '\n') == NULL);
}

static void check_input(const struct ft_source_input *known, const struct walk *walk)
{
	assert(known->frames == walk->frames);
	assert(known->bytes == walk->wire);
	assert(known->first_ts_ns <= known->last_ts_ns);
	assert(known->link_type_count <= 16);
	assert((known->link_type_count == 0) == (walk->frames == 0));
	assert(known->dropped_records <= known->odd_records);
	assert(known->format != NULL && known->kind != NULL && known->name != NULL);
	if (known->damaged)
		check_complaint(&known->complaint);
	if (known->damaged)
		assert(strstr(known->complaint.text, "damaged at byte ") != NULL);
}

/* Look at frames as late as they are readable: right before the call that ends it. */
static void look_at(struct walk *walk, const struct burst *burst)
{
	for (int i = 0; i < burst->count; i++) {
		check_frame(&burst->frames[i], ++walk->frames);
		walk->digest = digest_frame(walk->digest, &burst->frames[i]);
		walk->wire += burst->frames[i].wire;
	}
}

static void read_to_the_end(struct walk *walk, struct ft_source *source, int room, unsigned keep)
{
	struct burst *bursts = calloc(keep, sizeof *bursts);
	unsigned at = 0;
	int count;

	assert(bursts != NULL && ft_source_keep(source, keep) == 0);
	do {
		look_at(walk, &bursts[at]);
		count = ft_source_next(source, bursts[at].frames, room);
		assert(count <= room && (count > 0 || count == -ENODATA));
		bursts[at].count = count > 0 ? count : 0;
		at = (at + 1) % keep;
	} while (count > 0);
	for (unsigned i = 0; i < keep; i++)
		look_at(walk, &bursts[(at + i) % keep]);
	assert(ft_source_next(source, bursts[0].frames, room) == -ENODATA);
	free(bursts);
}

struct walk walk_source(const uint8_t *bytes, size_t size, int room, unsigned keep)
{
	struct walk walk = { 0 };
	struct ft_source_complaint complaint = { "" };
	struct ft_source *source = NULL;

	walk.opened = ft_source_open_memory(&source, bytes, size, &complaint);
	if (walk.opened != 0) {
		assert(walk.opened == -EINVAL && source == NULL);
		check_complaint(&complaint);
		return walk;
	}
	read_to_the_end(&walk, source, room, keep);
	check_input(ft_source_input(source, 0), &walk);
	walk.damaged = ft_source_input(source, 0)->damaged;
	ft_source_close(source);
	return walk;
}

static void assert_same(const struct walk *one, const struct walk *other)
{
	assert(one->opened == other->opened);
	assert(one->frames == other->frames);
	assert(one->digest == other->digest);
	assert(one->damaged == other->damaged);
}

struct walk walk_in_bursts(const uint8_t *bytes, size_t size)
{
	struct walk by_one = walk_source(bytes, size, 1, 1),
		    in_bursts = walk_source(bytes, size, 64, 1),
		    kept = walk_source(bytes, size, 5, 3);

	assert_same(&by_one, &in_bursts);
	assert_same(&kept, &in_bursts);
	return in_bursts;
}

struct walk walk_after(const uint8_t *prefix, size_t prefix_size, const uint8_t *bytes, size_t size)
{
	uint8_t *joined = malloc(prefix_size + size);
	struct walk walk;

	assert(joined != NULL);
	memcpy(joined, prefix, prefix_size);
	if (size > 0)
		memcpy(joined + prefix_size, bytes, size);
	walk = walk_in_bursts(joined, prefix_size + size);
	free(joined);
	return walk;
}
