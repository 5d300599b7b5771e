#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <nccl/follower.h>

#include "ends.h"
#include "straight_message.h"

/*
 * The straight way of a connection's packets. Nearly each is just what is expected:
 *
 *     a clear-to-send    of the next message, in the next slot, like the one before but for where the buffer is
 *     a write            begins where the next message was asked for, in packets of the size known
 *     its end            the last packet expected, with the length as immediate, or an empty write that has it
 *     an acknowledgment
 *
 * Then a few comparisons do, and what is to be remembered of a message takes half a cache line. All else of the connection
 * stays as it was when it went straight, until somebody asks: ft_nccl_straight_leave() makes it what the general way would
 * have made it. Only connections of which there is nothing left to be learnt go straight, while nothing waits to be told,
 * and only where no messages are kept: their last frames and protocols are not known here.
 *
 * Several queue pairs that take turns, or share the messages, each have a message of their own under way: what is expected
 * is looked up among what was asked for, and a few words for each queue pair, and for what it brought of a message, are
 * remembered: straight_lanes.c. If each message is brought by one of them, whether or not it is known by which, a queue pair has a
 * line of its own that tells all which data is asked: rota.c.
 */

/* One end of one lane, as a number below FT_NCCL_STRAIGHT_PLACES. */
enum { FT_NCCL_STRAIGHT_PLACES = 2 * FT_NCCL_STRAIGHT_LANES };

static inline uint32_t ft_nccl_straight_place(uint32_t lane, uint32_t role)
{
	return 2 * lane + role;
}

static inline uint32_t ft_nccl_straight_lane(uint32_t place)
{
	return place / 2;
}

static inline uint32_t ft_nccl_straight_role(uint32_t place)
{
	return place % 2;
}

struct ft_nccl_connections;
struct ft_nccl_followed;
struct ft_nccl_transfer;

/*
 * Of all connections side by side. By cache line: what comes next; whose packets; clear-to-sends; the next of them. The first
 * is all that data and acknowledgments ask for, besides their lane, where there are several, and their message; the second is
 * compared where it is not sure that a packet goes where the last one of its half-connection went.
 */
struct ft_nccl_straight {
	_Alignas(FT_NCCL_STRAIGHT_LINE) bool is_on;
	uint8_t stage;   /* enum ft_nccl_straight_stage */
	uint8_t mask;    /* places of messages less 1, as in the ring */
	bool big;        /* immediates are */
	bool bare;       /* they may come in empty writes */
	bool data_acked; /* there were ACKs of data */
	uint16_t pmtu;   /* bytes, a power of two; 0: not known */
	uint8_t pmtu_bits;
	uint32_t rkey;
	uint32_t length_most; /* of a write */
	uint32_t packets;     /* clear-to-sends, and of data, as far as they are shown */
	uint32_t cts_psn;     /* of the next clear-to-send */
	/* how often it went back to the general way, after which its ends may be others */
	uint32_t turns;
	uint64_t newest; /* message asked for */
	union {          /* message k in place k & mask */
		struct ft_nccl_straight_message *messages;
		uint8_t *wholes; /* several lanes: ft_nccl_straight_whole() */
	};
	union {
		struct {
			uint32_t data_psn;
			uint32_t written; /* lower half of all bytes */
			uint64_t next;    /* message that will be written */
		};
		struct {                  /* several lanes */
			uint32_t offered; /* bytes, of each message */
			uint32_t begun;   /* messages, since it went straight */
			uint8_t stride; /* from one message of a lane to the next, as they mostly are .. */
			uint8_t step;  /* .. and at least */
			uint8_t parts; /* of a message */
			uint8_t all;   /* what `waiting` is of a new message */
			/* lanes take turns in an order not known: where data goes tells which message it is of */
			bool searched;
			bool numbered; /* as of the connection */
			bool is_adaptive_known;
			/* the newest so many were asked for in places that do not overlap, by lower halves */
			uint8_t apart;
		};
	};

	uint8_t hosts[2][16];              /* by enum ft_nccl_role */
	struct ft_nccl_followed *followed; /* whose it is */
	uint32_t frames;                   /* upper half of all their numbers */
	uint32_t written_more;             /* upper half of `written` */
	uint32_t acked; /* newest of the PSNs of clear-to-sends; FT_NCCL_NONE: none here */

	_Alignas(FT_NCCL_STRAIGHT_LINE) uint64_t cts_va; /* of the next one */
	uint32_t fifo_rkey;
	uint32_t cts_left;      /* until the first slot must come again, or one needs room */
	uint16_t slots;         /* then the first again, a power of two; 0: not known */
	uint16_t slot_bytes;    /* from one to the next */
	uint8_t entry_bytes;    /* of each .. */
	uint8_t entry_captured; /* .. of which so many */
	uint8_t number_at, number_bytes; /* in `entry` */
	bool has_entry;                  /* `entry` is that of the message behind `entry_k` */
	uint32_t many_bytes;             /* of `many` */
	uint64_t entry_k;
	void *many;                                /* NULL, or room for messages */
	struct ft_nccl_straight_whole *next_whole; /* several lanes: of message `newest` + 1 */
	uint32_t va_upper;                         /* rota: half, of what is asked for */

	_Alignas(FT_NCCL_STRAIGHT_LINE)
		uint8_t entry[FT_NCCL_STRAIGHT_LINE]; /* but for its address */
	/* several lanes: lower half of where message k was asked for, in place k % FT_NCCL_STRAIGHT_LEAST */
	uint32_t asked[FT_NCCL_STRAIGHT_LEAST];

	union {
		struct ft_nccl_straight_message few[FT_NCCL_STRAIGHT_LEAST];
		struct ft_nccl_rota_message rota[FT_NCCL_STRAIGHT_LEAST]; /* ft_nccl_rota_place() */
	};
	struct ft_nccl_straight_lane lanes[FT_NCCL_STRAIGHT_LANES];
	/* of each lane, by enum ft_nccl_role: ft_nccl_straight_name() */
	uint32_t qpns[FT_NCCL_STRAIGHT_LANES][2];
};
static_assert(offsetof(struct ft_nccl_straight, hosts) == FT_NCCL_STRAIGHT_LINE &&
		      offsetof(struct ft_nccl_straight, cts_va) == 2 * FT_NCCL_STRAIGHT_LINE &&
		      sizeof(((struct ft_nccl_straight *)NULL)->asked) == FT_NCCL_STRAIGHT_LINE,
	      "what is asked for together is in one cache line");

/* A queue pair's number, and whether addresses are LIDs. */
static inline uint32_t ft_nccl_straight_name(uint32_t qpn, bool by_lid)
{
	return qpn | (by_lid ? UINT32_C(1) << 31 : 0);
}

/* Nothing is kept that only the general way finds. */
static inline bool ft_nccl_may_go_straight(const struct ft_nccl_config *config)
{
	return config->ends_only && config->messages == 0 && config->queue_pairs == 0;
}

/* Of a message of so many bytes. */
static inline uint32_t ft_nccl_straight_packets(const struct ft_nccl_straight *straight,
						uint32_t length)
{
	return straight->pmtu == 0 ? 1 : (length + straight->pmtu - 1) >> straight->pmtu_bits;
}

/* What one message takes in `wholes`. */
static inline size_t ft_nccl_straight_whole_bytes(const struct ft_nccl_straight *straight)
{
	return sizeof(struct ft_nccl_straight_whole) +
	       straight->parts * sizeof(struct ft_nccl_straight_part);
}

/* Several lanes: message k, and its parts; and that which a lane has of it. */
static inline struct ft_nccl_straight_whole *ft_nccl_straight_whole(
	const struct ft_nccl_straight *straight, uint64_t k)
{
	size_t place = k & straight->mask;

	return (struct ft_nccl_straight_whole *)(straight->wholes +
						 place * ft_nccl_straight_whole_bytes(straight));
}

static inline const struct ft_nccl_straight_part *ft_nccl_straight_parts(
	const struct ft_nccl_straight_whole *whole)
{
	return (const struct ft_nccl_straight_part *)(whole + 1);
}

static inline struct ft_nccl_straight_part *ft_nccl_straight_part(
	const struct ft_nccl_straight *straight, struct ft_nccl_straight_whole *whole,
	uint32_t lane)
{
	return (struct ft_nccl_straight_part *)(whole + 1) + (straight->parts == 1 ? 0 : lane);
}

/* Several lanes: the message under way on one, or the next if lanes take turns. */
static inline void ft_nccl_straight_expect(const struct ft_nccl_straight *straight,
					   struct ft_nccl_straight_lane *lane)
{
	bool is_idle = lane->stage == FT_NCCL_STRAIGHT_IDLE;

	lane->likely =
		ft_nccl_straight_whole(straight, lane->at + (is_idle ? straight->stride : 0));
}

/* The length that an immediate says. */
static inline uint32_t ft_nccl_straight_says(const struct ft_nccl_straight *straight,
					     uint32_t immdt)
{
	return ft_nccl_immediate(immdt, straight->big ? FT_NCCL_BIG : FT_NCCL_LITTLE);
}

/* The number of a frame, from the lower half of it. */
static inline uint64_t ft_nccl_straight_frame(const struct ft_nccl_straight *straight,
					      uint32_t lower)
{
	return (uint64_t)straight->frames << 32 | lower;
}

/* From the clear-to-send of message k to the next one: its slot, and its entry. */
static inline void ft_nccl_straight_count_up(struct ft_nccl_straight *straight, uint64_t k)
{
	uint8_t *number = straight->entry + straight->number_at;
	bool is_last = straight->slots != 0 && ((k + 1) & (straight->slots - 1u)) == 0;

	straight->cts_va += straight->slot_bytes;
	straight->cts_va -= is_last ? (uint32_t)straight->slots * straight->slot_bytes : 0;
	for (uint8_t i = 0; i < straight->number_bytes && ++number[i] == 0; i++)
		;
}

/* One that is as expected was taken in. */
static inline void ft_nccl_straight_count_cts(struct ft_nccl_straight *straight)
{
	straight->newest++;
	straight->cts_psn = ft_psn_add(straight->cts_psn, 1);
	straight->cts_left--;
	straight->packets++;
	ft_nccl_straight_count_up(straight, straight->newest);
}

/* Several lanes. What was asked for long since, with as many messages behind it as may wait, may be over. */
static inline bool ft_nccl_straight_is_recent(const struct ft_nccl_straight *straight, uint64_t k)
{
	return straight->newest - k < FT_NCCL_ASKED_AHEAD || straight->numbered;
}

/* A clear-to-send of one entry was taken in, for message k: the next is to be like it. */
void ft_nccl_straight_note(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			   uint64_t k);

/* Go straight from here on, if it is known what comes next. */
void ft_nccl_straight_enter(struct ft_nccl_followed *followed);

/* What packets to a place of it ask for of memory, besides their message: ft_nccl_straight_prefetch(). */
enum ft_nccl_straight_kind {
	FT_NCCL_STRAIGHT_DATA,    /* or what answers it: the connection's first line */
	FT_NCCL_STRAIGHT_CTS,     /* that, and those of clear-to-sends */
	FT_NCCL_STRAIGHT_LANE,    /* the connection's first line, and the lane's */
	FT_NCCL_STRAIGHT_OF_ROTA, /* the lane's alone */
	FT_NCCL_STRAIGHT_KINDS
};
enum ft_nccl_straight_kind ft_nccl_straight_kind(const struct ft_nccl_straight *straight,
						 uint32_t place);

/* Where in it is what they ask for first: the lane's line in a rota, else its own first one. In bytes. */
static inline size_t ft_nccl_straight_first_at(enum ft_nccl_straight_kind kind, uint32_t place)
{
	return kind == FT_NCCL_STRAIGHT_OF_ROTA
		       ? offsetof(struct ft_nccl_straight, lanes) +
				 ft_nccl_straight_lane(place) * sizeof(struct ft_nccl_straight_lane)
		       : 0;
}

/* From there on, in bytes: two more lines. Of a kind and a place. */
struct ft_nccl_straight_reach {
	uint16_t second, third;
};

enum { FT_NCCL_STRAIGHT_REACHES = FT_NCCL_STRAIGHT_KINDS * FT_NCCL_STRAIGHT_PLACES };
extern const struct ft_nccl_straight_reach ft_nccl_straight_reaches[FT_NCCL_STRAIGHT_REACHES];

static inline uint32_t ft_nccl_straight_reach_of(enum ft_nccl_straight_kind kind, uint32_t place)
{
	return (uint32_t)kind * FT_NCCL_STRAIGHT_PLACES + place;
}

/*
 * Fetch it. `ahead`: where the message is, or was. There is no branch on the kind, as that is as good as random. Compilers take
 * a function that only fetches for one that does nothing, and leave out calls to it: it is in line wherever it is used.
 */
__attribute__((always_inline)) static inline void ft_nccl_straight_prefetch(
	const uint8_t *first, const struct ft_nccl_straight_reach *reach, const uint8_t *ahead)
{
	__builtin_prefetch(first, 1);
	__builtin_prefetch(first + reach->second, 1);
	__builtin_prefetch(first + reach->third, 1);
	__builtin_prefetch(ahead, 1);
}

/* The packet goes to this place of it, and comes from the other end. */
bool ft_nccl_straight_has(const struct ft_nccl_straight *straight, uint32_t place,
			  const struct ft_flow_key *key);

enum { FT_NCCL_STRAIGHT_STAYS = 1 }; /* where no message is */

/*
 * A packet to one of its places. 0: nothing has changed; else it is as expected, and done with: where the message is that the
 * next packet to this place is likely to be of, or FT_NCCL_STRAIGHT_STAYS: where it was likely to be before.
 */
uintptr_t ft_nccl_straight_take(struct ft_nccl_straight *straight, uint32_t place,
				const struct ft_nccl_glimpse *glimpse);

/* What was not seen yet is not to be acknowledged, and NAKs tell more. */
bool ft_nccl_straight_acknowledges(const struct ft_observed *observed, uint32_t next);

/* straight_lanes.c: the same of several lanes. */
uintptr_t ft_nccl_straight_take_lane(struct ft_nccl_straight *straight, uint32_t place,
				     const struct ft_nccl_glimpse *glimpse);

/*
 * straight_lanes_turn.c: onto it and back, likewise. False: it does not go straight, as most that begin do not yet; then, by
 * what its messages are. What is asked for next, and all else that is alike, is known on the way there; room for messages is
 * made here.
 */
bool ft_nccl_straight_may_have_lanes(const struct ft_nccl_followed *followed);
bool ft_nccl_straight_take_over_lanes(struct ft_nccl_followed *followed);
void ft_nccl_straight_tell_lanes(struct ft_nccl_followed *followed);

/* One message, into *whole, which is all zero. False: it takes the general way, and *whole is to be left. */
bool ft_nccl_straight_take_over_message(const struct ft_nccl_straight *straight,
					const struct ft_nccl_transfer *transfer,
					struct ft_nccl_straight_whole *whole);

/* One from before those that are taken over is not over, or may be another one's: nobody else gets its place. */
bool ft_nccl_straight_keeps_place(const struct ft_nccl_followed *followed,
				  const struct ft_nccl_transfer *transfer);

/* The PSN of data that comes next on a lane, wherever it is known. */
uint32_t ft_nccl_straight_next(const struct ft_nccl_followed *followed, uint8_t lane);

/* Room for so many bytes in `many`, aligned to cache lines; zero if it is new; 0 or -ENOMEM. And none any more. */
int ft_nccl_straight_make_room(struct ft_nccl_followed *followed, size_t bytes);
void ft_nccl_straight_drop_room(struct ft_nccl_followed *followed);

/*
 * The next clear-to-send: by its headers; where its entry is, if so much of it was captured as of the one before, or NULL; and
 * whether that is like the one before but for its address.
 */
bool ft_nccl_straight_is_next_cts(const struct ft_nccl_straight *straight,
				  const struct ft_observed *observed);
const uint8_t *ft_nccl_straight_entry(const struct ft_nccl_straight *straight,
				      const struct ft_nccl_glimpse *glimpse);
bool ft_nccl_straight_is_like(const struct ft_nccl_straight *straight, const uint8_t *entry);

/*
 * One whose entry is like that is the next but for its slot, the first one again, in a FIFO of as many slots as it can have: now
 * that is known.
 */
bool ft_nccl_straight_go_round(struct ft_nccl_straight *straight,
			       const struct ft_observed *observed);

/* Message k was asked for on the way: as if it had been read. Its place is free. */
struct ft_nccl_transfer *ft_nccl_straight_ask(struct ft_nccl_followed *followed, uint64_t k,
					      uint64_t va, uint64_t cts_frame);

/* What is behind the BTH: a RETH, if its operation has one; then the immediate, likewise, and payload. */
enum { FT_NCCL_STRAIGHT_RETH = 16 /* bytes */ };
const uint8_t *ft_nccl_straight_extension(const struct ft_nccl_glimpse *glimpse);

/* As long as the payload of one packet may be. */
bool ft_nccl_straight_is_sane(uint32_t payload);

/* It may be a write to the array of sizes. */
bool ft_nccl_straight_is_to_sizes(const struct ft_nccl_followed *followed, uint64_t va);

/* A lane's queue pairs are known now: if it goes straight, their packets may, too. */
void ft_nccl_straight_pair(struct ft_nccl_followed *followed, uint8_t lane);

/* Back to the general way, if it went straight. */
void ft_nccl_straight_leave(struct ft_nccl_followed *followed);
