#pragma once

#include <stdbool.h>

#include <flow/loss.h>

/*
 * Mirrors that lose what is long and pass what is short: a port or a policer that limits the rate has room for an
 * acknowledgement where it has none for a packet of data.
 */

struct ft_loss_spared {
	/* of ACKs that would be lost if losses took all alike, the share that is not; 0: nothing tells of any .. */
	double share;
	double error; /* .. and its standard deviation */
	/* whether it is told how much is lost at beginnings of sequences, behind those of the capture, and less than elsewhere .. */
	bool begins;
	double begun, begun_error; /* .. packets; standard deviation */
};

/* `odds`: lost to seen, of frames in sequences; `sequence`: of one, in a row, that a typical lost frame was lost with. */
struct ft_loss_spared ft_loss_spared_of(const struct ft_loss_evidence *evidence, double odds,
					double sequence);
