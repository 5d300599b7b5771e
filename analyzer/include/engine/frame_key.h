#pragma once

#include <decode/packet.h>
#include <partition/check.h>

/* What is to be done with a packet: docs/verdict-rules.md, sections 1 and 9. */
enum ft_frame_kind {
	FT_FRAME_NOT_RDMA,     /* not judged; pair `unknown` */
	FT_FRAME_NEVER_JUDGED, /* SMP: not judged; the key has its addresses */
	FT_FRAME_JUDGED, /* the key says what could be read, even of a BTH that was cut; ft_check() may find it undecided */
	FT_FRAME_BAD_ICRC, /* undecided: no field can be trusted; the key is filled all the same */
	FT_FRAME_BROKEN, /* undecided: RDMA broken below the BTH, or a broken header that hides what follows */
	FT_FRAME_CUT, /* undecided: cut before it is known whether it is RDMA, or among the addresses */
	FT_FRAME_UNREAD, /* undecided: of a link type that is not read, so that nobody knows what it is */
};

/*
 * What to judge a packet by; `bytes` are the frame it was decoded from. Fills every byte of *key,
 * whatever the kind: as far as addresses were readable, ft_check() tells the tenant pair. The P_Key of
 * a packet was readable, and counts in totals, if FT_NEED_PKEY is in key->known.
 */
enum ft_frame_kind ft_frame_key(const struct ft_packet *packet, const uint8_t *bytes,
				uint32_t captured, struct ft_check_key *key);
