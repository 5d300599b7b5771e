#include "reply.h"

#include <decode/packet.h>

#include "asked.h"
#include "sizes.h"

/* A message on its way through a log. */
struct part {
	uint64_t frame; /* of the first packet seen */
	uint64_t length;
	uint32_t writes;
	bool has_end;   /* a write of its own, empty or with a size for each before */
	bool is_broken; /* some of it was not seen */
};

bool ft_nccl_is_length(uint32_t immdt, uint64_t length)
{
	return length <= UINT32_MAX && ft_nccl_immediate_orders(immdt, (uint32_t)length) != 0;
}

static void weigh_length(struct ft_nccl_reply *reply, uint32_t immdt, const struct part *part)
{
	if (part->length != 0 && ft_nccl_is_length(immdt, part->length))
		reply->right++;
	else if (part->length != 0)
		reply->wrong++;
}

static void end_message(struct ft_nccl_reply *reply, uint32_t immdt, const struct part *part)
{
	bool is_several = part->writes > 1 && part->has_end && !part->is_broken;

	if (!is_several && !part->is_broken)
		weigh_length(reply, immdt, part);
	reply->has_several = reply->has_several || is_several;
	if (reply->count == FT_NCCL_REPLY_MESSAGES)
		return;
	reply->begun[reply->count] = part->frame;
	reply->immdts[reply->count] = immdt;
	reply->lengths[reply->count] =
		part->length <= UINT32_MAX ? (uint32_t)part->length : UINT32_MAX;
	reply->requests[reply->count] =
		is_several && part->writes <= FT_NCCL_REQUESTS_MAX ? (uint8_t)part->writes : 1;
	if (is_several && part->writes > FT_NCCL_REQUESTS_MAX)
		reply->wrong++;
	reply->count++;
	if (!reply->is_broken)
		reply->unbroken = reply->count;
}

/* With an immediate, behind writes of several requests without. */
static bool is_end(const struct part *part, const struct ft_nccl_seen *seen)
{
	return seen->opcode == 0x0b && part->writes > 1 &&
	       (seen->length == 0 || seen->length == FT_NCCL_SIZE_BYTES * part->writes);
}

static void read_write(struct part *part, const struct ft_nccl_seen *seen)
{
	if (is_end(part, seen)) {
		part->has_end = true;
	} else if (!ft_nccl_is_bare_end(seen)) {
		part->length += seen->length;
		part->writes++;
	}
}

/* The log begins with the first packet of all. */
static bool is_from_first(const struct ft_nccl_log *log)
{
	struct ft_nccl_logged logged;
	uint32_t at = 0;

	return log->restarts == 0 && ft_nccl_log_next(log, &at, &logged) && logged.seen.psn == 0;
}

static void read_packet(struct ft_nccl_reply *reply, struct part *part,
			const struct ft_nccl_seen *seen)
{
	if (part->frame == 0)
		part->frame = seen->frame;
	if (ft_nccl_begins(seen->opcode))
		read_write(part, seen);
	if (!ft_nccl_has_immediate(seen->opcode))
		return;
	end_message(reply, seen->immdt, part);
	*part = (struct part){ 0 };
}

void ft_nccl_reply_read(struct ft_nccl_stranger *stranger, bool ends_only,
			struct ft_nccl_reply *reply)
{
	struct ft_nccl_logged logged;
	struct part part = { 0 };
	uint32_t at = 0, next = 0, behind = 0;

	*reply = (struct ft_nccl_reply){ .stranger = stranger,
					 .is_whole = is_from_first(stranger->log) };
	for (bool is_first = true; ft_nccl_log_next(stranger->log, &at, &logged);
	     is_first = false) {
		if (!is_first && logged.seen.psn != next && logged.seen.psn != behind)
			part.is_broken = reply->is_broken = true;
		next = ft_nccl_log_psn_behind(&logged, ends_only);
		behind = ft_nccl_log_psn_behind(&logged, true);
		read_packet(reply, &part, &logged.seen);
	}
}
