#include "glance.h"

#include <decode/around.h>

#include "item.h"
#include "observe.h"

static void note_number(const struct ft_frame *frame, const struct ft_around *around,
			struct ft_glance *glance)
{
	struct ft_mirror_session session;

	glance->numbered = around->has_sequence;
	if (!glance->numbered)
		return;
	session = ft_mirror_session_of(frame->bytes, around);
	glance->mirror = ft_mirror_digest(&session);
	glance->sequence = session.sequence;
}

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
		note_number(frame, &around, glance);
		return true;
	}
	return false;
}
