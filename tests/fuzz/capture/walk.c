#undef NDEBUG /* the promises are the point, in every build */

#include "walk.h"

#include <capture/source.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BURST_MAX = 64, CAPTURED_MAX = 262144 };

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

static void check_input(const struct ft_source_input *known, const struct walk *walk,
			uint64_t bytes)
{
	assert(known->frames == walk->frames);
	assert(known->bytes == bytes);
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

struct walk walk_source(const uint8_t *bytes, size_t size, int room)
{
	struct walk walk = { 0 };
	struct ft_source_complaint complaint = { "" };
	struct ft_source *source = NULL;
	struct ft_frame burst[BURST_MAX];
	uint64_t wire = 0;
	int count;

	walk.opened = ft_source_open_memory(&source, bytes, size, &complaint);
	if (walk.opened != 0) {
		assert(walk.opened == -EINVAL && source == NULL);
		check_complaint(&complaint);
		return walk;
	}
	while ((count = ft_source_next(source, burst, room)) > 0) {
		assert(count <= room);
		for (int i = 0; i < count; i++) {
			check_frame(&burst[i], ++walk.frames);
			walk.digest = digest_frame(walk.digest, &burst[i]);
			wire += burst[i].wire;
		}
	}
	assert(count == -ENODATA);
	assert(ft_source_next(source, burst, room) == -ENODATA);
	check_input(ft_source_input(source, 0), &walk, wire);
	walk.damaged = ft_source_input(source, 0)->damaged;
	ft_source_close(source);
	return walk;
}

struct walk walk_twice(const uint8_t *bytes, size_t size)
{
	struct walk by_one = walk_source(bytes, size, 1), in_bursts = walk_source(bytes, size, 64);

	assert(by_one.opened == in_bursts.opened);
	assert(by_one.frames == in_bursts.frames);
	assert(by_one.digest == in_bursts.digest);
	assert(by_one.damaged == in_bursts.damaged);
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
	walk = walk_twice(joined, prefix_size + size);
	free(joined);
	return walk;
}
