#include "field.h"

/* Fields of the frame and of its verdict; those of the packet are in field_value.c. */

void ft_field_input(struct ft_line *line, const struct ft_field *field,
		    const struct ft_frame_view *view)
{
	(void)field;
	if (view->input != NULL)
		ft_line_name(line, view->input);
}

void ft_field_number(struct ft_line *line, const struct ft_field *field,
		     const struct ft_frame_view *view)
{
	(void)field;
	ft_line_decimal(line, view->frame->number);
}

void ft_field_sub(struct ft_line *line, const struct ft_field *field,
		  const struct ft_frame_view *view)
{
	(void)field;
	ft_line_decimal(line, view->sub);
}

void ft_field_ts_ns(struct ft_line *line, const struct ft_field *field,
		    const struct ft_frame_view *view)
{
	(void)field;
	if (view->frame->ts_ns != FT_TS_UNKNOWN)
		ft_line_decimal(line, view->frame->ts_ns);
}

void ft_field_epoch(struct ft_line *line, const struct ft_field *field,
		    const struct ft_frame_view *view)
{
	char fraction[11];

	(void)field;
	if (view->frame->ts_ns == FT_TS_UNKNOWN)
		return;
	ft_line_decimal(line, view->frame->ts_ns / 1000000000);
	snprintf(fraction, sizeof(fraction), ".%09u", (unsigned)(view->frame->ts_ns % 1000000000));
	ft_line_add(line, fraction);
}

void ft_field_original(struct ft_line *line, const struct ft_field *field,
		       const struct ft_frame_view *view)
{
	(void)field;
	ft_line_decimal(line, view->frame->original);
}

void ft_field_captured(struct ft_line *line, const struct ft_field *field,
		       const struct ft_frame_view *view)
{
	(void)field;
	ft_line_decimal(line, view->frame->captured);
}

void ft_field_wire(struct ft_line *line, const struct ft_field *field,
		   const struct ft_frame_view *view)
{
	(void)field;
	ft_line_decimal(line, view->frame->wire);
}

/* An ERF record's header is no part of the frame. */
void ft_field_wire_captured(struct ft_line *line, const struct ft_field *field,
			    const struct ft_frame_view *view)
{
	bool has_record = view->packet->has & FT_HAS_ERF && view->packet->layer_count > 1;

	(void)field;
	ft_line_decimal(line,
			view->frame->captured - (has_record ? view->packet->layers[1].offset : 0u));
}

void ft_field_link_type(struct ft_line *line, const struct ft_field *field,
			const struct ft_frame_view *view)
{
	(void)field;
	ft_line_decimal(line, view->frame->link_type);
}

/* Of the verdict: nothing without a map. */
void ft_field_from(struct ft_line *line, const struct ft_field *field,
		   const struct ft_frame_view *view)
{
	(void)field;
	if (view->verdict != NULL && view->verdict->from != NULL)
		ft_line_name(line, view->verdict->from);
}

void ft_field_to(struct ft_line *line, const struct ft_field *field,
		 const struct ft_frame_view *view)
{
	(void)field;
	if (view->verdict != NULL && view->verdict->to != NULL)
		ft_line_name(line, view->verdict->to);
}

static void names(struct ft_line *line, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			ft_line_char(line, ',');
		ft_line_name(line, list[i]);
	}
}

void ft_field_rules(struct ft_line *line, const struct ft_field *field,
		    const struct ft_frame_view *view)
{
	(void)field;
	if (view->verdict != NULL)
		names(line, view->verdict->rules, view->verdict->rule_count);
}

void ft_field_notes(struct ft_line *line, const struct ft_field *field,
		    const struct ft_frame_view *view)
{
	(void)field;
	if (view->verdict != NULL)
		names(line, view->verdict->notes, view->verdict->note_count);
}

void ft_field_undecided(struct ft_line *line, const struct ft_field *field,
			const struct ft_frame_view *view)
{
	(void)field;
	if (view->verdict != NULL && view->verdict->undecided != NULL)
		ft_line_add(line, view->verdict->undecided);
}

void ft_field_exception(struct ft_line *line, const struct ft_field *field,
			const struct ft_frame_view *view)
{
	(void)field;
	if (view->verdict != NULL && view->verdict->exception != NULL)
		ft_line_name(line, view->verdict->exception);
}
