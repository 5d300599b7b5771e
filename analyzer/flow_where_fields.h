#pragma once

#include <engine/flow_choice.h>

#include <partition/notation.h>

/* What rows of flows can be chosen by, and what they are then compared with. */
struct ft_where_value {
	const char *text;
	const char *written; /* with its backslashes, for a complaint */
	uint64_t number;
	struct ft_prefix prefix;
};

struct ft_where_field {
	const char *name;
	const char *wanted; /* what its values are, for a complaint */
	uint64_t most;      /* of a number */
	/* the rest of the value from its text; false: it is none */
	bool (*read)(struct ft_where_value *value);
	bool (*holds)(const struct ft_where_value *value, const struct ft_report_flow *row);
	/* whether there is such a one; NULL: that takes no map to know */
	bool (*exists)(const struct ft_where_value *value, const struct ft_map *map);
	bool nccl; /* it is of what NCCL's framing says */
};

/* The one whose name is these characters; NULL: none. Static. */
const struct ft_where_field *ft_where_field_find(const char *name, size_t size);

/* All of them, for a complaint: their names with commas between, as many as there is room for. */
void ft_where_fields_name(char *names, size_t room);

/* What NCCL's framing says, for which there need not be a map. */
bool ft_where_is_of_nccl(const struct ft_where_field *field, const struct ft_where_value *value);

/* A rule about the map or a tenant, which no packet breaks, or none at all. */
bool ft_where_is_of_no_packet(const struct ft_where_field *field,
			      const struct ft_where_value *value);
