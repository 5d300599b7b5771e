#pragma once

#include <flow/observed.h>
#include <flow/table.h>
#include <nccl/model.h>
#include <nccl/seen.h>
#include <nccl/shown.h>

/*
 * Follows NCCL's framing through a capture: which queue pairs make up a connection, what each clear-to-send asked for
 * and what answered it. Frames come in the order of the capture, without copies that a mirror made. Lossy input is the
 * rule: what was not seen is said to be unknown, and causes no finding. Memory is bounded by the configuration, but for
 * messages if they are kept: then by `messages`. Nothing here reads a clock or fails: what there is no room for is counted.
 *
 * A follower may be shown all packets, or (to be cheap) only requests of queue pairs with clear-to-sends and what they
 * answer, from then on, with ends_only even without those in the middle of a write.
 */
struct ft_nccl_follower;

struct ft_nccl_config {
	uint32_t connections; /* most */
	uint32_t queue_pairs; /* most that are classified; 0: none are */
	uint32_t streams;     /* TCP connections at a time that may be a set-up */
	uint64_t messages;    /* most kept for the report; 0: they are only counted */
	uint64_t findings;    /* told at most */
	bool ends_only; /* of writes of several packets only the first and the last are shown */
	uint64_t seed;  /* for hash tables; changes no result */
};
#define FT_NCCL_DEFAULTS                                                                           \
	{                                                                                          \
		.connections = 1u << 16, .queue_pairs = 1u << 20, .streams = 1u << 12,             \
		.messages = 1u << 20, .findings = 1u << 16                                         \
	}

/* What is wrong; docs/findings.md. None is told where loss could explain it. */
enum ft_nccl_fault {
	FT_NCCL_WRITE_OUTSIDE, /* of the range or key of the clear-to-send it answers */
	FT_NCCL_WRITE_UNASKED, /* no clear-to-send asked for it, on a connection whose every one was seen */
	FT_NCCL_SECOND_WRITER, /* another source than the connection's writes to what was announced */
	FT_NCCL_CONTRADICTION, /* a clear-to-send or immediate is not of the connection's family */
	FT_NCCL_REPLAY,        /* framing repeated or out of order, not by the transport */
	FT_NCCL_FAULTS
};

struct ft_nccl_found {
	enum ft_nccl_fault fault;
	double certainty; /* 0..1 */
	uint64_t frame, ts_ns;
	struct ft_nccl_ends ends; /* of the frame */
	uint16_t pkey, vlan;      /* as in struct ft_nccl_seen */
	uint32_t dest_qp;
	uint32_t connection; /* id so far: ft_nccl_follower_connection(); FT_NCCL_NONE */
	bool has_k;
	uint64_t k;
	char text[192]; /* what was announced and what was seen, one sentence, without keys */
};

/* Connections, and set-ups over TCP, as they become known: for whoever judges who may talk to whom. */
enum ft_nccl_contact_kind {
	FT_NCCL_CONTACT_CONNECTION,
	FT_NCCL_CONTACT_BOOTSTRAP,
	FT_NCCL_CONTACT_RAS,
	FT_NCCL_CONTACT_SETUP
};

struct ft_nccl_contact {
	enum ft_nccl_contact_kind kind;
	uint64_t frame, ts_ns;
	struct ft_nccl_place from, to; /* sender and receiver; client and server of TCP */
	uint32_t connection;           /* FT_NCCL_NONE */
	uint64_t magic;                /* of the hello: bootstrap of one job has one; 0: none */
};

struct ft_nccl_sink {
	void (*found)(void *context, const struct ft_nccl_found *found);
	void (*contact)(void *context, const struct ft_nccl_contact *contact);
	/* The packet at hand is the first clear-to-send, or data, that passes on a connection that is known. */
	void (*met)(void *context, uint32_t connection, bool is_data);
	/* `found` may name this frame, which is the one at hand or was, later. */
	void (*hold)(void *context, uint64_t frame);
	/* Set-ups in this VLAN name queue pairs that those in another VLAN do, too. */
	void (*apart)(void *context, uint16_t vlan);
	void *context;
};

/* 0 or -ENOMEM. Configuration and sink are copied; functions of the sink may be NULL. */
int ft_nccl_follower_create(struct ft_nccl_follower **follower, const struct ft_nccl_config *config,
			    const struct ft_nccl_sink *sink);

/* Frees all of it: connections, the last report and what was shown go with it. NULL is fine. */
void ft_nccl_follower_destroy(struct ft_nccl_follower *follower);

/*
 * Of a packet with LRH and GRH, before ft_nccl_follower_see(): within a subnet a connection has the LIDs of its set-up for
 * names, but ports may demand global headers. If it is of such a connection, that has the GIDs of this packet from now on.
 */
void ft_nccl_follower_name(struct ft_nccl_follower *follower, const struct ft_nccl_seen *seen);

/* The next RDMA packet, as ft_nccl_seen_of() has it. What it makes known is told to the sink before this returns. */
void ft_nccl_follower_see(struct ft_nccl_follower *follower, const struct ft_nccl_seen *seen);

/*
 * The short way, for a follower with ends_only that keeps neither messages nor queue pairs: an RDMA packet over UDP
 * or between LIDs, with all its headers, as the flow stage has it. Nearly all packets of connections are what was expected,
 * which is soon seen. Payload sizes may break the rules of RDMA: such a packet is not taken, nor is one in an overlay.
 */
struct ft_nccl_glimpse {
	const struct ft_flow_key *key; /* where it comes from and goes to */
	/* any number that tells its half-connection from most others; small ones in a row stay in the cache */
	uint32_t number;
	/*
	 * Of two packets of one number with the same other than 0 here, both are of one half-connection, have the same P_Key
	 * but for its highest bit, and their frames' numbers the same upper half; it only grows.
	 */
	uint32_t since;
	const struct ft_observed *observed;
	const struct ft_frame *frame; /* of the usual form, see decode/brief.h */
	uint32_t bth_at;              /* offset of its BTH in the frame */
};

/* Where a follower keeps what goes the short way: the same as long as it lives. `straights` NULL: nothing does. */
struct ft_nccl_way {
	struct ft_nccl_connections *connections;
	struct ft_nccl_straight *straights;
	struct ft_nccl_hint *hints;
};

/* The follower's own; what it leads to is the follower's, too. */
struct ft_nccl_way ft_nccl_follower_way(const struct ft_nccl_follower *follower);

/* True: seen; false: nothing has happened, ft_nccl_follower_see() it. */
bool ft_nccl_glance(const struct ft_nccl_way *way, const struct ft_nccl_glimpse *glimpse);

/*
 * The same, but false also where more is to be looked up than where the last packet of its number went. `straights` is not
 * NULL, nor `since` 0.
 */
bool ft_nccl_glance_again(const struct ft_nccl_way *way, const struct ft_nccl_glimpse *glimpse);

/* Fetch from memory what that looks at, by the number of a glimpse to come. Any number may be given. */
void ft_nccl_prefetch(const struct ft_nccl_way *way, uint32_t number);

/* Some packets before: what that asks for itself. */
void ft_nccl_prefetch_early(const struct ft_nccl_way *way, uint32_t number);

/*
 * One packet before: the first line of that again, which may have left the first-level cache since. `straights` is not NULL; any
 * number may be given.
 */
void ft_nccl_prefetch_first(const struct ft_nccl_way *way, uint32_t number);

/*
 * The next TCP segment, of whatever connection, in one order with the packets: connections that are no set-up,
 * bootstrap or RAS of NCCL's are soon let go of. Told to the sink as above.
 */
void ft_nccl_follower_see_tcp(struct ft_nccl_follower *follower,
			      const struct ft_nccl_segment *segment);

/*
 * What the packet is that was shown last (`seen`, to ft_nccl_follower_see()), of a follower that is shown all packets.
 * False: nothing of NCCL's framing, or not known yet. What *shown points to holds until the next call. Nothing is kept
 * for it: it costs whoever asks.
 */
bool ft_nccl_follower_shown(const struct ft_nccl_follower *follower,
			    const struct ft_nccl_seen *seen, struct ft_nccl_shown *shown);

/* A connection was seen in this VLAN, and in another one. */
bool ft_nccl_follower_crosses(const struct ft_nccl_follower *follower, uint16_t vlan);

/* There is a connection, or one is to come, as a set-up shows that the capture may have cut. */
bool ft_nccl_follower_met(const struct ft_nccl_follower *follower);

/*
 * A connection by the id that found and contact gave it, from 0; NULL: none, nor any behind it. It stays where it is.
 * What it has counted may be behind the times until the next report.
 */
const struct ft_nccl_connection *ft_nccl_follower_connection(
	const struct ft_nccl_follower *follower, uint32_t id);

/*
 * Whether RDMA packets of the capture are known to be missing, for the reports to come. With ends_only the follower does
 * not see what is lost in the midst of writes; and what a lost clear-to-send would explain is not told at the end.
 */
void ft_nccl_follower_set_lossy(struct ft_nccl_follower *follower, bool is_lossy);

/* Tells the sink what only the end shows, as if this were it, which each report does, too, but takes much longer for. */
void ft_nccl_follower_settle(struct ft_nccl_follower *follower);

/*
 * What is known so far; messages under way are in it as they stand. It belongs to the follower and holds until the next
 * call. NULL: out of memory. The follower can go on afterwards.
 */
const struct ft_nccl_report *ft_nccl_follower_report(struct ft_nccl_follower *follower);
