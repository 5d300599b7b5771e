#include <string.h>

#include "queue_pairs_parts.h"

/* What the packets of a connected service tell of their queue pair. */

/* What a packet is, by its low five opcode bits; table 38 of IBA vol. 1. */
enum step {
	BEGINS = 1u << 0,    /* the first packet of a request */
	SEND = 1u << 1,      /* .. of a SEND */
	ENDS = 1u << 2,      /* the last packet of a SEND */
	TARGET = 1u << 3,    /* RETH */
	IMMEDIATE = 1u << 4, /* of a write */
	READ = 1u << 5,
	FIRST = 1u << 6, /* full payload, more to come */
	ANSWER = 1u << 7,
};

static const uint8_t steps[32] = {
	[0x00] = BEGINS | SEND | FIRST,
	[0x02] = ENDS,
	[0x03] = ENDS,
	[0x04] = BEGINS | SEND | ENDS,
	[0x05] = BEGINS | SEND | ENDS,
	[0x06] = BEGINS | TARGET | FIRST,
	[0x09] = IMMEDIATE,
	[0x0a] = BEGINS | TARGET,
	[0x0b] = BEGINS | TARGET | IMMEDIATE,
	[0x0c] = BEGINS | TARGET | READ,
	[0x0d] = ANSWER,
	[0x0e] = ANSWER,
	[0x0f] = ANSWER,
	[0x10] = ANSWER,
	[0x11] = ANSWER,
	[0x12] = ANSWER,
	[0x13] = BEGINS,
	[0x14] = BEGINS,
	[0x16] = ENDS,
	[0x17] = BEGINS | SEND | ENDS,
};

enum {
	OPERATION = 0x1f,
	WRITE_ONLY = 0x0a,
	WRITE_ONLY_IMMEDIATE = 0x0b,
	SEND_ONLY_IMMEDIATE = 0x05,
	PROBE_READ = 128, /* NCCL's READs: a flush of 1 byte, a probe after a failure */
	FLUSH_READ = 1,
	SMALL = 256, /* immediates below it may be numbers of something */
	MOST = 255,  /* first bytes of so many SENDs are enough */
};

static void count(uint32_t *counter)
{
	*counter += *counter != UINT32_MAX;
}

static void count_size(struct ft_nccl_qp *qp, const struct ft_nccl_seen *seen, bool whole)
{
	uint32_t bytes = seen->payload_length & (FT_NCCL_SIZE_LAST - 1);

	if ((seen->has & FT_HAS_PAYLOAD_LENGTH) == 0)
		return;
	if (!whole)
		bytes |= FT_NCCL_SIZE_LAST;
	for (size_t i = 0; i < FT_NCCL_SIZES; i++) {
		if (qp->sizes[i].times == 0)
			qp->sizes[i].bytes = (uint16_t)bytes;
		else if (qp->sizes[i].bytes != bytes)
			continue;
		qp->sizes[i].times =
			(uint16_t)(qp->sizes[i].times + (qp->sizes[i].times != UINT16_MAX));
		return;
	}
	qp->more_sizes = (uint8_t)(qp->more_sizes + (qp->more_sizes != UINT8_MAX));
}

static void read_heads(struct ft_nccl_qp *qp, const struct ft_nccl_send *send)
{
	for (unsigned head = 0; head < FT_NCCL_HEADS; head++) {
		if (qp->fits[head] == MOST || qp->fails[head] == MOST)
			continue;
		switch (ft_nccl_head_read(head, send)) {
		case FT_NCCL_READ:
			qp->fits[head]++;
			break;
		case FT_NCCL_NOT:
			qp->fails[head]++;
			break;
		case FT_NCCL_CUT:
			break;
		}
	}
	if (ft_nccl_head_is_mpi(send))
		qp->marks |= FT_NCCL_MARK_MPI_TAG;
	if (ft_nccl_head_is_smb2(send))
		qp->marks |= FT_NCCL_MARK_SMB2;
}

static void learn_send(struct ft_nccl_qp *qp, const struct ft_nccl_seen *seen, bool whole)
{
	const struct ft_nccl_send send = {
		.bytes = seen->payload,
		.captured = seen->captured,
		.length = seen->payload_length > seen->captured ? seen->payload_length
								: seen->captured,
		.whole = whole,
		.immediate = (seen->opcode & OPERATION) == SEND_ONLY_IMMEDIATE,
	};

	if (qp->sends < MOST && send.captured > 0)
		read_heads(qp, &send);
	count(&qp->sends);
}

static void learn_target(struct ft_nccl_qp *qp, const struct ft_nccl_seen *seen, uint8_t operation)
{
	const bool empty = seen->va == 0 && seen->rkey == 0 && seen->length == 0;

	if (empty && operation == WRITE_ONLY)
		qp->marks |= FT_NCCL_MARK_EMPTY_WRITE;
	if (empty && operation == WRITE_ONLY_IMMEDIATE)
		qp->marks |= FT_NCCL_MARK_EMPTY_IMMEDIATE;
	if ((steps[operation] & READ) != 0 && seen->length != FLUSH_READ &&
	    seen->length != PROBE_READ)
		qp->marks |= FT_NCCL_MARK_LONG_READ;
	if (qp->targets > 0 && seen->va == qp->va && seen->length == qp->length)
		count(&qp->repeated);
	count(&qp->targets);
	qp->va = seen->va;
	qp->length = seen->length;
}

/* Numbers as a little-endian host puts them into the field, other than the length of what was written, if anything was. */
static void learn_immediate(struct ft_nccl_qp *qp, const struct ft_nccl_seen *seen, bool whole)
{
	uint32_t number = ft_nccl_immediate(seen->immdt, FT_NCCL_LITTLE);
	bool empty = whole && seen->length == 0,
	     is_length = qp->targets > 0 && number == qp->length;

	if (number < SMALL && !empty && !is_length)
		count(&qp->small);
	count(&qp->immediates);
}

enum { RNR = 0x20, RNR_KIND = 0x60, RNR_TIMER = 0x1f, TIMER_NCCL = 12, TIMER_GLOO = 20 };

static void learn_answer(struct ft_nccl_qp *qp, const struct ft_nccl_seen *seen)
{
	uint8_t timer = seen->syndrome & RNR_TIMER;

	if (qp->first_answer == FT_NCCL_NONE)
		qp->first_answer = seen->psn;
	qp->answer = seen->psn;
	if ((seen->has & FT_HAS_AETH) == 0 || (seen->syndrome & RNR_KIND) != RNR)
		return;
	if (timer == TIMER_NCCL)
		qp->marks |= FT_NCCL_MARK_RNR_NCCL;
	if (timer == TIMER_NCCL + 1 || timer == TIMER_NCCL + 2)
		qp->marks |= FT_NCCL_MARK_RNR_UCX;
	if (timer == TIMER_GLOO)
		qp->marks |= FT_NCCL_MARK_RNR_GLOO;
}

void ft_nccl_qp_learn(struct ft_nccl_qp *qp, const struct ft_nccl_seen *seen)
{
	const uint8_t operation = seen->opcode & OPERATION;
	const uint8_t step = steps[operation];

	qp->operations |= 1u << operation;
	if ((step & ANSWER) != 0) {
		learn_answer(qp, seen);
		return;
	}
	if (qp->first_psn == FT_NCCL_NONE)
		qp->first_psn = seen->psn;
	qp->last_psn = seen->psn;
	if ((step & BEGINS) != 0)
		count(&qp->requests);
	if ((step & FIRST) != 0)
		qp->mtu = (uint16_t)seen->payload_length;
	if ((step & TARGET) != 0 && (seen->has & FT_HAS_RETH) != 0)
		learn_target(qp, seen, operation);
	if ((step & SEND) != 0)
		learn_send(qp, seen, (step & ENDS) != 0);
	if ((step & ENDS) != 0)
		count_size(qp, seen, (step & SEND) != 0);
	if ((step & IMMEDIATE) != 0 && (seen->has & FT_HAS_IMMDT) != 0)
		learn_immediate(qp, seen, (step & TARGET) != 0);
}
