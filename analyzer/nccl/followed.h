#pragma once

#include <flow/reserve.h>

#include "connections.h"
#include "ends.h"
#include "keys.h"
#include "lane.h"
#include "packet_log.h"
#include "ring.h"
#include "store.h"
#include "straight.h"
#include "strangers.h"
#include "unpaired.h"

/*
 * A connection that is followed, and what the files that do it share.
 *
 *     connections.c  whose a packet is; the list        strangers.c  queue pairs that may turn out to be NCCL's
 *     announce.c     what others are told of it
 *     learn.c        from a set-up over TCP             lock.c       from clear-to-sends, or lengths alone
 *     cts.c, cts_again.c, cts_read.c, cts_grid.c  clear-to-sends     family.c     layouts and releases that fit
 *     data.c         writes of data                     answer.c     which message a write is of
 *     whose_end.c    whose an end is behind a hole
 *     asked.c        what fits what was asked for
 *     late.c         what fills holes                   again.c      what comes again
 *     immediates.c   what they mean                 sizes.c      likewise the sizes of several requests
 *     split.c        queue pairs a message uses         turns.c      likewise, after a set-up
 *     faults.c       what is wrong                      faults_immediate.c  with immediates
 *     faults_early.c with data before clear-to-sends   faults_again.c  under PSNs that passed
 *     dispute.c      two clear-to-sends for one message
 *     held.c         what may be no data of it          anchor.c     where data begins in a log
 *     faults_open.c  likewise, of a message not known yet   faults_ends.c  with ends that come too early
 *     faults_further.c  with writes that the message under way cannot have
 *     misnamed.c     numbers in a set-up that packets contradict
 *     misplaced.c    what has no place in the sequence
 *     leap.c         what was ahead of what belongs in its place
 *     order.c        whether taps keep packets in order
 *     keep.c         for the report                     missed.c    what was missed of it
 *     adrift.c     data that may be another message's
 *     waiting.c      what has yet to come
 *     shown.c        what a packet was
 *     orphans.c      what lacks its beginning           orphan_rows.c  what is remembered of it
 *     unlisted.c     likewise, how many messages        run.c        the way of nearly every packet
 *     straight.c     the same of audits                 straight_turn.c, straight_back.c  onto it and back
 *     straight_lanes.c  likewise over several queue pairs   straight_lanes_turn.c  onto it and back
 *     rota.c         .. of which each brings whole messages   rota_turn.c  onto it and back
 *     msn.c          which message, by ACKs
 *     bind.c         whose data is whose                pairing.c, unpaired.c  whose answers
 *     bind_all.c     likewise, as a connection begins   lock_lone.c  from one clear-to-send and its answer
 *     fork.c         builds with other slots than releases
 *     grid.c         lengths and addresses alone        second_writer.c  who else writes
 *     later_setup.c  set-ups that name queue pairs of others
 *     anew.c         queue pairs that begin anew        nets.c       overlays and VLANs
 *     numbered.c     where immediates are numbers      tally.c       how many messages there were
 *     passed.c       what passed before it was known
 *     spares.c       what passes when a port fails      failover.c   data from then on
 *     glance.c       who goes straight, and what is fetched ahead for it
 */

enum { FT_NCCL_KEYS = 16, FT_NCCL_SLOT_COUNTS = 6, FT_NCCL_FIRST_ENDS = 4 };

struct ft_nccl_fork;

/* How a message ended before it was known what immediates are: see faults_immediate.c. */
struct ft_nccl_first_end {
	uint64_t k, frame, ts_ns;
	uint64_t written, offered; /* bytes */
	uint32_t immdt;
};

struct ft_nccl_followed {
	/* while it is on, the rest is behind the times; NULL: it never is */
	struct ft_nccl_straight *straight;
	struct ft_nccl_connection model; /* what others see of it */
	bool given_up;                   /* it was none: ft_nccl_give_up() */
	bool failing;                    /* a port failed: failover.h */
	uint8_t misfits;                 /* by_grid: writes in a row that no FIFO has there */
	bool retired;                    /* its queue pairs went to a later one */
	bool overtaken; /* data was seen before its clear-to-send, or an ACK before what it is of: */
			/* they pass in another order here */
	bool recurs;    /* `first_va` was asked for again */
	bool numbered;  /* messages are counted from the first packet on, as there was no hole */
	/* data that was counted came between its clear-to-send and the next one for its buffer; or not so */
	bool came_in_order, came_astray;
	bool unsure; /* metadata names more queue pairs than there may be */
	bool named;  /* .. but not fewer: it began with its set-up */
	bool met[2]; /* the sink was told of a clear-to-send, of data */
	bool rivalled; /* a queue pair that was not met yet writes to its buffers, and may share messages */
	bool shared; /* a message was longer than what its queue pair had: others, not known yet, share it */
	bool sized_whole; /* without a set-up: one of several requests came whole that others would have had a part of */
	bool has_base;    /* model.fifo.addr is known */
	bool by_grid;     /* clear-to-sends cannot be read: their PSNs number them */
	bool partial;     /* messages of several requests were cut, or cannot be read */
	bool blind;       /* by_grid: nothing of them can be read .. */
	bool crowded;     /* .. and another queue pair was met that may be one of its own */
	bool plain;       /* by_grid: yet addr and size are where all families have them .. */
	uint8_t rkey_at;  /* .. and the key here; 0: not known */
	uint8_t families; /* possible, bits */
	uint8_t orders;   /* of immediates that fit so far, bits 1 << enum ft_nccl_order */
	uint8_t ordered;  /* lengths that told it, by that many */
	uint8_t lane_count, lane_room;
	bool lanes_zero;    /* what there is room for behind the last */
	uint8_t most_lanes; /* that share a message, by what the first had of it; 0: not known */
	uint8_t told; /* queue pairs that a set-up names which was read late, and in another order than they were met */
	uint64_t ways;                       /* in which lanes may take turns: turns.h */
	uint32_t vni;                        /* as in struct ft_nccl_ends .. */
	bool any_vni;                        /* .. but the first packet has to tell it yet */
	uint16_t pmtu;                       /* bytes; 0: not known */
	int32_t version_first, version_last; /* by what was seen besides the family; 0: open */
	uint32_t by_length, by_id;           /* immediates that spoke for it .. */
	uint64_t by_id_k;                    /* .. of which message the last one for a number was */
	/* of messages whose immediate was their length: the last different ones */
	uint64_t lengths[2];
	uint32_t in_a_row; /* messages next to each other on one lane */
	uint32_t lag;      /* packets that were acknowledged ahead of one that passed, at most */
	uint64_t steps,
		trouble; /* packets that were looked at; and when one was out of sequence last, or 0 */
	uint64_t readable, unreadable; /* clear-to-sends */
	/* packets that the sequences lack; of those, so many that were seen, but not taken for its own when they came */
	uint64_t lacking, left_out;
	uint64_t lacking_before;     /* likewise, of before those that the sequences begin with */
	uint32_t keys[FT_NCCL_KEYS]; /* announced of late, in a ring .. */
	uint8_t key_devices[FT_NCCL_KEYS];
	uint32_t key_count; /* .. as many as ever */
	uint16_t doubts;    /* that are its: anew.h */
	uint8_t disputes;   /* likewise: dispute.h */
	uint8_t first_end_count;
	bool has_newest;
	uint64_t oldest; /* k of the oldest clear-to-send */
	uint64_t newest; /* k of the newest clear-to-send */
	/* a write that nobody asked for, of whatever message: if that one's clear-to-send does not either */
	bool has_nowhere;
	bool nowhere_over;                   /* only messages asked for it that are over, .. */
	uint64_t nowhere_k, nowhere_over_k;  /* .. of which this is the newest */
	uint64_t first_va;                   /* the first buffer that was asked for; 0: not known */
	struct ft_nccl_seen nowhere;         /* without payload */
	uint64_t bases[FT_NCCL_SLOT_COUNTS]; /* of the FIFO, by how many slots it may have .. */
	uint8_t base_bits;         /* .. as far as they are possible; 0: it is as the set-up says */
	uint16_t slot_bytes;       /* of a FIFO that is of no release; 0: as the family has it */
	struct ft_nccl_fork *fork; /* what may show that it is of none: fork.h; NULL: nothing */
	uint64_t sizes_bases[2]; /* of the array of sizes, if its slots have 32 bytes, or 160 .. */
	uint8_t sizes_bits;      /* .. as far as both are possible */
	struct ft_nccl_first_end first_ends[FT_NCCL_FIRST_ENDS];
	struct ft_nccl_ring ring;
	struct ft_nccl_tally tally;
	struct ft_nccl_strides strides; /* of messages on the first lane that were kept */
	struct ft_nccl_lane *lanes;
	/* of each message on the straight way, but for its address */
	struct ft_nccl_request straight_request;
};

enum {
	FT_NCCL_RUNS = 256,
	FT_NCCL_HINTS = 1 << 14,
	FT_NCCL_WAITING = 64,
	FT_NCCL_DOUBTS = 1024,
	FT_NCCL_DISPUTES = 64
};

/* Where data packets went of late: see run.h. */
struct ft_nccl_run {
	struct ft_nccl_ends ends;
	uint32_t qpn;
	uint8_t lane;
	uint64_t changes; /* of the table of ends when it was noted; 0: nothing was */
	struct ft_nccl_followed *followed;
};

/* What waits for its sequence to go on: see anew.h. */
struct ft_nccl_doubt {
	struct ft_nccl_found found;
	uint8_t lane;
	bool is_cts;       /* it goes to the sender */
	bool is_alone;     /* nothing else on this lane and way waits */
	bool is_whichever; /* it is wrong whichever message it is of .. */
	bool has_its_key;  /* .. and is under a key that the connection announced */
	bool is_known;     /* of which message the data is, whichever way queue pairs take turns */
	bool is_disputed; /* two clear-to-sends differ: what answers tells which is told, dispute.h */
	bool is_anothers; /* it was written by another queue pair than the connection's .. */
	bool has_company; /* .. and such came to another connection at that time */
	bool goes_on;     /* packets behind it came, in sequence .. */
	uint32_t next;    /* .. of which this PSN is the next */
	uint64_t step;    /* when it came; 0: it is told though nothing comes behind it */
};

/* Two clear-to-sends for one message that differ: see dispute.h. */
struct ft_nccl_dispute {
	struct ft_nccl_found second;
	uint64_t frame, ts_ns;           /* of the first */
	struct ft_nccl_request asked[2]; /* by each, first */
	bool is_sure;                    /* the connection went on: neither is another one's .. */
	bool is_answered;                /* .. and data came, */
	bool is_first;  /* to where the second asked for it alone, so that the first is forged; */
	bool is_second; /* or so the other way round */
};

struct ft_nccl_cut_setups;
struct ft_nccl_later_setups;

/* A finding that waits until it is known whether packets pass in order. */
struct ft_nccl_waiting {
	struct ft_nccl_found found;
	bool is_whichever; /* it is wrong whichever message it is of */
};

/* Where packets of a number went last. */
struct ft_nccl_hint {
	uint64_t sure; /* if it is still this, they go there again: glance.c */
	int32_t ahead; /* as ft_nccl_straight_take() had it last: from `straights` on, in FT_NCCL_HINT_UNITs */
	/* what they ask for first, likewise, in cache lines; and above that ft_nccl_straight_reach_of(): no bit fields, which take
	 * longer */
	uint32_t where;
};
static_assert(sizeof(struct ft_nccl_hint) == 16, "four in a cache line");

enum {
	FT_NCCL_HINT_LINE_BITS = 26,
	FT_NCCL_HINT_CONNECTIONS = (1 << FT_NCCL_HINT_LINE_BITS) /
				   (sizeof(struct ft_nccl_straight) / FT_NCCL_STRAIGHT_LINE),
	FT_NCCL_HINT_UNIT = 32, /* bytes */
};
static_assert(FT_NCCL_STRAIGHT_REACHES <= 1 << (32 - FT_NCCL_HINT_LINE_BITS), "it has room");

struct ft_nccl_connections {
	struct ft_pool *pool; /* of each one's own memory */
	struct ft_nccl_config config;
	struct ft_nccl_qps *qps;
	struct ft_nccl_sink sink;
	struct ft_nccl_followed **all;      /* by id */
	struct ft_nccl_straight *straights; /* likewise; NULL: no packets go straight */
	struct ft_nccl_hint *hints;       /* FT_NCCL_HINTS, by a packet's number; NULL: likewise */
	struct ft_growth straight_memory; /* of both */
	uint32_t count, room;
	uint64_t dropped;
	struct ft_nccl_end_table ends;
	struct ft_nccl_end_table spares; /* ends of spares.h */
	struct ft_nccl_run runs[FT_NCCL_RUNS];
	bool is_replaying; /* packets of logs: no stranger is made of them */
	bool has_blind;    /* nothing can be read of one at least */
	struct ft_nccl_keys keys;
	struct ft_nccl_stranger_table strangers;
	struct ft_nccl_unpaired_table unpaired;
	struct ft_nccl_store store;
	bool is_lossy;  /* packets are missing, perhaps such as are not shown */
	uint64_t found; /* told so far */
	/* until it is known whether packets pass in order */
	struct ft_nccl_waiting waiting[FT_NCCL_WAITING];
	unsigned waiting_count;
	struct ft_nccl_doubt doubts[FT_NCCL_DOUBTS];
	unsigned doubt_count;
	struct ft_nccl_dispute disputes[FT_NCCL_DISPUTES];
	unsigned dispute_count;
	struct ft_nccl_cut_setups *cut_setups; /* NULL: none was seen */
	struct ft_nccl_later_setups *later;    /* NULL: none was */
	struct ft_nccl_kept kept;              /* of the last call */
	struct ft_nccl_part *kept_parts;
};

/* A packet on its way through a followed connection. */
struct ft_nccl_moment {
	struct ft_nccl_connections *connections;
	struct ft_nccl_followed *followed;
	struct ft_nccl_lane *lane;
	uint8_t lane_index;
	enum ft_nccl_turn turn;
	bool accepted;  /* it was held back, and is right */
	bool is_behind; /* no message was missed since the one before on the lane */
	const struct ft_nccl_seen *seen;
};

enum { FT_NCCL_ACK = 0x11, FT_NCCL_NAKS = 0x20 /* syndromes from there on */ };

/*
 * Packets looked at in sequence, after which it is trusted again that nothing else explains what is wrong. Of several
 * queue pairs one that missed a message may be out of step until its turn comes again.
 */
enum { FT_NCCL_CALM = 16, FT_NCCL_CALM_OF_SEVERAL = 1024 };

static inline bool ft_nccl_is_calm(const struct ft_nccl_followed *followed)
{
	const unsigned calm = followed->lane_count > 1 ? FT_NCCL_CALM_OF_SEVERAL : FT_NCCL_CALM;

	return followed->trouble == 0 || followed->steps - followed->trouble > calm;
}

/* Of a split message; so much and less goes to the first queue pair alone. */
enum {
	FT_NCCL_PART_BYTES = 128,   /* parts are multiples of it, but for the last */
	FT_NCCL_OLD_PART_BYTES = 8, /* at least, in NCCL 2.10 and 2.11 */
};

/* Payload can be read, as clear-to-sends show. */
static inline bool ft_nccl_is_read(const struct ft_nccl_followed *followed)
{
	return followed->readable != 0 || followed->plain;
}

/* .. or it may be: not where clear-to-sends cannot, as where all of it is encrypted. */
static inline bool ft_nccl_may_be_read(const struct ft_nccl_followed *followed)
{
	return !followed->blind && (followed->unreadable == 0 || ft_nccl_is_read(followed));
}

/* A message came whole of which further queue pairs than one of each device would have had a part. */
static inline bool ft_nccl_had_all(const struct ft_nccl_followed *followed)
{
	const uint64_t alone = followed->model.devices * (uint64_t)FT_NCCL_PART_BYTES;

	return followed->by_length != 0 &&
	       (followed->lengths[0] > alone || followed->lengths[1] > alone);
}

/* True, and *length filled, if immediates are lengths and the order in which they stand is known. */
static inline bool ft_nccl_tells_length(const struct ft_nccl_followed *followed, uint32_t immdt,
					uint32_t *length)
{
	const struct ft_nccl_connection *model = &followed->model;
	bool is_big = model->imm_order == FT_NCCL_ORDER_BIG;

	if (model->imm_content != FT_NCCL_IMM_LENGTH || model->imm_order == FT_NCCL_ORDER_UNKNOWN)
		return false;
	*length = ft_nccl_immediate(immdt, is_big ? FT_NCCL_BIG : FT_NCCL_LITTLE);
	return true;
}

/* Without a set-up: another queue pair was met that may share messages with the only one known of each device. */
static inline bool ft_nccl_may_be_shared(const struct ft_nccl_followed *followed)
{
	return !followed->model.is_set_up && !followed->by_grid &&
	       followed->lane_count <= followed->model.devices && followed->unsure &&
	       !ft_nccl_had_all(followed);
}

/*
 * Which messages data is of: it was followed from the first packet on, without a hole; or writes pass before they are
 * acknowledged, so that data passes between its clear-to-send and the next one for the same buffer.
 */
static inline bool ft_nccl_has_numbers(const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_lane *lane = &followed->lanes[0];

	return followed->numbered ||
	       (lane->cts_acked.ordered && lane->data_acked.ordered && !followed->overtaken);
}

/* nets.c: the network that a packet was seen in is one of the connection's. */
void ft_nccl_note_net(struct ft_nccl_connection *model, const struct ft_nccl_seen *seen);

/* nets.c: it was found before VLANs were known to be apart, in this one. */
bool ft_nccl_was_in_vlan(const struct ft_nccl_followed *followed, uint32_t vni);

/* Addresses and keys mean something within an overlay only, or a VLAN. */
static inline bool ft_nccl_is_in(const struct ft_nccl_followed *followed, uint32_t vni)
{
	return followed->any_vni || followed->vni == vni || ft_nccl_was_in_vlan(followed, vni);
}

/* A packet is looked at, and out of sequence or not. */
static inline void ft_nccl_step(struct ft_nccl_followed *followed, bool is_in_sequence)
{
	followed->steps++;
	if (!is_in_sequence)
		followed->trouble = followed->steps;
}

/* The last connections, which packets out of order or of another tap may be of: from this one on. */
enum { FT_NCCL_RECENT = 64 };

static inline uint32_t ft_nccl_recent(const struct ft_nccl_connections *connections)
{
	return connections->count > FT_NCCL_RECENT ? connections->count - FT_NCCL_RECENT : 0;
}

static inline bool ft_nccl_is_write(uint8_t opcode)
{
	return opcode >= 0x06 && opcode <= 0x0b;
}

/* First, or Only: with RETH. */
static inline bool ft_nccl_begins(uint8_t opcode)
{
	return opcode == 0x06 || opcode >= 0x0a;
}

static inline bool ft_nccl_ends(uint8_t opcode)
{
	return opcode >= 0x08;
}

static inline bool ft_nccl_has_immediate(uint8_t opcode)
{
	return opcode == 0x09 || opcode == 0x0b;
}

/* connections.c: a new one, with its id; NULL: no room. Its lanes are for ft_nccl_add_lanes(). */
struct ft_nccl_followed *ft_nccl_follow(struct ft_nccl_connections *connections);

/* Room for so many lanes; 0 or -ENOMEM. */
int ft_nccl_add_lanes(struct ft_nccl_followed *followed, uint32_t count);

/* Room for so many, before they are added: lanes do not move until there are more. 0 or -ENOMEM. */
int ft_nccl_make_lanes(struct ft_nccl_followed *followed, uint32_t count);

/* Packets to these ends are its own from now on; a connection that had them before is retired. 0 or -ENOMEM. */
int ft_nccl_claim(struct ft_nccl_connections *connections, const struct ft_nccl_end *end);
void ft_nccl_retire(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed);

/* Packets to an end count only from where the connection's other end is. */
bool ft_nccl_is_from_peer(const struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
			  const struct ft_nccl_seen *seen);

/* connections.c: the end as it was before the packet's VLAN was known to be apart, if `end` is none that is sure. */
struct ft_nccl_end *ft_nccl_earlier_end(const struct ft_nccl_connections *connections,
					const struct ft_nccl_seen *seen, struct ft_nccl_end *end);

/* The end that a packet was sent to; NULL: none. */
static inline struct ft_nccl_end *ft_nccl_end_of(const struct ft_nccl_connections *connections,
						 const struct ft_nccl_seen *seen)
{
	struct ft_nccl_end *end = ft_nccl_ends_of(&connections->ends, seen, seen->ends.vni);

	if (!ft_nccl_is_vlan_apart(seen->ends.vni))
		return end;
	return ft_nccl_earlier_end(connections, seen, end);
}

/* announce.c: tell the sink that the connection is known. */
void ft_nccl_announce(const struct ft_nccl_connections *connections,
		      const struct ft_nccl_followed *followed, uint64_t frame, uint64_t ts_ns);

/* Tell the sink that this frame may be named later. */
void ft_nccl_hold(const struct ft_nccl_connections *connections, uint64_t frame);

/* A clear-to-send gave a key of memory at the receiver's device. */
void ft_nccl_announce_key(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed, uint8_t device, uint32_t rkey);

/* The key is one of the last FT_NCCL_KEYS of these, of whatever device. */
bool ft_nccl_is_announced(const struct ft_nccl_followed *followed, uint32_t rkey);

/* The set-up, or the first clear-to-sends, gave keys of the FIFO and the sizes. */
void ft_nccl_announce_targets(struct ft_nccl_connections *connections,
			      const struct ft_nccl_followed *followed);

/* It only looked like a connection: its queue pairs are nothing of NCCL, and what is sent to them is not followed. */
void ft_nccl_give_up(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed);

/* Evidence about both ends of a lane; told once each. */
void ft_nccl_note(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		  uint8_t lane, enum ft_nccl_evidence evidence);

/* ring: message k of the connection, made if it is new; NULL: too old, or no memory. */
struct ft_nccl_transfer *ft_nccl_transfer_of(struct ft_nccl_connections *connections,
					     struct ft_nccl_followed *followed, uint64_t k);
void ft_nccl_keep(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		  struct ft_nccl_transfer *transfer);

/* waiting.c: it still waits for something, and is not to be pushed out of the ring while that can grow. */
bool ft_nccl_is_waiting(const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *transfer);

/* cts.c, held.c: a write to the sender, to the receiver. */
void ft_nccl_cts_see(struct ft_nccl_moment *moment);
void ft_nccl_data_see(struct ft_nccl_moment *moment);

/*
 * A write that nobody is known to have asked for. Out of sequence it is held back: the next packet tells whether the
 * sequence moved on. In sequence it waits for the next clear-to-send, as an early one does. False: neither.
 */
bool ft_nccl_hold_back(struct ft_nccl_moment *moment);

/* held.c: the packet that the sequence has in its place, or does not have, tells. */
void ft_nccl_hold_until_next(struct ft_nccl_moment *moment);

/* It is farther ahead than packets overtake each other, and nothing was lost or out of order of late. */
bool ft_nccl_is_far_ahead(const struct ft_nccl_moment *moment);

/* data.c: data, once it is not held back. */
void ft_nccl_data_take(struct ft_nccl_moment *moment);

/* At the end: a write that was held back for the next packet, as if that had shown it right; and order.h's end. */
void ft_nccl_data_settle(struct ft_nccl_connections *connections,
			 struct ft_nccl_followed *followed);

/* What is between a write's first packet and its last is not shown: it counts as seen. */
void ft_nccl_data_pass_middle(struct ft_nccl_moment *moment);

/* again.c: data under a PSN that passed before. */
void ft_nccl_data_again(struct ft_nccl_moment *moment);

/* late.c: data that fills a hole. */
void ft_nccl_late_see(struct ft_nccl_moment *moment);

/* keep.c: an immediate on every queue pair that the message uses, no packet missing. */
bool ft_nccl_is_complete(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer);
void ft_nccl_drop_kept(struct ft_nccl_connections *connections);
