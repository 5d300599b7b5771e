#include "glance.h"

#include <decode/around.h>

#include "item.h"

bool ft_glance_at_tunnel(const struct ft_decode_config *config, const struct ft_frame *frame,
			 struct ft_glance *glance)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);
	struct ft_around around;

	if (frame->fcs_bytes != 0)
		return false;
	ft_around_begin(&around, &input);
	while (ft_around_peel(config, frame->bytes, &around)) {
		if (!ft_glance_at_plain(config, frame->bytes + around.at,
					around.captured - around.at, glance))
			continue;
		glance->ip_at = 0;
		return true;
	}
	return false;
}
