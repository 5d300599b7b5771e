#pragma once

/* What the compiler's builtin does; Eva does not know it. */
static inline int proof_ctz(unsigned value)
{
	int bit = 0;

	while ((value & 1) == 0) {
		value >>= 1;
		bit++;
	}
	return bit;
}
#define __builtin_ctz proof_ctz
