#include <flow/paired.h>

#include <stddef.h>

/* Whether ports agree by the driver's rule or by chance is not known from two halves alone. */
#define CERTAINTY_SOURCE_PORT 0.9
/* A DETH can be forged, and its queue pair used by two programs in turn. */
#define CERTAINTY_UD_SOURCE_QP 0.999

/* Evidence of one kind is not independent: beyond 2^-30 more of it says nothing. */
static double of_bits(unsigned bits)
{
	double chance = 1;

	for (; bits != 0 && chance > 0x1p-30; bits--)
		chance /= 2;
	return 1 - chance;
}

double ft_paired_certainty(const struct ft_half *half)
{
	switch ((enum ft_paired_by)half->paired_by) {
	case FT_PAIRED_CM:
	case FT_PAIRED_NCCL:
		return 1;
	case FT_PAIRED_UD_SOURCE_QP:
		return CERTAINTY_UD_SOURCE_QP;
	case FT_PAIRED_TRANSPORT:
		return of_bits(half->pair_bits);
	case FT_PAIRED_SOURCE_PORT:
		return CERTAINTY_SOURCE_PORT;
	case FT_PAIRED_NOT:
		break;
	}
	return 0;
}

const char *ft_paired_by_name(enum ft_paired_by by)
{
	static const char *const names[] = {
		[FT_PAIRED_CM] = "cm",
		[FT_PAIRED_NCCL] = "nccl",
		[FT_PAIRED_UD_SOURCE_QP] = "ud-source-qp",
		[FT_PAIRED_TRANSPORT] = "transport",
		[FT_PAIRED_SOURCE_PORT] = "source-port",
	};

	return (size_t)by < sizeof names / sizeof names[0] ? names[by] : NULL;
}
