#pragma once

#include <capture/frame.h>

/*
 * Frames that a finding may name when they have gone by: of each connection the one by which it became known, the first
 * clear-to-send and the first data; and those that the follower holds back, until it is known whether they are wrong.
 * What a frame was is kept always, so that reports do not depend on whether evidence is written; its bytes only for that.
 */

/* One that has gone by; number 0: none. */
struct ft_kept_frame {
	struct ft_frame frame;
	uint8_t *bytes; /* the frame's, cut if it was long; NULL: they were not kept */
};

enum ft_kept_of_connection { FT_KEPT_CONTACT, FT_KEPT_CTS, FT_KEPT_DATA, FT_KEPT_FRAMES };

enum {
	FT_KEPT_BYTES = 1 << 26, /* of all connections together */
	FT_HELD_FRAMES = 512,    /* the latest */
};

/* The latest packets with which writes began, for evidence: where nobody knew yet that a finding would name them. */
enum { FT_LATEST_FRAMES = 4096, FT_LATEST_BYTES = 320 };

struct ft_latest_frames {
	struct ft_frame *items; /* by number, modulo as many as there are; NULL: none are kept */
	uint8_t (*bytes)[FT_LATEST_BYTES];
};

struct ft_held_frames {
	struct ft_kept_frame *items; /* a ring; NULL before the first */
	uint32_t next;
};

/* Keep it instead of what was; with `most` bytes at most, or none. It goes without bytes where there is no memory. */
void ft_kept_frame_set(struct ft_kept_frame *kept, const struct ft_frame *frame, uint32_t most);
void ft_kept_frame_free(struct ft_kept_frame *kept);

/* One more, unless it was the last one; the oldest makes room. 0 or -ENOMEM. */
int ft_held_frames_add(struct ft_held_frames *held, const struct ft_frame *frame, bool with_bytes);

/* NULL: it is not there, or not any more. */
const struct ft_kept_frame *ft_held_frames_find(const struct ft_held_frames *held, uint64_t number);
void ft_held_frames_free(struct ft_held_frames *held);

/* 0 or -ENOMEM. */
int ft_latest_frames_init(struct ft_latest_frames *latest);
void ft_latest_frames_free(struct ft_latest_frames *latest);
void ft_latest_frames_add(struct ft_latest_frames *latest, const struct ft_frame *frame);

/* NULL: it is not there, or not any more. */
const struct ft_frame *ft_latest_frames_find(const struct ft_latest_frames *latest,
					     uint64_t number);
