#pragma once

#include <nccl/model.h>

/* What one packet is of NCCL's framing, as far as it was known when it passed. */
enum ft_nccl_frame_role {
	FT_NCCL_FRAME_CTS,
	FT_NCCL_FRAME_DATA,
	FT_NCCL_FRAME_SIZES, /* lengths of requests that were sent together, with the immediate */
	FT_NCCL_FRAME_COMPLETION, /* nothing but the immediate: a write of length 0 */
	FT_NCCL_FRAME_PROBE,      /* after an error: what has the receiver heard of message k */
	/* after another: is the port back, yes, and so it is; over and over */
	FT_NCCL_FRAME_RECOVERY_ASKED,
	FT_NCCL_FRAME_RECOVERY_ANSWERED,
	FT_NCCL_FRAME_RECOVERY_CONFIRMED,
};

struct ft_nccl_shown {
	enum ft_nccl_frame_role role;
	const struct ft_nccl_connection *connection;
	bool again;                     /* its PSN had passed before */
	bool has_k;                     /* of the message */
	uint64_t k;                     /* from 0 */
	enum ft_nccl_protocol protocol; /* DATA and COMPLETION */
	/* CTS: what it asks for, as far as it was captured; SIZES: with what was written */
	const struct ft_nccl_request *requests;
	uint8_t request_count;
};
