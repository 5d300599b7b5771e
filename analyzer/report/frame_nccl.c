#include "frame_nccl.h"

#include "nccl_words.h"

const char *ft_frame_role_word(enum ft_nccl_frame_role role)
{
	static const char *const words[] = {
		[FT_NCCL_FRAME_CTS] = "cts",
		[FT_NCCL_FRAME_DATA] = "data",
		[FT_NCCL_FRAME_SIZES] = "sizes",
		[FT_NCCL_FRAME_COMPLETION] = "completion",
		[FT_NCCL_FRAME_PROBE] = "probe",
		[FT_NCCL_FRAME_RECOVERY_ASKED] = "recovery-asked",
		[FT_NCCL_FRAME_RECOVERY_ANSWERED] = "recovery-answered",
		[FT_NCCL_FRAME_RECOVERY_CONFIRMED] = "recovery-confirmed",
	};

	return words[role];
}

bool ft_frame_is_data(const struct ft_nccl_shown *shown)
{
	return shown->role == FT_NCCL_FRAME_DATA || shown->role == FT_NCCL_FRAME_COMPLETION;
}

bool ft_frame_request_has(const struct ft_nccl_request *request, enum ft_frame_request_value value)
{
	switch (value) {
	case FT_FRAME_TAG:
		return request->has_tag;
	case FT_FRAME_OFFERED:
		return request->has_offered;
	case FT_FRAME_WRITTEN:
		return request->has_written;
	case FT_FRAME_VA:
		return request->va != 0;
	case FT_FRAME_RKEYS:
		return request->rkey_count > 0;
	}
	return false;
}

static void tag(struct ft_line *line, int32_t number)
{
	int64_t wide = number;

	if (wide < 0)
		ft_line_char(line, '-');
	ft_line_decimal(line, (uint64_t)(wide < 0 ? -wide : wide));
}

static void rkeys(struct ft_line *line, const struct ft_nccl_request *request, const char *between)
{
	for (uint8_t i = 0; i < request->rkey_count; i++) {
		if (i > 0)
			ft_line_add(line, between);
		ft_line_hex(line, request->rkeys[i], 8);
	}
}

void ft_frame_request_write(struct ft_line *line, const struct ft_nccl_request *request,
			    enum ft_frame_request_value value)
{
	switch (value) {
	case FT_FRAME_TAG:
		tag(line, request->tag);
		break;
	case FT_FRAME_OFFERED:
		ft_line_decimal(line, request->offered);
		break;
	case FT_FRAME_WRITTEN:
		ft_line_decimal(line, request->written);
		break;
	case FT_FRAME_VA:
		ft_line_hex(line, request->va, 16);
		break;
	case FT_FRAME_RKEYS:
		rkeys(line, request, "/");
		break;
	}
}

static const char *family_of(const struct ft_nccl_connection *connection, char word[2])
{
	word[0] = connection->has_family ? ft_nccl_family_letter(connection->family) : '\0';
	word[1] = '\0';
	return connection->has_family ? word : NULL;
}

/* --- as an object --- */

static void member(struct ft_line *line, const char *lead, const struct ft_nccl_request *request,
		   enum ft_frame_request_value value)
{
	const bool quoted = value == FT_FRAME_VA;

	ft_line_add(line, lead);
	if (!ft_frame_request_has(request, value)) {
		ft_line_add(line, "null");
		return;
	}
	if (quoted)
		ft_line_char(line, '"');
	ft_frame_request_write(line, request, value);
	if (quoted)
		ft_line_char(line, '"');
}

static void request_object(struct ft_line *line, const struct ft_nccl_request *request,
			   enum ft_nccl_frame_role role, bool keys)
{
	if (role == FT_NCCL_FRAME_SIZES) {
		member(line, "{\"written_bytes\":", request, FT_FRAME_WRITTEN);
		ft_line_char(line, '}');
		return;
	}
	member(line, "{\"tag\":", request, FT_FRAME_TAG);
	member(line, ",\"offered_size\":", request, FT_FRAME_OFFERED);
	member(line, ",\"va\":", request, FT_FRAME_VA);
	if (keys) {
		ft_line_add(line, request->rkey_count > 0 ? ",\"rkeys\":[\"" : ",\"rkeys\":[");
		rkeys(line, request, "\",\"");
		ft_line_add(line, request->rkey_count > 0 ? "\"]" : "]");
	}
	ft_line_char(line, '}');
}

static bool has_requests(const struct ft_nccl_shown *shown)
{
	return shown->role == FT_NCCL_FRAME_CTS || shown->role == FT_NCCL_FRAME_SIZES;
}

static void request_objects(struct ft_line *line, const struct ft_nccl_shown *shown, bool keys)
{
	ft_line_add(line, ",\"requests\":[");
	for (uint8_t i = 0; i < shown->request_count; i++) {
		if (i > 0)
			ft_line_char(line, ',');
		request_object(line, &shown->requests[i], shown->role, keys);
	}
	ft_line_char(line, ']');
}

void ft_frame_nccl_json(struct ft_line *line, const struct ft_nccl_shown *shown, bool keys)
{
	char letter[2];

	if (shown == NULL) {
		ft_line_add(line, "null");
		return;
	}
	ft_line_word(line, "{\"role\":", ft_frame_role_word(shown->role));
	ft_line_number(line, ",\"connection\":", shown->connection->connection);
	if (shown->has_k)
		ft_line_number(line, ",\"k\":", shown->k);
	else
		ft_line_add(line, ",\"k\":null");
	ft_line_add(line, shown->again ? ",\"again\":true" : ",\"again\":false");
	ft_line_word(line, ",\"family\":", family_of(shown->connection, letter));
	if (ft_frame_is_data(shown))
		ft_line_word(line, ",\"protocol\":", ft_nccl_protocol_word(shown->protocol));
	else if (has_requests(shown))
		request_objects(line, shown, keys);
	ft_line_char(line, '}');
}

/* --- for people --- */

/* A `?` for what is not known; nothing if none is. */
static void list(struct ft_line *line, const char *lead, const struct ft_nccl_shown *shown,
		 enum ft_frame_request_value value)
{
	bool any = false;

	for (uint8_t i = 0; i < shown->request_count; i++)
		any |= ft_frame_request_has(&shown->requests[i], value);
	for (uint8_t i = 0; any && i < shown->request_count; i++) {
		ft_line_add(line, i > 0 ? "," : lead);
		if (ft_frame_request_has(&shown->requests[i], value))
			ft_frame_request_write(line, &shown->requests[i], value);
		else
			ft_line_char(line, '?');
	}
}

void ft_frame_nccl_text(struct ft_line *line, const struct ft_nccl_shown *shown, bool keys)
{
	char letter[2];

	ft_line_number(line, " nccl ", shown->connection->connection);
	ft_line_char(line, ' ');
	ft_line_add(line, ft_frame_role_word(shown->role));
	if (shown->has_k)
		ft_line_number(line, " k ", shown->k);
	if (shown->again)
		ft_line_add(line, " again");
	if (ft_frame_is_data(shown) && shown->protocol != FT_NCCL_PROTOCOL_UNKNOWN) {
		ft_line_char(line, ' ');
		ft_line_add(line, ft_nccl_protocol_word(shown->protocol));
	}
	if (shown->role == FT_NCCL_FRAME_SIZES)
		list(line, " written ", shown, FT_FRAME_WRITTEN);
	if (shown->role != FT_NCCL_FRAME_CTS)
		return;
	if (family_of(shown->connection, letter) != NULL) {
		ft_line_add(line, " family ");
		ft_line_add(line, letter);
	}
	list(line, " offered ", shown, FT_FRAME_OFFERED);
	list(line, " tag ", shown, FT_FRAME_TAG);
	if (keys)
		list(line, " rkeys ", shown, FT_FRAME_RKEYS);
}
