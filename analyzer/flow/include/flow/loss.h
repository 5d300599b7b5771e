#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How many frames the mirror lost, from what was proved lost (docs/coverage.md). Every RDMA frame
 * seen is told here once, when it comes: either it closes a `space`, a place in a sequence where a
 * loss just before it shows, or it is `silent`: the first of a sequence, before which losses do not
 * show, in no sequence (acknowledgements, CNPs, UD), or sent again. A sequence of n frames has
 * n - 1 spaces. `holes` are frames proved lost; for the others the rate seen on these stands.
 * Kept by time, in bins of equally many frames, because losses come in bursts and the mix of frames
 * changes: what was lost is taken to be of the mix around it, and the spread of it gives the bounds.
 */

enum {
	FT_LOSS_BINS = 4096,
	FT_LOSS_FIRST_FRAMES = 512, /* for FT_LOSS_FIRST */
	FT_LOSS_VAGUE = 64,         /* PSNs of the longest hole that ft_loss_vague() is for */
	FT_LOSS_NEAR = 128,         /* frames that ft_loss_near() counts to */
	FT_LOSS_PLACES = 1024,      /* of ft_loss_lone() that are kept one by one */
};

/* Why a hole may be none. */
enum ft_loss_doubt {
	FT_LOSS_FIRST, /* requests among the first frames of the capture: they may have been overtaken before it began */
	FT_LOSS_EARLY, /* others among the first of a half: they may have passed before, and what was seen be sent again */
	FT_LOSS_ONSET, /* likewise, and among the very first, where what was overtaken or sent again shows most */
	FT_LOSS_OVERDUE, /* responses near the end: they may yet be asked for again */
	FT_LOSS_DOUBTS
};

/* What is missing, and nothing tells yet who lost it. */
enum ft_loss_missing {
	FT_LOSS_REQUESTS,
	FT_LOSS_RESPONSES,
	FT_LOSS_UNRELIABLE,
	FT_LOSS_BETWEEN, /* left out between READs: not `uncertain` */
	FT_LOSS_CUT, /* before the first packet of a half, in the midst of a message: likewise */
	FT_LOSS_OLDER, /* messages before the first of a half, by the first count of them (MSN): likewise */
	FT_LOSS_UNASKED, /* requests of which an answer is all that passed: likewise; and of such .. */
	FT_LOSS_UNASKED_APART,   /* .. those where nothing else went the way of the requests */
	FT_LOSS_MIDDLES,         /* of the holes: ft_loss_middles() */
	FT_LOSS_MIDDLES_OPEN,    /* likewise of FT_LOSS_REQUESTS */
	FT_LOSS_MIDDLES_OVERDUE, /* likewise of FT_LOSS_RESPONSES */
	FT_LOSS_MISSING
};

struct ft_loss_bin {
	uint64_t spaces;     /* frames seen that closed a space, with a hole in it or not */
	uint64_t holes;      /* frames proved lost by the mirror */
	uint64_t silent;     /* RDMA frames seen that closed none, starts too */
	uint64_t again;      /* of the silent ones, those that passed for the second time .. */
	uint64_t unreliable; /* .. and those in sequences of which nobody says what is missing .. */
	uint64_t exchanges;  /* .. and requests that are all of their half, with an answer */
	uint64_t doubted[FT_LOSS_DOUBTS];  /* of the holes: ft_loss_doubt() */
	uint64_t missing[FT_LOSS_MISSING]; /* ft_loss_miss(), ft_loss_overdue() */
};

/* A bin, its first frame, and how many it holds; 0: it is none. */
struct ft_loss_place {
	uint64_t from, frames;
	uint64_t bin;
};

/* Bin i holds frames i << shift and on; the width doubles when the last bin is full. */
struct ft_loss_evidence {
	unsigned shift;
	uint32_t used;
	struct ft_loss_place current; /* where the last frame counted: no evidence itself */
	uint64_t squares; /* of the sizes of all holes, added up: how long losses last */
	uint64_t fabric;  /* frames proved lost by the fabric: first seen when sent again */
	uint64_t filled;  /* of them, those that passed once */
	uint64_t twice;   /* frames that passed when sent first and once more, no oftener */
	/* frames that passed for the third time or oftener, or as the first ones of a life that was the former one */
	uint64_t oftener;
	uint64_t past; /* .. requests among them that were answered for before, or may have been */
	uint64_t renewed; /* silent ones that closed a space in a life that was doubted at first */
	uint64_t lives;   /* that began on queue pairs in use, without a set-up in view */
	uint64_t late;    /* frames overtaken on their way, seen once */
	uint64_t late_once; /* of them, those that passed once */
	uint64_t refused;   /* NAKs that want packets again */
	/* PSNs of holes that were given up before anything answered for them, for want of room */
	uint64_t crowded;
	uint64_t early;  /* frames seen among the first of their half, where holes are doubtful */
	uint64_t longer; /* by so many do refusals there make that longer */
	uint64_t onset;  /* of `early`, those for FT_LOSS_ONSET */
	uint64_t aside;  /* of the spaces, those where holes are not believed */
	/* copies of packets that mostly have none: they may have been sent again .. */
	uint64_t alike;
	uint64_t models;                          /* .. and packets that they are like */
	uint64_t doubted_squares[FT_LOSS_DOUBTS]; /* like `squares`, of what is doubtful */
	uint64_t doubted_answers[FT_LOSS_DOUBTS]; /* like `answers_lost` */
	uint64_t waiting;   /* requesters that lack responses of FT_LOSS_OVERDUE */
	uint64_t uncertain; /* frames missing where fabric and mirror cannot be told apart .. */
	/* .. of them, those that a reliable transport had yet to answer for .. */
	uint64_t unanswered;
	uint64_t overdue; /* .. and responses that may yet come, or be asked for again .. */
	uint64_t missing_squares[FT_LOSS_MISSING]; /* .. like `squares`, of those in bins */
	uint64_t questions;                        /* READs and ATOMICs seen .. */
	uint64_t answers;                          /* .. responses they ask for .. */
	uint64_t answers_lost;                     /* .. and those proved lost */
	uint64_t requests_lost;                    /* PSNs of requests proved lost .. */
	uint64_t implied;      /* .. and of them, questions of which the first response was seen */
	uint64_t orphans;      /* other responses to questions that never passed */
	uint64_t answers_seen; /* responses that closed a space .. */
	/* .. and those that no other answer is behind, nor one to the last requests: their loss would not show */
	uint64_t ends;
	/* halves whose newest request was answered for: had it been lost with the answer, it would not show */
	uint64_t ends_answered;
	uint64_t asking;       /* requests seen that ask for an ACK .. */
	uint64_t acks;         /* .. and ACKs seen */
	uint64_t timed;        /* requests that an ACK covered, one of a half at a time .. */
	uint64_t passed_over;  /* .. and those of which it was the ACK of a later one */
	uint64_t ahead;        /* ACKs of what had not been requested yet, in view .. */
	uint64_t acked_unseen; /* .. and of what had not, and is missing among what was */
	/* messages that ACKs counted of requests some of which are missing, and of them those without an ACK of their own */
	uint64_t torn_counted, torn_uncounted;
	uint64_t replies; /* of the silent ones, those that answer: they, and responses */
	uint64_t small;   /* likewise, others no longer than an ACK or not much: ft_loss_small() */
	uint64_t reads[FT_LOSS_VAGUE + 1]; /* READs and ATOMICs seen, by the PSNs that they take */
	uint64_t vague[FT_LOSS_VAGUE + 1]; /* holes in which such may lie, by their PSNs .. */
	uint64_t vague_counted;            /* .. and packets that they count for among the holes */
	uint64_t missing_vague[FT_LOSS_VAGUE + 1]; /* both of FT_LOSS_REQUESTS */
	uint64_t missing_counted;
	/* responses missing before another one, of requesters not known, by the PSNs left out .. */
	uint64_t skips[FT_LOSS_VAGUE + 1];
	uint64_t missing_skips[FT_LOSS_VAGUE + 1]; /* .. and those of FT_LOSS_RESPONSES */
	uint64_t answering; /* halves that respond, whose requester is not known */
	uint64_t joined;    /* READs seen to begin right where the one before was seen to end .. */
	/* .. and behind that, where other requests may lie between, or responses lost */
	uint64_t apart;
	/* messages of which all is missing but First and Last, long ones times 5 .. */
	uint64_t hollow;
	/* .. and holes with a Middle next to them, or cut by what was answered for */
	uint64_t torn;
	/* of FT_LOSS_MIDDLES, responses; and requests that were not answered for yet .. */
	uint64_t middles_answers, middles_unanswered;
	/* .. and `squares` and those of FT_LOSS_REQUESTS and FT_LOSS_RESPONSES, without them */
	uint64_t shown_squares, shown_open_squares, shown_overdue_squares;
	uint64_t filtered; /* frames that a filter by opcode took: ft_loss_believe_filter() */
	uint64_t runs;     /* holes in the midst of a message, where none lies .. */
	uint64_t run_psns; /* .. and their PSNs: how many requests are lost in a row */
	/* spaces by how many frames of the capture they are behind the first of their sequence .. */
	uint64_t near[FT_LOSS_NEAR];
	uint64_t begun; /* .. and sequences whose spaces are counted there .. */
	/* .. of them, those among FT_LOSS_FIRST_FRAMES: nothing is told of their beginning */
	uint64_t begun_soon;
	/* halves met in the midst of the capture, with a packet that does not end its message .. */
	uint64_t opened;
	uint64_t cut;       /* .. or does not begin it: ft_loss_believe_cut() .. */
	uint64_t forgotten; /* .. unless they had been met before: halves that left the table */
	/* halves whose messages were counted from the first on, wherever they were met .. */
	uint64_t counted;
	uint64_t older;  /* .. and of them, those of FT_LOSS_OLDER: ft_loss_believe_cut() .. */
	bool older_late; /* .. some of which are told of behind FT_LOSS_FIRST_FRAMES alone */
	/* `cut` and `older`, or up to half of all halves: those whose beginning may have been lost */
	uint64_t maybe_cut, maybe_older;
	/* of the exchanges, those where others went the way of the requests, too .. */
	uint64_t exchanges_beside;
	uint64_t exchanges_alike; /* others that may be such, of halves that are all alike */
	/* .. and of those in bins, frames from the request to its answer, each up to FT_LOSS_NEAR */
	uint64_t exchange_frames;
	uint64_t unmet_requests; /* requests that are all of their half, without an answer */
	/* halves of which all is damaged, or that had another life before: requests of theirs may be hidden */
	uint64_t hidden;
	/* halves of several answers whose requests are not here, and those whose are: a view of some of the ways has such */
	uint64_t sided, faced;
	/* ft_loss_crowd(): halves of all ways, .. */
	uint64_t crowd, crowd_squares; /* .. the squares of how many each way has .. */
	uint64_t crowd_off; /* .. and of how many more ask than answer, or the other way round */
	/* frames of ft_loss_lone(), << 1, and whether it answers; of blocks of them whose number ends in so many zeros */
	uint64_t places[FT_LOSS_PLACES];
	uint32_t place_count, place_zeros;
	/* ft_loss_believe_exchanges(): of the spaces, and of the holes, those of exchanges .. */
	uint64_t answered, unasked;
	bool parted; /* .. and losses outlast these */
	struct ft_loss_bin bins[FT_LOSS_BINS];
};

/* No evidence: all of it is zero, and evidence that is all zero needs no call. */
void ft_loss_init(struct ft_loss_evidence *evidence);

/* Make the frame's bin the current one; widths double until there is one. */
void ft_loss_turn(struct ft_loss_evidence *evidence, uint64_t frame);

/* Whether the last bin turned to is the frame's, so that ft_loss_current() is it. */
static inline bool ft_loss_is_current(const struct ft_loss_evidence *evidence, uint64_t frame)
{
	return frame - evidence->current.from < evidence->current.frames;
}

/* The bin turned to last: there has to be one. Good until the next turn. */
static inline struct ft_loss_bin *ft_loss_current(struct ft_loss_evidence *evidence)
{
	return &evidence->bins[evidence->current.bin];
}

/* The frame's own bin, turned to if need be. Good until the next turn. */
static inline struct ft_loss_bin *ft_loss_bin(struct ft_loss_evidence *evidence, uint64_t frame)
{
	if (__builtin_expect(!ft_loss_is_current(evidence, frame), 0))
		ft_loss_turn(evidence, frame);
	return ft_loss_current(evidence);
}

/* Frame `frame` (from 1) closed a space: it follows another one of its sequence, with a hole between them or not. */
static inline void ft_loss_space(struct ft_loss_evidence *evidence, uint64_t frame)
{
	ft_loss_bin(evidence, frame)->spaces++;
}

/* Likewise, and it is a response. */
static inline void ft_loss_answer(struct ft_loss_evidence *evidence, uint64_t frame)
{
	ft_loss_space(evidence, frame);
	evidence->answers_seen++;
}

/* It is in no sequence: nothing shows what was lost just before it. */
static inline void ft_loss_silent(struct ft_loss_evidence *evidence, uint64_t frame)
{
	ft_loss_bin(evidence, frame)->silent++;
}

/* It is in no sequence, and small: a CNP, or a datagram of a few bytes. */
static inline void ft_loss_small(struct ft_loss_evidence *evidence, uint64_t frame)
{
	ft_loss_silent(evidence, frame);
	evidence->small++;
}

/* A frame that closed a space was the first of another sequence. */
static inline void ft_loss_first(struct ft_loss_evidence *evidence, uint64_t frame)
{
	struct ft_loss_bin *bin = ft_loss_bin(evidence, frame);

	if (bin->spaces == 0)
		return;
	bin->spaces--;
	bin->silent++;
}

/* It is in no sequence, and answers. */
static inline void ft_loss_reply(struct ft_loss_evidence *evidence, uint64_t frame)
{
	ft_loss_silent(evidence, frame);
	evidence->replies++;
}

/* A frame that closed a space is so many behind the first of its sequence, which would be lost with it in a long loss. */
static inline void ft_loss_near(struct ft_loss_evidence *evidence, uint64_t behind)
{
	if (behind < FT_LOSS_NEAR)
		evidence->near[behind]++;
}

/* The frame had passed once before: had it not, it would now, and would be taken for lost by the fabric. */
static inline void ft_loss_again(struct ft_loss_evidence *evidence, uint64_t frame)
{
	struct ft_loss_bin *bin = ft_loss_bin(evidence, frame);

	bin->silent++;
	bin->again++;
}

/* A READ or ATOMIC that asks for so many responses. */
static inline void ft_loss_question(struct ft_loss_evidence *evidence, uint32_t answers)
{
	evidence->questions++;
	evidence->answers += answers;
}

/* Likewise, wherever its half is; `psns`: that it takes, for its responses. */
static inline void ft_loss_read(struct ft_loss_evidence *evidence, uint32_t psns)
{
	if (psns <= FT_LOSS_VAGUE)
		evidence->reads[psns]++;
}

/*
 * In a hole of so many PSNs READs may lie. `counted` packets are told of it by ft_loss_hole(): the fewest that it may be if
 * its half sends READs, else as many as PSNs.
 */
static inline void ft_loss_vague(struct ft_loss_evidence *evidence, uint32_t psns, uint32_t counted)
{
	if (psns > FT_LOSS_VAGUE)
		return;
	evidence->vague[psns]++;
	evidence->vague_counted += counted;
}

/* Likewise by ft_loss_miss(); all the PSNs are `uncertain`. */
static inline void ft_loss_miss_vague(struct ft_loss_evidence *evidence, uint32_t psns,
				      uint32_t counted)
{
	if (psns > FT_LOSS_VAGUE)
		return;
	evidence->missing_vague[psns]++;
	evidence->missing_counted += counted;
}

/* A READ was seen to begin so many PSNs behind the end of the one before, which was seen, too. */
static inline void ft_loss_follow(struct ft_loss_evidence *evidence, uint32_t psns)
{
	evidence->joined += psns == 0;
	evidence->apart += psns != 0;
}

/*
 * The frame is a request and all that its half has sent, and an answer to it came `behind` frames later. `beside`: other halves
 * went the same way, between the same addresses. Told once the frame has been told as above, when nothing else of the half will
 * come.
 */
void ft_loss_exchange(struct ft_loss_evidence *evidence, uint64_t frame, uint64_t behind,
		      bool beside);

/*
 * Likewise of one without the other: a request without an answer, or, if it `answers`, the first of the answers to one request
 * that never passed. `beside`: other halves went the way of the request.
 */
void ft_loss_lone(struct ft_loss_evidence *evidence, uint64_t frame, bool answers, bool beside);

/*
 * Between two addresses so many halves that ask, and so many that answer what goes that way, are without a pair. Where each has one
 * of the other kind, as in a crowd that is not told apart, they are as many; but for what is lost of either.
 */
void ft_loss_crowd(struct ft_loss_evidence *evidence, uint64_t asking, uint64_t answering);

/* So many PSNs were left out before a response, told by ft_loss_hole() or, if `overdue`, ft_loss_overdue(). */
static inline void ft_loss_skip(struct ft_loss_evidence *evidence, uint32_t psns, bool overdue)
{
	if (psns <= FT_LOSS_VAGUE)
		(overdue ? evidence->missing_skips : evidence->skips)[psns]++;
}

/* A hole of so many PSNs lies in the midst of a message: as many packets are missing. */
static inline void ft_loss_inside(struct ft_loss_evidence *evidence, uint32_t psns)
{
	evidence->runs++;
	evidence->run_psns += psns;
}

/* Packets in a row that are missing, and how many of them are in the midst of messages, if none of such is in view. */
struct ft_loss_run {
	uint32_t lost, open; /* told by ft_loss_hole(); by ft_loss_miss() */
	uint32_t lost_middles, open_middles;
	bool answers; /* else requests */
	bool missing; /* requests: the open ones are told of by ft_loss_miss(), too */
};

/* A run that was told of, too: for ft_loss_believe_filter(). `frame`: as there. */
void ft_loss_middles(struct ft_loss_evidence *evidence, uint64_t frame,
		     const struct ft_loss_run *run);

/*
 * `count` frames in a row of one sequence are proved lost; `frame` is the one behind the hole or, if
 * that is not at hand, the one that proved it. Says nothing of `frame` itself, which is told as above.
 */
void ft_loss_hole(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count);

/* The hole just told, `count` frames of it, may be none. */
void ft_loss_doubt(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count,
		   enum ft_loss_doubt doubt);

/* `count` frames in a row that are surely missing before this frame, of which it is not known who lost them. */
void ft_loss_miss(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count,
		  enum ft_loss_missing what);

/* `count` responses in a row are missing since this frame, for too short a time to say that they will not come. */
void ft_loss_overdue(struct ft_loss_evidence *evidence, uint64_t frame, uint32_t count);

/* Add another engine's evidence; the result does not depend on who saw which frame. */
void ft_loss_merge(struct ft_loss_evidence *into, const struct ft_loss_evidence *from);

/* RDMA frames told of. */
uint64_t ft_loss_seen(const struct ft_loss_evidence *evidence);

/*
 * Copies and what is not RDMA leave bins empty where a bin is one frame: drop those, so that a capture with every
 * frame twice gives the bounds of the capture. Nothing may be told to the evidence after it.
 */
void ft_loss_compact(struct ft_loss_evidence *evidence);
