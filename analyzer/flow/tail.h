#pragma once

/*
 * Bounds of a count of which the mean and the variance are known, each missed once in 200 times. The
 * count is taken to follow the negative binomial distribution: how many of one kind are drawn until
 * a given number of the other is. mean > 0, variance > mean.
 */
double ft_tail_low(double mean, double variance);
double ft_tail_high(double mean, double variance);
