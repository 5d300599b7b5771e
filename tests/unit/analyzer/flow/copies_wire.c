#include "copies_wire.h"

struct ft_copies *copies_with(uint32_t entries, uint64_t seed)
{
	struct ft_copies_config config = FT_COPIES_DEFAULTS;
	struct ft_copies *copies;

	config.entries = entries;
	config.seed = seed;
	assert_int_equal(ft_copies_create(&copies, &config), 0);
	return copies;
}

struct ft_copies *copies_made(void)
{
	return copies_with(1u << 12, 1);
}

int copies_set_up(void **state)
{
	*state = copies_made();
	return 0;
}

int copies_tear_down(void **state)
{
	ft_copies_destroy(*state);
	return 0;
}

struct ft_observed packet(uint8_t opcode, uint32_t psn, uint64_t us)
{
	return (struct ft_observed){
		.has = FT_OBSERVED_BTH | FT_OBSERVED_UPWARD,
		.ts_ns = SECOND + us * US,
		.digest = (uint64_t)psn << 8 | opcode,
		.pair = PAIR,
		.hop = HOP,
		.opcode = opcode,
		.psn = psn,
		.alike = opcode == CNP ? FT_ALIKE_PLAIN : FT_ALIKE_SEQUENCED,
	};
}

struct ft_observed answer(uint8_t opcode, uint8_t syndrome, uint32_t psn, uint64_t us)
{
	struct ft_observed answer = packet(opcode, psn, us);

	answer.has &= ~(uint32_t)FT_OBSERVED_UPWARD;
	answer.digest ^= UINT64_C(1) << 63 | (uint64_t)syndrome << 40;
	answer.syndrome = syndrome;
	return answer;
}

enum ft_copy_verdict check(struct ft_copies *copies, struct ft_observed observed)
{
	return ft_copies_check(copies, &observed, 0);
}
