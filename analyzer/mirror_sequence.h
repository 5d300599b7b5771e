#pragma once

#include <stddef.h>
#include <stdint.h>

#include <flow/observed.h>

/*
 * Frames that a mirror numbered and that did not come. GRE with a sequence number, and so ERSPAN II and
 * III, count one up for each frame of a session (RFC 2890); a session is followed across the
 * inputs it comes in on. Numbers that come twice, or late within a window, are no loss; nor is a
 * session that starts anew, or numbers that make no sense. Memory is taken once.
 */
struct ft_mirror_sequence;

/* What a mirror says of a frame: which session it is of, and its place there. */
struct ft_mirror_number {
	uint32_t mirror, sequence; /* as in struct ft_observed */
	uint8_t bits;              /* 16 or 32: where numbers wrap */
};

#define FT_MIRROR_SESSIONS 1024 /* followed at once; further ones are counted, and not followed */
#define FT_MIRROR_WINDOW   256  /* numbers by which a frame may come late */

/* `inputs`: of the source, >= 1. 0, -EINVAL or -ENOMEM. */
int ft_mirror_sequence_create(struct ft_mirror_sequence **sequence, size_t inputs);
void ft_mirror_sequence_destroy(struct ft_mirror_sequence *sequence); /* NULL is fine */

/* Every frame that has one, in capture order, copies too; `input`: index of where it came from. `ts_ns`: as in struct ft_observed. */
void ft_mirror_sequence_count(struct ft_mirror_sequence *sequence, uint32_t input, uint64_t ts_ns,
			      const struct ft_mirror_number *number);

/* The same of every frame, by what was observed of it. */
void ft_mirror_sequence_see(struct ft_mirror_sequence *sequence, uint32_t input,
			    const struct ft_observed *observed);

/*
 * Frames lost so far, each under the input of a later frame of its session. Changes nothing: frames
 * that are late count until they come.
 */
uint64_t ft_mirror_sequence_lost(const struct ft_mirror_sequence *sequence, uint32_t input);

/* Frames of sessions beyond FT_MIRROR_SESSIONS. */
uint64_t ft_mirror_sequence_unfollowed(const struct ft_mirror_sequence *sequence);
