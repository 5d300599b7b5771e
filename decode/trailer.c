#include "pass.h"

/*
 * Time-stamp trailers of tap and aggregation switches. Nothing announces them: they are found by
 * their place at the end of the frame and by a time close to the capture's.
 */

enum { FCS_LEN = 4, METAMAKO_LEN = 12, EXABLAZE_LEN = 12 };

#define SECOND_NS 1000000000ull
#define WEEK_NS   (7 * 24 * 3600 * SECOND_NS)

#define NO_TIME 0

/* A clock in the first second of 1970 was never set: those bytes are zeros, not a time. */
static bool is_near(uint64_t ts_ns, uint64_t capture_ns)
{
	if (ts_ns < SECOND_NS)
		return false;
	return ts_ns > capture_ns ? ts_ns - capture_ns <= WEEK_NS : capture_ns - ts_ns <= WEEK_NS;
}

/* seconds u32, ns u32, flags, device u16, port */
static uint64_t metamako_ns(const uint8_t *b)
{
	return ft_be32(b + 4) < SECOND_NS ? ft_be32(b) * SECOND_NS + ft_be32(b + 4) : NO_TIME;
}

/* device, port, seconds u32, fraction u40 in 2^-40 s, reserved */
static uint64_t exablaze_ns(const uint8_t *b)
{
	uint64_t low = b[10] * SECOND_NS >> 8;

	return ft_be32(b + 2) * SECOND_NS + ((ft_be32(b + 6) * SECOND_NS + low) >> 32);
}

static const struct {
	uint64_t (*read)(const uint8_t *b);
	uint8_t size;
} kinds[] = { { metamako_ns, METAMAKO_LEN }, { exablaze_ns, EXABLAZE_LEN } };

void ft_read_trailer(struct ft_packet *packet, const uint8_t *bytes, uint32_t from, uint32_t to,
		     uint64_t ts_ns)
{
	for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
		for (uint32_t fcs = 0; fcs <= FCS_LEN; fcs += FCS_LEN) {
			/* the frame's first FCS stays in front */
			uint32_t size = FCS_LEN + kinds[kind].size + fcs;
			uint64_t found_ns;

			if (to - from < size)
				continue;
			found_ns = kinds[kind].read(bytes + to - fcs - kinds[kind].size);
			if (!is_near(found_ns, ts_ns))
				continue;
			packet->trailer.kind = (uint8_t)kind;
			packet->trailer.ts_ns = found_ns;
			packet->has |= FT_HAS_TRAILER;
			return;
		}
}
