#pragma once

#include <nccl/follower.h>

/*
 * NCCL's TCP connections: set-up of RDMA connections, bootstrap, RAS. Segments are put together per direction (out of
 * order, repeated, overlapping; a few KiB are enough), and read when there is enough; what is something else is forgotten
 * early. At most config->streams at a time, the idlest makes room. Captures cut the payload: of a set-up that
 * leaves a few facts, and any other stream ends as unreadable, without an error.
 */
struct ft_nccl_side_channel;

/*
 * A set-up, both sides of it read. Told once, when its ready word comes; if the mirror lost that, when an acknowledgment
 * or the end of the connection shows it. Without a hello (before 2.16) only with SYN and ready word. The metadata lives
 * during the call only, as does what it points to.
 */
struct ft_nccl_exchange {
	struct ft_nccl_place connecting, listening; /* of TCP: need not be the RDMA addresses */
	uint16_t connecting_port, listening_port;
	uint32_t vni;       /* of TCP, as in struct ft_nccl_ends: need not be that of RDMA */
	uint16_t vlan;      /* likewise: of its first segment */
	uint64_t frames[2]; /* of TCP: first (the SYN, if seen), last so far */
	uint64_t ts_ns;
	const struct ft_nccl_metadata *sender, *receiver; /* of data: the connecting side sends */
};

/*
 * A set-up of which the capture cut the end of segments off: how much each side sent tells its form, and the beginnings
 * of the metadata the first queue pair of each. Told once, as above, without a hello only with all of both sides sent.
 */
struct ft_nccl_cut_exchange {
	struct ft_nccl_exchange tcp; /* without metadata */
	const struct ft_nccl_form *form;
	uint32_t sender_qpn, receiver_qpn;
};

/*
 * A contact is told once for a TCP connection, of kind SETUP, BOOTSTRAP or RAS: with a hello of a known magic, else with the
 * first message or set-up that shows what it is. Proxy and socket connections are not followed.
 */
struct ft_nccl_side_sink {
	void (*exchange)(void *context, const struct ft_nccl_exchange *exchange);
	void (*cut_exchange)(void *context, const struct ft_nccl_cut_exchange *exchange);
	void (*contact)(void *context, const struct ft_nccl_contact *contact);
	void *context;
};

/* 0 or -ENOMEM. */
int ft_nccl_side_create(struct ft_nccl_side_channel **side, const struct ft_nccl_config *config,
			const struct ft_nccl_side_sink *sink);
void ft_nccl_side_destroy(struct ft_nccl_side_channel *side); /* NULL is fine */

void ft_nccl_side_see(struct ft_nccl_side_channel *side, const struct ft_nccl_segment *segment);

/*
 * Processes that bootstrap and RAS told of, in order of first frame; the side's own until the next call. At most
 * config->connections. A host's release is that of its ranks if all its listeners of RAS agree; listeners are listed by
 * themselves only where nobody was seen to check in.
 */
const struct ft_nccl_process *ft_nccl_side_processes(const struct ft_nccl_side_channel *side,
						     size_t *count);
