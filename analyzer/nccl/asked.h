#pragma once

#include "followed.h"

/* What messages ask for, and whether a write is of it. */

/* The write goes to where the request asks for it, under its key; also where nothing of the request is known. */
bool ft_nccl_fits(const struct ft_nccl_followed *followed, const struct ft_nccl_request *request,
		  const struct ft_nccl_seen *seen);

/* Whether the write fits what a message asked for; *request says which part of it. */
bool ft_nccl_answers(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen,
		     uint8_t *request);

/*
 * Likewise, but what was cut off answers nothing: of several requests short slices show the first, which each queue pair
 * begins with, and the others would fit all there is.
 */
bool ft_nccl_answers_shown(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen,
			   uint8_t *request);

/* Likewise of the first request, which each queue pair begins with. */
bool ft_nccl_answers_first(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer,
			   const struct ft_nccl_seen *seen);

/* It may be what a queue pair has of the message first: several requests end apart from their data. */
bool ft_nccl_may_begin(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen);

/* A zero-length write whose RETH is all zero. */
bool ft_nccl_is_bare_end(const struct ft_nccl_seen *seen);

/* One of the requests from number `from` on. */
bool ft_nccl_answers_from(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen,
			  uint8_t from, uint8_t *request);

/* Nothing of what it asks for was captured, or it was encrypted: whatever comes may be its data. */
bool ft_nccl_shows_nothing(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer);

/* Nothing is written, to where one of as many queue pairs as may share the request is given nothing of it, met or not. */
bool ft_nccl_is_empty_part(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_request *request, const struct ft_nccl_seen *seen);

/* The request can be read, or nothing of the message can. */
bool ft_nccl_is_shown(const struct ft_nccl_followed *followed,
		      const struct ft_nccl_transfer *transfer, uint8_t request);

/* Short slices show the keys of the first devices only: any other one may be the next device's. */
bool ft_nccl_has_key(const struct ft_nccl_followed *followed, const struct ft_nccl_request *request,
		     uint32_t rkey);

/* What passed of a message of one request before its clear-to-send went to where that asks for it, as far as both can be read. */
bool ft_nccl_asked_for_all(const struct ft_nccl_followed *followed,
			   const struct ft_nccl_transfer *transfer);
