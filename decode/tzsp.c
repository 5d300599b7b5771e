#include "pass.h"

enum { TZSP_LEN = 4, TYPE_KEEPALIVE = 4, TYPE_PORT_OPENER = 5, PROTOCOL_ETHERNET = 1 };
enum { TAG_PADDING = 0, TAG_END = 1, TAGS_MAX = 255 };

/* Step over one tag; *tag says which. False: it does not fit, and the packet says why. */
static bool skip_tag(struct ft_pass *pass, uint8_t *tag)
{
	struct ft_cursor *cursor = &pass->cursor;
	const uint8_t *b = ft_take(cursor, 1);
	uint32_t missing = 1;

	if (b != NULL && *b <= TAG_END) {
		*tag = *b;
		return true;
	}
	if (b != NULL) {
		*tag = *b;
		b = ft_take(cursor, 1);
	}
	if (b != NULL) {
		missing = *b;
		b = ft_take(cursor, missing);
	}
	if (b == NULL)
		ft_short(pass, missing, FT_TZSP_BAD_TAGS, FT_CUT_TZSP);
	return b != NULL;
}

static bool skip_tags(struct ft_pass *pass)
{
	for (int i = 0; i < TAGS_MAX; i++) {
		uint8_t tag;

		if (!skip_tag(pass, &tag))
			return false;
		if (tag == TAG_END)
			return true;
	}
	ft_break(pass, FT_TZSP_BAD_TAGS);
	return false;
}

enum ft_step ft_read_tzsp(struct ft_pass *pass)
{
	uint32_t at = pass->cursor.at;
	const uint8_t *b;

	if (!ft_tunnel_allowed(pass))
		return FT_STEP_DONE;
	b = ft_take(&pass->cursor, TZSP_LEN);
	if (b == NULL)
		return ft_short(pass, TZSP_LEN, FT_TZSP_SHORT, FT_CUT_TZSP);
	if (b[0] != 1 || b[1] == TYPE_KEEPALIVE || b[1] == TYPE_PORT_OPENER)
		return FT_STEP_DONE;
	if (!skip_tags(pass))
		return FT_STEP_DONE;
	ft_mirror_open(pass, FT_TUNNEL_TZSP);
	ft_layer_push(pass, FT_LAYER_TZSP, at, 0);
	return ft_be16(b + 2) == PROTOCOL_ETHERNET ? FT_STEP_ETHERNET : FT_STEP_DONE;
}
