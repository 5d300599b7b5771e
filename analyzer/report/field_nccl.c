#include "field.h"

#include "frame_nccl.h"
#include "nccl_words.h"

/* Fields of NCCL's framing: nothing if the packet is none of it. */

void ft_field_nccl_role(struct ft_line *line, const struct ft_field *field,
			const struct ft_frame_view *view)
{
	(void)field;
	if (view->nccl != NULL)
		ft_line_add(line, ft_frame_role_word(view->nccl->role));
}

void ft_field_nccl_connection(struct ft_line *line, const struct ft_field *field,
			      const struct ft_frame_view *view)
{
	(void)field;
	if (view->nccl != NULL)
		ft_line_decimal(line, view->nccl->connection->connection);
}

void ft_field_nccl_k(struct ft_line *line, const struct ft_field *field,
		     const struct ft_frame_view *view)
{
	(void)field;
	if (view->nccl != NULL && view->nccl->has_k)
		ft_line_decimal(line, view->nccl->k);
}

void ft_field_nccl_again(struct ft_line *line, const struct ft_field *field,
			 const struct ft_frame_view *view)
{
	(void)field;
	if (view->nccl != NULL)
		ft_line_add(line, view->nccl->again ? "true" : "false");
}

void ft_field_nccl_family(struct ft_line *line, const struct ft_field *field,
			  const struct ft_frame_view *view)
{
	(void)field;
	if (view->nccl != NULL && view->nccl->connection->has_family)
		ft_line_char(line, ft_nccl_family_letter(view->nccl->connection->family));
}

void ft_field_nccl_protocol(struct ft_line *line, const struct ft_field *field,
			    const struct ft_frame_view *view)
{
	(void)field;
	if (view->nccl != NULL && ft_frame_is_data(view->nccl))
		ft_line_add(line, ft_nccl_protocol_word(view->nccl->protocol));
}

void ft_field_nccl_n(struct ft_line *line, const struct ft_field *field,
		     const struct ft_frame_view *view)
{
	(void)field;
	if (view->nccl != NULL && view->nccl->request_count > 0)
		ft_line_decimal(line, view->nccl->request_count);
}

/* Of all requests, the value that `size` names: what a clear-to-send asks for, or what the sizes say. */
void ft_field_nccl_requests(struct ft_line *line, const struct ft_field *field,
			    const struct ft_frame_view *view)
{
	const enum ft_frame_request_value value = field->size;
	const bool of_sizes = value == FT_FRAME_WRITTEN;

	if (view->nccl == NULL || of_sizes != (view->nccl->role == FT_NCCL_FRAME_SIZES))
		return;
	for (uint8_t i = 0; i < view->nccl->request_count; i++) {
		if (i > 0)
			ft_line_char(line, ',');
		if (ft_frame_request_has(&view->nccl->requests[i], value))
			ft_frame_request_write(line, &view->nccl->requests[i], value);
	}
}
