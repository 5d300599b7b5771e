#pragma once

#include <flow/loss.h>

/* What all the evidence comes to: spaces, holes and silent frames, and how what is sent again counts among them. */

struct ft_loss_sums {
	double spaces, holes, silent;
	double closed; /* spaces that any packets closed, whether or not their loss would have shown */
	double odds;   /* lost to seen, of frames in sequences */
	double mixed;  /* silent frames to one that is not */
	double temper; /* frames of the whole that temper what is near */
	double widest; /* frames in a stretch that may show how losses come */
	double once;   /* of the spaces, the share that packets closed which passed once */
	double fabric; /* packets that the fabric lost before they passed */
	double late;   /* packets that others overtook */
	double stood; /* spaces there are to one that packets closed which were sent once: those lost by the fabric close one, too */
};

/* Of some bins. */
struct ft_loss_mix {
	double spaces, holes, silent;
};

struct ft_loss_sums ft_loss_add_sums(const struct ft_loss_evidence *evidence);

/* Of `count` bins from `first` on, as far as there are; `stood`: of the sums. */
struct ft_loss_mix ft_loss_group(const struct ft_loss_evidence *evidence, double stood,
				 uint32_t first, uint32_t count);

/* Those that count: copies are in no bin. 1 at least. */
double ft_loss_frames_in_bin(const struct ft_loss_evidence *evidence,
			     const struct ft_loss_sums *sums);
