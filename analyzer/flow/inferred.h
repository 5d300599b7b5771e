#pragma once

/* A count not seen but inferred. */
struct ft_inferred {
	double mean, variance;
};
