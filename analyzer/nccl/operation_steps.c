#include "operation_steps.h"

enum {
	SEND_CHUNK = 131072,      /* halved or quartered for short messages */
	SEND_CHUNK_MOST = 262144, /* on some hosts */
	LL_STEP_RCCL = 32768,
	LL128_STEP_RCCL = 57344,
	LL_DATA = 8,       /* of FT_NCCL_LL_LINE */
	LL128_DATA = 1920, /* of FT_NCCL_LL128_UNIT */
	LL128_DATA_RCCL = 1792,
};

/* Of LL or LL128, of NCCL or RCCL; a send may be given as much. */
static bool is_step_of_lines(uint64_t offered)
{
	return offered == FT_NCCL_LL_MAX || offered == LL_STEP_RCCL ||
	       offered == FT_NCCL_LL128_MAX || offered == LL128_STEP_RCCL;
}

static bool has_lines(const struct ft_nccl_stretch *sum)
{
	return sum->protocol == FT_NCCL_LL || sum->protocol == FT_NCCL_LL128;
}

uint64_t ft_nccl_step_of_lines(const struct ft_nccl_stretch *sum)
{
	const bool ll = sum->protocol == FT_NCCL_LL;

	if (!sum->asked)
		return ll ? FT_NCCL_LL_MAX : FT_NCCL_LL128_MAX;
	if (ll && (sum->offered == FT_NCCL_LL_MAX || sum->offered == LL_STEP_RCCL))
		return sum->offered;
	if (!ll && (sum->offered == FT_NCCL_LL128_MAX || sum->offered == LL128_STEP_RCCL))
		return sum->offered;
	return 0;
}

bool ft_nccl_has_ring_steps(const struct ft_nccl_stretch *sum)
{
	return has_lines(sum) ? ft_nccl_step_of_lines(sum) != 0
			      : sum->offered == FT_NCCL_SLICE_OFFERED;
}

bool ft_nccl_is_step(const struct ft_nccl_stretch *sum)
{
	if (has_lines(sum))
		return sum->asked && ft_nccl_step_of_lines(sum) != 0;
	return sum->protocol == FT_NCCL_SIMPLE && sum->offered == FT_NCCL_STEP_OFFERED;
}

/* A step of lines, as far as what was offered tells. */
static bool may_be_lines(const struct ft_nccl_stretch *sum)
{
	return sum->protocol == FT_NCCL_PROTOCOL_UNKNOWN &&
	       (sum->offered == FT_NCCL_LL_MAX || sum->offered == FT_NCCL_LL128_MAX ||
		sum->offered == LL128_STEP_RCCL);
}

/* Where the protocol is not known, of any. */
static bool may_be_step(const struct ft_nccl_stretch *sum)
{
	if (sum->seen == 0 || !sum->asked || sum->offered_most == 0)
		return true;
	if (sum->protocol != FT_NCCL_PROTOCOL_UNKNOWN)
		return ft_nccl_is_step(sum);
	return sum->offered == FT_NCCL_STEP_OFFERED || sum->offered == LL_STEP_RCCL ||
	       may_be_lines(sum);
}

bool ft_nccl_are_steps(const struct ft_nccl_track *track)
{
	for (size_t i = 0; i < track->count; i++) {
		const struct ft_nccl_stretch one = ft_nccl_stretch_of(track, i, 1);

		if (!may_be_step(&one))
			return false;
	}
	return true;
}

static bool is_offered(const struct ft_nccl_message *message, uint64_t bytes)
{
	return message != NULL && message->request_count > 0 && message->requests[0].has_offered &&
	       message->requests[0].offered == bytes;
}

static bool has_offered(const struct ft_nccl_track *track, uint64_t bytes)
{
	for (size_t i = 0; i < track->count; i++)
		if (is_offered(track->messages[i], bytes))
			return true;
	return false;
}

bool ft_nccl_is_simple_step(const struct ft_nccl_message *message)
{
	return is_offered(message, FT_NCCL_STEP_OFFERED);
}

bool ft_nccl_has_simple_step(const struct ft_nccl_track *track)
{
	return has_offered(track, FT_NCCL_STEP_OFFERED);
}

bool ft_nccl_has_slice(const struct ft_nccl_track *track)
{
	return has_offered(track, FT_NCCL_SLICE_OFFERED);
}

bool ft_nccl_are_steps_or_slices(const struct ft_nccl_track *track)
{
	for (size_t i = 0; i < track->count; i++) {
		const struct ft_nccl_stretch one = ft_nccl_stretch_of(track, i, 1);

		if (!may_be_step(&one) && one.offered != FT_NCCL_SLICE_OFFERED)
			return false;
	}
	return true;
}

/* Sends of lines are short: their receivers offer less than a step. */
bool ft_nccl_may_be_sends(const struct ft_nccl_stretch *sum, uint32_t ranks)
{
	if (!sum->asked || sum->grouped || sum->offered == 0)
		return true;
	if (has_lines(sum) && ft_nccl_step_of_lines(sum) != 0)
		return false;
	return sum->cut_as_sends && (ranks == 2 || sum->offered > SEND_CHUNK / 2);
}

/* Each message was given room for all of it, as for a part that is no longer than a chunk. */
static bool is_short_part(const struct ft_nccl_stretch *sum)
{
	if (sum->offered != sum->bytes || sum->offered > SEND_CHUNK)
		return false;
	return !has_lines(sum) || (sum->seen == 1 && !is_step_of_lines(sum->offered));
}

bool ft_nccl_are_sends(const struct ft_nccl_stretch *sum)
{
	if (!sum->asked || !sum->sized || may_be_lines(sum))
		return false;
	return sum->grouped || is_short_part(sum) ||
	       (sum->cut_as_sends && sum->offered_most <= SEND_CHUNK && !has_lines(sum));
}

static bool is_of_send(const struct ft_nccl_message *message)
{
	if (message == NULL || message->request_count == 0 || !message->requests[0].has_offered)
		return false;
	return message->request_count > 1 || (message->requests[0].offered <= SEND_CHUNK &&
					      (!is_step_of_lines(message->requests[0].offered) ||
					       message->protocol == FT_NCCL_SIMPLE));
}

static bool is_in_pool(const struct ft_nccl_message *message)
{
	return message != NULL && message->request_count == 1 && message->requests[0].has_offered &&
	       message->requests[0].offered <= SEND_CHUNK && message->requests[0].va != 0;
}

/* One chunk of the pool that sends share behind the other, as steps of lines never are: they have less room each. */
static bool are_in_pool(const struct ft_nccl_track *track, size_t at)
{
	const struct ft_nccl_message *one = track->messages[at], *next;

	if (at + 1 == track->count || !track->numbered || !is_in_pool(one))
		return false;
	next = track->messages[at + 1];
	return is_in_pool(next) && next->requests[0].offered == one->requests[0].offered &&
	       next->requests[0].va - one->requests[0].va == SEND_CHUNK;
}

bool ft_nccl_is_of_sends(const struct ft_nccl_track *track)
{
	bool found = false;

	for (size_t i = 0; i < track->count; i++)
		found |= is_of_send(track->messages[i]) || are_in_pool(track, i);
	return found && !ft_nccl_has_slice(track) && !ft_nccl_has_simple_step(track);
}

bool ft_nccl_is_send_chunk(const struct ft_nccl_message *message)
{
	const uint64_t offered = message->requests[0].offered;

	return offered == SEND_CHUNK_MOST || offered == SEND_CHUNK || offered == SEND_CHUNK / 2 ||
	       offered == SEND_CHUNK / 4 ||
	       (offered < SEND_CHUNK && ft_nccl_message_bytes(message) == SEND_CHUNK / 4);
}

void ft_nccl_tell_bytes(struct ft_nccl_collective *row, const struct ft_nccl_stretch *sum,
			uint64_t passes, uint64_t shares)
{
	uint64_t bytes = sum->bytes, data = 1, of = 1, hidden;

	if (!sum->sized || may_be_lines(sum))
		return;
	if (sum->protocol == FT_NCCL_LL) {
		data = LL_DATA;
		of = FT_NCCL_LL_LINE;
	} else if (sum->protocol == FT_NCCL_LL128) {
		data = sum->offered == LL128_STEP_RCCL ? LL128_DATA_RCCL : LL128_DATA;
		of = FT_NCCL_LL128_UNIT;
	}
	hidden = sum->seen * (data - 1);
	bytes = bytes / of * data;
	if (hidden == 0 && bytes % (passes * shares) != 0)
		return;
	row->message_bytes_most = bytes / passes / shares;
	row->message_bytes_least = bytes > hidden ? (bytes - hidden) / passes / shares : 0;
	if (hidden == 0)
		row->message_bytes = row->message_bytes_most;
}
