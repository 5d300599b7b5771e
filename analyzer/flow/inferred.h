#pragma once

/* A count not seen but inferred. */
struct ft_inferred {
	double mean, variance;
	double untold; /* of the mean: it may as well be none */
};
