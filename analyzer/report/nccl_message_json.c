#include "nccl_rows.h"

#include <capture/frame.h>

#include "nccl_words.h"

static void request(struct ft_document *json, const struct ft_nccl_request *asked, bool keys)
{
	ft_member_begin(json, NULL, '{');
	if (asked->has_tag)
		ft_member_signed(json, "tag", asked->tag);
	else
		ft_member_null(json, "tag");
	ft_member_number(json, "offered_size", asked->has_offered ? asked->offered : UINT64_MAX);
	ft_member_number(json, "written_bytes", asked->has_written ? asked->written : UINT64_MAX);
	if (asked->va != 0)
		ft_member_address(json, "va", asked->va);
	else
		ft_member_null(json, "va");
	if (keys)
		ft_nccl_rkeys_json(json, asked->rkeys, asked->rkey_count);
	ft_member_end(json, '}');
}

static void part(struct ft_document *json, const struct ft_nccl_part *used)
{
	ft_member_begin(json, NULL, '{');
	ft_member_number(json, "qp_index", used->qp_index);
	ft_member_number(json, "bytes", used->has_bytes ? used->bytes : UINT64_MAX);
	ft_member_number(json, "packets", used->packets);
	ft_member_end(json, '}');
}

static void frame(struct ft_document *json, const char *name, uint64_t number)
{
	ft_member_number(json, name, number > 0 ? number : UINT64_MAX);
}

/* As on the wire: hexadecimal without 0x. */
static void immediate(struct ft_document *json, const struct ft_nccl_message *message)
{
	char text[2 * sizeof message->imm + 1];

	for (size_t i = 0; i < sizeof message->imm; i++)
		snprintf(text + 2 * i, 3, "%02x", message->imm[i]);
	ft_member_text(json, "imm", message->has_imm ? text : NULL);
}

static void latency(struct ft_document *json, const struct ft_nccl_message *message)
{
	if (message->cts_frame == 0 || message->first_frame == 0 ||
	    message->cts_ts_ns == FT_TS_UNKNOWN || message->first_ts_ns == FT_TS_UNKNOWN)
		ft_member_null(json, "latency_ns");
	else
		ft_member_signed(json, "latency_ns",
				 (int64_t)(message->first_ts_ns - message->cts_ts_ns));
}

void ft_nccl_message_json(struct ft_document *json, const struct ft_nccl_message *message,
			  bool keys)
{
	ft_member_begin(json, NULL, '{');
	ft_member_number(json, "connection", message->connection);
	ft_member_number(json, "k", message->has_k ? message->k : UINT64_MAX);
	ft_member_number(json, "n", message->request_count);
	ft_member_begin(json, "requests", '[');
	for (size_t i = 0; i < message->request_count; i++)
		request(json, &message->requests[i], keys);
	ft_member_end(json, ']');
	frame(json, "cts_frame", message->cts_frame);
	frame(json, "first_frame", message->first_frame);
	frame(json, "last_frame", message->last_frame);
	ft_member_number(json, "packets", message->packets);
	ft_member_begin(json, "qps", '[');
	for (size_t i = 0; i < message->part_count; i++)
		part(json, &message->parts[i]);
	ft_member_end(json, ']');
	immediate(json, message);
	latency(json, message);
	ft_member_bool(json, "completed", message->completed);
	ft_member_text(json, "protocol", ft_nccl_protocol_word(message->protocol));
	ft_member_end(json, '}');
}
