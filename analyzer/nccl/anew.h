#pragma once

#include "followed.h"

/*
 * What is wrong with a clear-to-send, or with data behind where its queue pair was last seen, is one of two
 * things. It is forged: then the sequence goes on where it was. Or the connection has ended where the capture has
 * a gap, and the packet is of another one that took over its queue pairs: then others like it follow, and the new
 * connection comes to be known. The finding waits until one of both is seen.
 */

/*
 * Tell it, or let it wait. Where so many wait that there is no room, a job has taken over from another, and it is not told.
 * `is_cts`: the packet goes to the sender. Data that may be another connection's first clear-to-send is not told at the end unless
 * anything of this one came behind it.
 */
void ft_nccl_tell_in_turn(const struct ft_nccl_moment *moment, const struct ft_nccl_found *found,
			  bool is_cts);

/* Likewise the second of two clear-to-sends that differ: then dispute.h goes on with it. False: there is no room. */
bool ft_nccl_let_dispute_wait(const struct ft_nccl_moment *moment,
			      const struct ft_nccl_found *found);

/*
 * Likewise of data under a PSN that passed, which is wrong whichever message it is of. Its queue pairs may be another job's by now:
 * it is told if nothing else of the connection waits, nor is out of sequence until its own goes on.
 */
void ft_nccl_tell_whichever(const struct ft_nccl_moment *moment, const struct ft_nccl_found *found);

/*
 * Likewise of a write by somebody else to what the connection announced: memory at this place may be another job's by now. It is
 * told once a clear-to-send has come that is the connection's next one. `may_be_new`: it may begin another connection on its queue
 * pair, and is not told at the end unless anything of this one came behind it; or a message of it had begun just before, and no
 * other connection met such a write at that time.
 */
void ft_nccl_tell_if_it_goes_on(struct ft_nccl_connections *connections,
				struct ft_nccl_followed *followed,
				const struct ft_nccl_found *found, bool may_be_new);

/*
 * Likewise where the set-up may have another queue pair than the connection: it is told once data came on all that it names, and
 * never if none does.
 */
void ft_nccl_tell_once_answered(struct ft_nccl_connections *connections,
				struct ft_nccl_followed *followed,
				const struct ft_nccl_found *found);

/* A packet with an old PSN: the sequence that began anew may go on. */
void ft_nccl_anew_see(const struct ft_nccl_moment *moment, bool is_cts);

/* What waits on the queue pair may be of a sequence of its own, whatever comes behind it. */
void ft_nccl_anew_doubt(const struct ft_nccl_moment *moment, bool is_cts);

/*
 * Data, whatever its turn is: a sequence that began anew, and went on, may have got to where the old one was, whose packets nobody
 * asked for are not taken then.
 */
void ft_nccl_anew_go_on(const struct ft_nccl_moment *moment);

/* The sequence has gone on, with what belongs there: what waits was forged, unless its own has grown to here. */
void ft_nccl_anew_refute(const struct ft_nccl_moment *moment, bool is_cts);

/*
 * The capture ends, or, with `has_ended`, the connection did: what stands alone on its queue pair was forged, the rest was
 * none.
 */
void ft_nccl_anew_settle(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			 bool has_ended);
