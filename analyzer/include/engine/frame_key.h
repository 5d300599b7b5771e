#pragma once

#include <decode/packet.h>
#include <partition/check.h>

/* What is to be done with a packet: spec verdict-rules.md sections 1 and 9. */
enum ft_frame_kind {
	FT_FRAME_NOT_RDMA,      /* not judged; pair `unknown` */
	FT_FRAME_NEVER_JUDGED,  /* SMP: not judged, the key has its addresses */
	FT_FRAME_JUDGED,        /* the key says what could be read; ft_check() may still find it undecided */
	FT_FRAME_BAD_ICRC,      /* undecided: no field can be trusted; the key is filled all the same */
	FT_FRAME_BROKEN,        /* undecided: RDMA broken below the BTH; the key has the addresses if they were readable */
	FT_FRAME_CUT,           /* undecided: cut before it is known whether it is RDMA, or before the BTH */
};

/* Fills every byte of *key, whatever the kind. */
enum ft_frame_kind ft_frame_key(const struct ft_packet *packet, struct ft_check_key *key);
