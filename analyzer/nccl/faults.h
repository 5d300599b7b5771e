#pragma once

#include "followed.h"

/*
 * What is wrong with a packet of a followed connection. Nothing is told that loss, retransmission, reordering or a start
 * in the middle could explain: what a clear-to-send not seen yet could explain waits for the next one.
 */

/* It is a guess how queue pairs share the messages or take turns. */
bool ft_nccl_has_guessed_lanes(const struct ft_nccl_followed *followed);

/* A data write that fits nothing although all that went before it was seen. */
void ft_nccl_fault_write(struct ft_nccl_moment *moment);

/*
 * A data write in sequence that fits nothing, where it is a guess which queue pairs have which messages: waits likewise.
 * `is_rejected`: whatever the connection goes on with, it is no part of that.
 */
void ft_nccl_fault_nowhere(struct ft_nccl_moment *moment, bool is_rejected);

/*
 * A connection has become known from its first message on, and its data on the queue pair begins with `first`: a write before
 * that in its log, which none of the clear-to-sends so far asked for, waits likewise for the next one.
 */
void ft_nccl_fault_before(struct ft_nccl_followed *followed, const struct ft_nccl_log *log,
			  const struct ft_nccl_seen *first);

/* A data write before its clear-to-send was seen: to be judged when that comes, or a later one, or nothing more. */
void ft_nccl_fault_early(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer);

/*
 * One way of taking turns is left, by which early data of the queue pair went elsewhere than its message asked for: it is told, and
 * its messages are not counted any more.
 */
void ft_nccl_fault_in_way(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed, uint8_t lane);

/* A data write in sequence, or out of it, that fits nothing that was asked for: likewise. */
void ft_nccl_fault_odd(struct ft_nccl_moment *moment);

/* A data write farther ahead than packets overtake each other, and the sequence went on without it. */
void ft_nccl_fault_apart(struct ft_nccl_moment *moment);

/* A data write with a PSN at which the sequence has gone on in the midst of another one: whatever it is of. */
void ft_nccl_fault_amid(struct ft_nccl_moment *moment);

/*
 * Message k begins, which had been asked for: an early write in front of it on the queue pair, which has messages in their order, is
 * of none that is asked for behind it. Then it is told.
 */
void ft_nccl_fault_passed(struct ft_nccl_moment *moment, uint64_t k);

/*
 * The clear-to-send of message k came: whether data that was before it is its own. False: it was not, is told, and is
 * forgotten, so that the message can still come.
 */
bool ft_nccl_fault_resolve(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/* Something of the connection waits until it is known whether packets pass in order: acknowledgments tell. */
bool ft_nccl_fault_waits(const struct ft_nccl_connections *connections,
			 const struct ft_nccl_followed *followed);

/* At the end: what is still waiting is told if no clear-to-send can have been missed. */
void ft_nccl_fault_settle(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed);

/* A data write sent again that is not what it was. Which one had its PSN goes to *twin; its message, or NULL. */
struct ft_nccl_transfer *ft_nccl_fault_again(struct ft_nccl_moment *moment,
					     const struct ft_nccl_begun **twin);

/* A write to the sender that is no clear-to-send of the connection, or is in the wrong place. */
void ft_nccl_fault_cts(struct ft_nccl_moment *moment, bool is_read, uint64_t k);

/* A clear-to-send for a message that has one, that is long over, or not in turn. */
void ft_nccl_fault_replayed(struct ft_nccl_moment *moment, uint64_t k);

/* What was found before it was known that packets pass in order is told. */
void ft_nccl_fault_release(struct ft_nccl_connections *connections,
			   const struct ft_nccl_followed *followed);

/* Nothing is told of what waits for it to be known whether packets pass in order, nor of early data on the lane. */
void ft_nccl_fault_forget(const struct ft_nccl_moment *moment);

/*
 * An empty write that says how much there was of a message, right behind the end of the one before: nothing was written that it
 * could end. It is told, and true.
 */
bool ft_nccl_fault_end(struct ft_nccl_moment *moment);

/* The end of a message of several requests on the queue pair: each has a write there, an empty one if there is nothing for it. */
void ft_nccl_fault_few(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/*
 * Message `begins` begins with this write while another one is under way on the queue pair: false unless it is sure that this lacks
 * its end. Then the write is none of the connection's.
 */
bool ft_nccl_fault_unended(struct ft_nccl_moment *moment, uint64_t begins);

/*
 * A write goes to what the message under way on the queue pair asked for, but is not what that has next: false unless it is sure
 * what it had so far. Then it is told, alone or with the one before it, and is none of the connection's.
 */
bool ft_nccl_fault_further(struct ft_nccl_moment *moment);

/*
 * Sizes of message k: false if that is under way, or it is not sure that it is not. Otherwise, or where none is right behind the end
 * of another one, the write is none of the connection's, and it is in doubt whether what came of one under way is.
 */
bool ft_nccl_fault_sizes(struct ft_nccl_moment *moment, uint64_t k);

/* The immediates of a message of one request that is complete. */
void ft_nccl_fault_immediate(struct ft_nccl_moment *moment,
			     const struct ft_nccl_transfer *transfer);

/* What those were that ended before it was known what immediates are, if it is by now. */
void ft_nccl_fault_first_ends(const struct ft_nccl_moment *moment);

/*
 * It ended with an immediate that is neither its length, in any order that is possible, nor its number: what brought it may be
 * forged, and what comes behind that its data.
 */
bool ft_nccl_ends_oddly(const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *transfer);

/*
 * second_writer.c: a write by somebody else to what the connection announced; false: it is to nothing of it. `has_all`: all queue
 * pairs that carry its data are known.
 */
bool ft_nccl_fault_stranger(struct ft_nccl_connections *connections,
			    struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			    bool has_all);
