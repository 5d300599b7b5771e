#include "operation_list.h"

#include <capture/frame.h>

static void widen(struct ft_nccl_stretch *sum, uint64_t first_frame, uint64_t last_frame,
		  uint64_t first_ts_ns, uint64_t last_ts_ns)
{
	if (sum->first_frame == 0 || first_frame < sum->first_frame) {
		sum->first_frame = first_frame;
		sum->first_ts_ns = first_ts_ns;
	}
	if (last_frame > sum->last_frame) {
		sum->last_frame = last_frame;
		sum->last_ts_ns = last_ts_ns;
	}
}

static void agree(struct ft_nccl_stretch *sum, enum ft_nccl_protocol protocol)
{
	if (protocol == FT_NCCL_PROTOCOL_UNKNOWN || sum->differs)
		return;
	sum->differs = sum->protocol != FT_NCCL_PROTOCOL_UNKNOWN && sum->protocol != protocol;
	sum->protocol = sum->differs ? FT_NCCL_PROTOCOL_UNKNOWN : protocol;
}

static void offer(struct ft_nccl_stretch *sum, const struct ft_nccl_request *request, bool first)
{
	if (!request->has_offered) {
		sum->asked = false;
		sum->offered = 0;
		return;
	}
	if (first)
		sum->offered = request->offered;
	else if (sum->offered != request->offered)
		sum->offered = 0;
	sum->offers_differ |= sum->offered_most != 0 && sum->offered_most != request->offered;
	if (request->offered > sum->offered_most)
		sum->offered_most = request->offered;
}

static void add_message(struct ft_nccl_stretch *sum, const struct ft_nccl_track *track,
			const struct ft_nccl_message *message)
{
	const bool first = sum->seen == 0;

	sum->bytes += ft_nccl_message_bytes(message);
	sum->seen++;
	sum->whole &= message->completed;
	sum->sized &= ft_nccl_message_is_sized(track, message);
	sum->grouped |= message->request_count > 1;
	agree(sum, message->protocol);
	for (size_t i = 0; i < message->request_count; i++)
		offer(sum, &message->requests[i], first && i == 0);
	widen(sum, message->first_frame, message->last_frame, message->first_ts_ns,
	      message->last_ts_ns);
}

static bool is_send_chunk(const struct ft_nccl_message *message)
{
	return message != NULL && message->request_count == 1 && ft_nccl_is_send_chunk(message);
}

struct ft_nccl_stretch ft_nccl_stretch_of(const struct ft_nccl_track *track, size_t from,
					  size_t count)
{
	struct ft_nccl_stretch sum = { .whole = true,
				       .sized = true,
				       .asked = true,
				       .cut_as_sends = true,
				       .first_ts_ns = FT_TS_UNKNOWN,
				       .last_ts_ns = FT_TS_UNKNOWN };

	for (size_t i = from; i < from + count && i < track->count; i++) {
		const struct ft_nccl_message *message = track->messages[i];

		if (message == NULL || message->first_frame == 0)
			sum.whole = sum.sized = false;
		else
			add_message(&sum, track, message);
		if (i + 1 < from + count)
			sum.cut_as_sends &= is_send_chunk(message);
	}
	return sum;
}

void ft_nccl_stretch_add(struct ft_nccl_stretch *sum, const struct ft_nccl_stretch *more)
{
	if (more->seen == 0) {
		sum->whole &= more->whole;
		sum->sized &= more->sized;
		return;
	}
	if (sum->seen > 0 && sum->offered != more->offered)
		sum->offered = 0;
	else
		sum->offered = more->offered;
	sum->offers_differ |=
		more->offers_differ || (sum->offered_most != 0 && more->offered_most != 0 &&
					sum->offered_most != more->offered_most);
	if (more->offered_most > sum->offered_most)
		sum->offered_most = more->offered_most;
	sum->differs |= more->differs;
	agree(sum, more->protocol);
	if (sum->differs)
		sum->protocol = FT_NCCL_PROTOCOL_UNKNOWN;
	sum->bytes += more->bytes;
	sum->seen += more->seen;
	sum->whole &= more->whole;
	sum->sized &= more->sized;
	sum->asked &= more->asked;
	sum->cut_as_sends &= more->cut_as_sends;
	sum->grouped |= more->grouped;
	widen(sum, more->first_frame, more->last_frame, more->first_ts_ns, more->last_ts_ns);
}

struct ft_nccl_collective ft_nccl_stretch_row(const struct ft_nccl_stretch *stretch)
{
	return (struct ft_nccl_collective){
		.protocol = stretch->protocol,
		.wire_bytes = stretch->bytes,
		.messages = stretch->seen,
		.first_frame = stretch->first_frame,
		.last_frame = stretch->last_frame,
		.first_ts_ns = stretch->first_ts_ns,
		.last_ts_ns = stretch->last_ts_ns,
		.complete = stretch->whole,
	};
}
