#include "lock_parts.h"

#include <decode/packet.h>

#include "asked.h"
#include "replies.h"

enum { PARTS_MOST = 16 /* queue pairs that share a message */ };

/* A message that ends: where its data began, so many bytes of it on this queue pair, and what it ends with. */
struct ended {
	struct ft_nccl_seen begun;
	uint32_t immdt;
};

/* So many of `length` bytes are what one of several queue pairs has that share a message. */
static bool is_part(uint64_t bytes, uint64_t length)
{
	for (uint64_t parts = 2; parts <= PARTS_MOST; parts++) {
		uint64_t share = (length + parts - 1) / parts;

		if (bytes ==
		    (share + FT_NCCL_PART_BYTES - 1) / FT_NCCL_PART_BYTES * FT_NCCL_PART_BYTES)
			return true;
	}
	return false;
}

/* The immediate is the length of what was written, or of more that was written elsewhere, but not beyond what was offered. */
static bool is_length(uint32_t immdt, uint64_t written, uint64_t offered)
{
	uint32_t lengths[] = { immdt, __builtin_bswap32(immdt) };

	for (unsigned i = 0; i < 2; i++) {
		if (lengths[i] <= offered &&
		    (lengths[i] == written || is_part(written, lengths[i])))
			return true;
	}
	return false;
}

/* One device: keys of several ask for data at places that one clear-to-send does not show. */
static bool has_key(const struct ft_nccl_cts *cts, uint32_t rkey)
{
	for (uint8_t i = 1; i < cts->rkey_count; i++) {
		if (cts->rkeys[i] != 0)
			return false;
	}
	return cts->rkey_count != 0 && cts->rkeys[0] == rkey && rkey != 0;
}

/* The family that alone can be meant, if its FIFO has a fixed number of slots; -1: there is none. */
static int32_t family_of(uint8_t shown)
{
	const struct ft_nccl_fifo *layout;
	int32_t family;

	if (shown == 0 || (shown & (shown - 1)) != 0)
		return -1;
	family = __builtin_ctz(shown);
	layout = ft_nccl_fifo((enum ft_nccl_family)family);
	return layout->number_bytes == 8 && layout->slots == layout->slots_first ? family : -1;
}

static bool is_answered(const struct ft_nccl_look *look, const struct ended *ended)
{
	struct ft_nccl_write write = { look->seen.payload, look->seen.captured, look->seen.length };
	int32_t family = family_of(look->fits.shown);
	struct ft_nccl_cts cts;

	return family >= 0 && look->seen.frame < ended->begun.frame &&
	       ft_nccl_cts_read((enum ft_nccl_family)family, &write, 0, &cts) == FT_NCCL_READ &&
	       cts.requests == 1 && cts.addr == ended->begun.va &&
	       ended->begun.length <= cts.size && has_key(&cts, ended->begun.rkey) &&
	       is_length(ended->immdt, ended->begun.length, cts.size);
}

/* The newest message of the log, which ends with its newest packet. */
static bool read_ended(const struct ft_nccl_log *log, struct ended *ended)
{
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged);) {
		const struct ft_nccl_seen *seen = &logged.seen;

		if (ft_nccl_begins(seen->opcode) && (seen->has & FT_HAS_RETH) != 0 &&
		    !ft_nccl_is_bare_end(seen))
			ended->begun = *seen;
	}
	return ended->begun.length != 0;
}

/* The only write of its queue pair is a clear-to-send, as far as that can be seen. */
static bool is_lone(const struct ft_nccl_stranger *stranger, struct ft_nccl_look *look)
{
	struct ft_nccl_logged logged;
	uint32_t at = 0;

	return !stranger->excluded && stranger->log->restarts == 0 && stranger->log->count == 1 &&
	       ft_nccl_log_next(stranger->log, &at, &logged) && ft_nccl_look_at(&logged.seen, look);
}

bool ft_nccl_lock_lone(struct ft_nccl_connections *connections,
		       const struct ft_nccl_stranger *answer, const struct ft_nccl_seen *seen)
{
	struct ended ended = { .immdt = seen->immdt };
	struct ft_nccl_stranger *other = NULL;
	struct ft_nccl_look look;

	if (answer->excluded || answer->log == NULL || answer->log->restarts != 0 ||
	    !ft_nccl_has_immediate(seen->opcode) || !read_ended(answer->log, &ended))
		return false;
	while ((other = ft_nccl_stranger_between(&connections->strangers, answer, other)) != NULL) {
		if (!ft_nccl_is_opposite(answer, other) || !is_lone(other, &look) ||
		    !is_answered(&look, &ended))
			continue;
		ft_nccl_lock_content(connections, other,
				     &(struct ft_nccl_agreement){ .families = look.fits.shown,
								  .frame = look.seen.frame,
								  .ts_ns = look.seen.ts_ns });
		return true;
	}
	return false;
}
