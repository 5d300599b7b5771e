#pragma once

#include <nccl/model.h>

/* The messages of a connection in their order, those that are missing in between too. */
struct ft_nccl_track {
	const struct ft_nccl_connection *connection;
	const struct ft_nccl_message **messages; /* NULL: not seen */
	size_t count;                            /* up to the last one with data; .. */
	size_t unanswered; /* .. behind these so many were asked for, or not seen */
	uint64_t first_k;
	/* by k, without those from before the first number; else in order of first frame, and nobody knows what is missing */
	bool numbered;
	bool lacks_numbers; /* of some of its messages: these are left out */
	/*
	 * So many are in their order: behind them some have no number, while what asked for those stands beside them, as if
	 * nothing had answered.
	 */
	size_t certain;
};

struct ft_nccl_tracks {
	struct ft_nccl_track *at; /* by place of the connection in the list */
	const struct ft_nccl_message **memory;
};

/* Clear-to-sends at the end that nothing answered are left out. 0 or -ENOMEM. */
int ft_nccl_tracks_make(struct ft_nccl_tracks *tracks,
			struct ft_nccl_connection *const *connections, size_t connection_count,
			const struct ft_nccl_message *messages, size_t message_count);
void ft_nccl_tracks_free(struct ft_nccl_tracks *tracks); /* all zero is fine */

/* Some clear-to-send was seen: without any nothing shows where operations end. */
bool ft_nccl_track_is_asked(const struct ft_nccl_track *track);

/* The frame at which data from message `at` on begins; UINT64_MAX: there is none. */
uint64_t ft_nccl_track_next(const struct ft_nccl_track *track, size_t at);

/*
 * Whether an operation can begin at message `at`, 0..count. A receiver asks for the messages of an operation ahead of
 * them, but for none of the next operation before it has this one: so between two operations nothing is asked for. Not known
 * where the end of the message before was not seen.
 */
enum ft_nccl_border { FT_NCCL_INSIDE, FT_NCCL_BORDER_UNKNOWN, FT_NCCL_BORDER };
enum ft_nccl_border ft_nccl_track_border(const struct ft_nccl_track *track, size_t at);

uint64_t ft_nccl_message_bytes(const struct ft_nccl_message *message); /* written */
/* All of it was seen, or what is missing does not matter: the immediate says the same length. */
bool ft_nccl_message_is_sized(const struct ft_nccl_track *track,
			      const struct ft_nccl_message *message);
