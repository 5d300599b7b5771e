#pragma once

#include <stddef.h>
#include <stdint.h>

#include "silences.h"

/*
 * Connections that come and go at random, and at a steady rate: so does whatever many that do not know of each other begin. Their ends lie
 * apart as lots drawn from an exponential distribution do, and a silence of all that is far longer than those leave is not of
 * theirs: the mirror was silent, or something stopped all of them at once.
 */

enum { FT_STEADY_LEAST = 300 }; /* ends, to speak of a rate */

/*
 * How many ns of these silences are such; 0: none, or the ends do not lie so. `times`: of the ends, in order; `steps`: room for as many.
 * Not silences before one in fifty of the ends or behind all others but those: there a capture begins and ends.
 */
uint64_t ft_steady_silent_ns(const uint64_t *times, uint64_t *steps, size_t count,
			     const struct ft_silence *silences, size_t silence_count);
