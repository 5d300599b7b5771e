#pragma once

#include "processes.h"
#include "side_channel.h"
#include "streams.h"

/* What the parts of the side channel share: each reads one kind of stream. */
struct ft_nccl_side_channel {
	struct ft_nccl_streams *streams;
	struct ft_nccl_processes *processes;
	struct ft_nccl_side_sink sink;
};

/* How a stream begins, by the first bytes of the client. */
struct ft_nccl_beginning {
	enum ft_nccl_stream_kind kind;
	uint64_t magic; /* 0: without a hello */
	bool is_sure;   /* the magic is one of the two known; else it takes more to believe it */
};

/* FT_NCCL_CUT: more bytes are needed; FT_NCCL_NOT: another protocol, or a kind that tells nothing (proxy, sockets). */
enum ft_nccl_verdict ft_nccl_beginning_read(const uint8_t *bytes, uint32_t size,
					    struct ft_nccl_beginning *beginning);

/* The payload starts with a known magic: a connection of which nothing was seen before may be joined here. */
bool ft_nccl_beginning_is_known(const struct ft_nccl_segment *segment);

/* Tell who talks to whom: once per stream. */
void ft_nccl_side_tell(const struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream,
		       enum ft_nccl_contact_kind kind);

/*
 * Read on after more has come. FT_NCCL_READ: all that the stream can tell was told; FT_NCCL_CUT: there may be more;
 * FT_NCCL_NOT: it is none of this kind.
 */

/* `is_over`: nothing more will come. A set-up without its last word is told then, or when others speak of it. */
enum ft_nccl_verdict ft_nccl_side_read_setup(const struct ft_nccl_side_channel *side,
					     struct ft_nccl_stream *stream, bool is_over);
enum ft_nccl_verdict ft_nccl_side_read_bootstrap(const struct ft_nccl_side_channel *side,
						 struct ft_nccl_stream *stream);

/*
 * A connection whose first bytes were not captured, and whose magic, if it has one, is its job's own: a segment that is a check-in
 * shows it, also one that slices have left the front of; it is told, and the stream is done.
 */
bool ft_nccl_side_is_check_in(const struct ft_nccl_segment *segment);
void ft_nccl_side_join_at_check_in(const struct ft_nccl_side_channel *side,
				   struct ft_nccl_stream *stream,
				   const struct ft_nccl_segment *segment);

/*
 * Likewise a keep-alive of RAS, by the time of its sender in it: within a day of the frame's. Who listens is not known then, so no
 * more than the contact is told.
 */
bool ft_nccl_side_is_keep_alive(const struct ft_nccl_segment *segment);

/* Where RAS goes on: a stream without end is joined anew at a segment when what is missing does not come. */
void ft_nccl_side_rejoin_ras(struct ft_nccl_half *half, const struct ft_nccl_segment *segment);
void ft_nccl_side_read_ras(const struct ft_nccl_side_channel *side, struct ft_nccl_stream *stream,
			   enum ft_nccl_end sender);
