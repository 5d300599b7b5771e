#include "asked.h"

#include <decode/packet.h>

#include "family.h"
#include "split.h"

bool ft_nccl_is_bare_end(const struct ft_nccl_seen *seen)
{
	return seen->opcode == 0x0b && (seen->has & FT_HAS_RETH) != 0 && seen->va == 0 &&
	       seen->rkey == 0 && seen->length == 0;
}

/* Nothing of the entry was captured, or it was encrypted. */
static bool is_blank(const struct ft_nccl_request *request)
{
	return (request->va == 0 || request->by_data) && !request->has_offered &&
	       request->rkey_count == 0;
}

bool ft_nccl_has_key(const struct ft_nccl_followed *followed, const struct ft_nccl_request *request,
		     uint32_t rkey)
{
	for (uint8_t i = 0; i < request->rkey_count; i++) {
		if (request->rkeys[i] == rkey && rkey != 0)
			return true;
	}
	return request->rkey_count == 0 || request->rkey_count < followed->model.devices;
}

/* An immediate of 0 may be the number of the first message. */
static bool may_be_numbers(const struct ft_nccl_followed *followed)
{
	return followed->model.imm_content == FT_NCCL_IMM_ID ||
	       (followed->model.imm_content == FT_NCCL_IMM_UNKNOWN &&
		followed->version_first >= FT_NCCL_VERSION_BY_ID);
}

/* An immediate that says that the whole message has no bytes. */
static bool is_of_nothing(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	return ft_nccl_has_immediate(seen->opcode) && seen->immdt == 0 && !may_be_numbers(followed);
}

/* Queue pairs that may share a message, as many as there can be where not all are known. */
static uint64_t sharers_of(const struct ft_nccl_followed *followed)
{
	bool may_have_more = (followed->model.split == FT_NCCL_UNKNOWN && !followed->named) ||
			     ft_nccl_split_may_have_more(followed);
	uint64_t known =
		followed->told > followed->lane_count ? followed->told : followed->lane_count;

	return may_have_more ? FT_NCCL_QPS_MAX : known;
}

/*
 * Where an empty part goes at most, from the start: behind the end of what is offered or, if the immediate says so, of what
 * is sent.
 */
static uint64_t reach_of(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_request *request, const struct ft_nccl_seen *seen,
			 uint64_t lanes)
{
	uint64_t reach = request->offered + lanes * FT_NCCL_PART_BYTES, sent;
	uint32_t length;

	if (!ft_nccl_has_immediate(seen->opcode) ||
	    !ft_nccl_tells_length(followed, seen->immdt, &length))
		return reach;
	sent = length + sharers_of(followed) * FT_NCCL_PART_BYTES;
	return sent < reach ? sent : reach;
}

/*
 * A zero-length write goes to the start; of a message split over queue pairs, those that nothing is left for may be given
 * an address that goes on by a part's size each, even behind the end. Of an empty message a part has no size, but in
 * NCCL 2.10 and 2.11.
 */
static bool fits_empty(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_request *request, const struct ft_nccl_seen *seen)
{
	uint64_t offset = seen->va - request->va;
	uint64_t lanes =
		followed->told > followed->lane_count ? followed->told : followed->lane_count;

	if (lanes == 1)
		return offset == 0;
	if (is_of_nothing(followed, seen))
		return offset % FT_NCCL_OLD_PART_BYTES == 0 &&
		       offset / FT_NCCL_OLD_PART_BYTES < lanes;
	return !request->has_offered || offset <= reach_of(followed, request, seen, lanes);
}

bool ft_nccl_fits(const struct ft_nccl_followed *followed, const struct ft_nccl_request *request,
		  const struct ft_nccl_seen *seen)
{
	uint64_t offset = seen->va - request->va;

	if ((seen->has & FT_HAS_RETH) == 0 || is_blank(request))
		return true;
	if (!ft_nccl_has_key(followed, request, seen->rkey) || seen->va < request->va)
		return false;
	if (seen->length == 0)
		return fits_empty(followed, request, seen);
	return offset + seen->length <= (request->has_offered ? request->offered : UINT32_MAX);
}

bool ft_nccl_answers_from(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen,
			  uint8_t from, uint8_t *request)
{
	const struct ft_nccl_request *requests = ft_nccl_ring_requests(&followed->ring, transfer);

	for (uint8_t i = from; i < transfer->message.request_count; i++) {
		if (ft_nccl_fits(followed, &requests[i], seen)) {
			*request = i;
			return true;
		}
	}
	return false;
}

bool ft_nccl_answers(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen,
		     uint8_t *request)
{
	return ft_nccl_answers_from(followed, transfer, seen, 0, request);
}

bool ft_nccl_is_shown(const struct ft_nccl_followed *followed,
		      const struct ft_nccl_transfer *transfer, uint8_t request)
{
	const struct ft_nccl_request *requests = ft_nccl_ring_requests(&followed->ring, transfer);

	return request == 0 || !is_blank(&requests[request]) || is_blank(&requests[0]);
}

bool ft_nccl_is_empty_part(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_request *request, const struct ft_nccl_seen *seen)
{
	const uint64_t parts = sharers_of(followed) * FT_NCCL_PART_BYTES;

	return seen->length == 0 && (seen->has & FT_HAS_RETH) != 0 && !is_blank(request) &&
	       request->has_offered && ft_nccl_has_key(followed, request, seen->rkey) &&
	       seen->va >= request->va && seen->va - request->va <= request->offered + parts;
}

bool ft_nccl_shows_nothing(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer)
{
	return transfer->message.request_count != 0 &&
	       is_blank(ft_nccl_ring_requests(&followed->ring, transfer));
}

bool ft_nccl_answers_shown(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen,
			   uint8_t *request)
{
	return ft_nccl_answers(followed, transfer, seen, request) &&
	       ft_nccl_is_shown(followed, transfer, *request);
}

bool ft_nccl_answers_first(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen)
{
	return transfer->message.request_count != 0 &&
	       ft_nccl_fits(followed, ft_nccl_ring_requests(&followed->ring, transfer), seen);
}

bool ft_nccl_may_begin(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen)
{
	return ft_nccl_answers_first(followed, transfer, seen) &&
	       (transfer->message.request_count == 1 || seen->length == 0 ||
		!ft_nccl_has_immediate(seen->opcode));
}

/* An empty part may lie behind the end. */
static bool lies_in(const struct ft_nccl_followed *followed, const struct ft_nccl_request *request,
		    const struct ft_nccl_begun *begun)
{
	uint64_t offset = begun->va - request->va;
	uint64_t behind =
		begun->length == 0 ? (uint64_t)followed->lane_count * FT_NCCL_PART_BYTES : 0;

	return begun->va >= request->va && offset + begun->length <= request->offered + behind;
}

bool ft_nccl_asked_for_all(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	if (transfer->message.request_count != 1 || !request->has_offered ||
	    transfer->message.first_frame == 0)
		return true;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		const struct ft_nccl_begun *begun = &shares[i].first;

		if (shares[i].used && shares[i].begun && begun->va != 0 &&
		    !lies_in(followed, request, begun))
			return false;
	}
	return true;
}
