#include "dispute.h"

#include <inttypes.h>
#include <stdio.h>

#include "anew.h"
#include "asked.h"
#include "faults_parts.h"

static struct ft_nccl_dispute *dispute_of(struct ft_nccl_connections *connections,
					  uint32_t connection, uint64_t k)
{
	for (unsigned i = 0; i < connections->dispute_count; i++) {
		struct ft_nccl_dispute *dispute = &connections->disputes[i];

		if (dispute->second.connection == connection && dispute->second.k == k)
			return dispute;
	}
	return NULL;
}

static void forget(struct ft_nccl_connections *connections, struct ft_nccl_dispute *dispute)
{
	connections->all[dispute->second.connection]->disputes--;
	*dispute = connections->disputes[--connections->dispute_count];
}

static void name(struct ft_nccl_connections *connections, const struct ft_nccl_dispute *dispute,
		 bool first)
{
	struct ft_nccl_found found = dispute->second;

	if (first) {
		found.frame = dispute->frame;
		found.ts_ns = dispute->ts_ns;
	}
	ft_nccl_tell(connections, &found);
}

/* Data went to where the second one asked for it, though the first one had come. */
static void name_first(struct ft_nccl_connections *connections, struct ft_nccl_dispute *dispute)
{
	struct ft_nccl_found *found = &dispute->second;
	const uint64_t second = found->frame;

	found->certainty = 0.9;
	snprintf(found->text, sizeof found->text,
		 "the clear-to-send for message %" PRIu64 " in frame %" PRIu64
		 " asks for something else than the one in frame %" PRIu64
		 ", which the data went by",
		 found->k, dispute->frame, second);
	name(connections, dispute, true);
}

static void name_both(struct ft_nccl_connections *connections, struct ft_nccl_dispute *dispute)
{
	struct ft_nccl_found *found = &dispute->second;

	snprintf(found->text, sizeof found->text,
		 "the clear-to-sends for message %" PRIu64 " in frame %" PRIu64
		 " and in frame %" PRIu64 " ask for different things: one of the two is forged",
		 found->k, dispute->frame, found->frame);
	name(connections, dispute, true);
	name(connections, dispute, false);
}

static void tell(struct ft_nccl_connections *connections, struct ft_nccl_dispute *dispute)
{
	if (dispute->is_second)
		name(connections, dispute, false);
	else if (dispute->is_first)
		name_first(connections, dispute);
	else
		name_both(connections, dispute);
	forget(connections, dispute);
}

static struct ft_nccl_found found_of(const struct ft_nccl_moment *moment,
				     const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);

	ft_nccl_found_set_k(&found, transfer->message.k);
	snprintf(found.text, sizeof found.text,
		 "the clear-to-send for message %" PRIu64 " in frame %" PRIu64
		 " asked for something else: one of the two is forged",
		 transfer->message.k, transfer->message.cts_frame);
	return found;
}

static void keep(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
		 const struct ft_nccl_request *second)
{
	struct ft_nccl_connections *connections = moment->connections;
	struct ft_nccl_dispute dispute = {
		.second = found_of(moment, transfer),
		.frame = transfer->message.cts_frame,
		.ts_ns = transfer->message.cts_ts_ns,
		.asked = { *ft_nccl_ring_requests(&moment->followed->ring, transfer), *second },
		.is_answered = transfer->message.first_frame != 0,
		.is_second = transfer->message.first_frame != 0,
	};

	if (connections->dispute_count == FT_NCCL_DISPUTES ||
	    !ft_nccl_let_dispute_wait(moment, &dispute.second))
		return;
	connections->disputes[connections->dispute_count++] = dispute;
	moment->followed->disputes++;
}

void ft_nccl_dispute_begin(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			   const struct ft_nccl_request *second)
{
	keep(moment, transfer, second);
	for (uint8_t i = 0; i < transfer->message.request_count; i++)
		ft_nccl_ring_requests(&moment->followed->ring, transfer)[i] =
			(struct ft_nccl_request){ 0 };
	transfer->doubtful = true;
}

void ft_nccl_dispute_answer(const struct ft_nccl_moment *moment,
			    const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_dispute *dispute =
		dispute_of(moment->connections, followed->model.connection, transfer->message.k);
	bool fits[2];

	if (dispute == NULL || dispute->is_answered || !transfer->message.has_k)
		return;
	for (unsigned i = 0; i < 2; i++)
		fits[i] = ft_nccl_fits(followed, &dispute->asked[i], moment->seen);
	dispute->is_answered = true;
	dispute->is_second = fits[0] && !fits[1];
	dispute->is_first = fits[1] && !fits[0];
	if (dispute->is_sure)
		tell(moment->connections, dispute);
}

void ft_nccl_dispute_confirm(struct ft_nccl_connections *connections,
			     const struct ft_nccl_found *second)
{
	struct ft_nccl_dispute *dispute = dispute_of(connections, second->connection, second->k);

	if (dispute == NULL)
		return;
	dispute->is_sure = true;
	if (dispute->is_answered)
		tell(connections, dispute);
}

void ft_nccl_dispute_settle(struct ft_nccl_connections *connections,
			    struct ft_nccl_followed *followed)
{
	const uint32_t connection = followed->model.connection;

	for (unsigned i = connections->dispute_count; followed->disputes != 0 && i-- > 0;) {
		struct ft_nccl_dispute *dispute = &connections->disputes[i];

		if (dispute->second.connection == connection && dispute->is_sure)
			tell(connections, dispute);
		else if (dispute->second.connection == connection)
			forget(connections, dispute);
	}
}
