#pragma once

#include <partition/arena.h>
#include <partition/map.h>
#include <report/flows.h>

/*
 * Which rows of the flow table are listed, and in which order: `--where`, `--sort` and `--top`.
 *
 * An expression is FIELD=VALUE, or FIELD=VALUE,VALUE for any of them; a row must meet every
 * expression. Fields: docs/formats.md, fabtap.flows/1.
 */
struct ft_flow_choice {
	struct ft_arena *words;
	struct ft_list tests; /* of the expressions */
	unsigned expressions;
	const struct ft_flow_order *order; /* NULL: by id */
	bool reversed;
	bool nccl;       /* an expression, or the order, is of what NCCL's framing says */
	bool packetless; /* a value of an expression is a rule that no packet breaks */
	size_t top;      /* most rows; SIZE_MAX: all */
};

/* What is wrong with an option, in words. */
struct ft_flow_complaint {
	char text[200];
};

/* Every row, in order of ids. 0; -ENOMEM: it can be freed, no more. */
int ft_flow_choice_init(struct ft_flow_choice *choice);

/* What it owns, not the struct; also after an error. */
void ft_flow_choice_free(struct ft_flow_choice *choice);

/*
 * Add an expression, FIELD=VALUE[,VALUE...], of which the text is copied; a backslash makes a comma or backslash behind it
 * part of the value. 0, -EINVAL with a complaint, or -ENOMEM; after an error the choice is only good to be freed.
 */
int ft_flow_choice_where(struct ft_flow_choice *choice, const char *expression,
			 struct ft_flow_complaint *complaint);

/* Likewise `tenant=NAME` of one tenant, whatever characters its name has. */
int ft_flow_choice_tenant(struct ft_flow_choice *choice, const char *name,
			  struct ft_flow_complaint *complaint);

/*
 * Order by a field of the document; a `-` before it turns the order round. The last call counts. 0 or -EINVAL with a
 * complaint, and the order as it was.
 */
int ft_flow_choice_sort(struct ft_flow_choice *choice, const char *field,
			struct ft_flow_complaint *complaint);

/*
 * Do the tenants, hosts, rules and verdicts of the expressions exist? 0 or -EINVAL with a complaint; without a map
 * (NULL) only rules of NCCL's do.
 */
int ft_flow_choice_check(const struct ft_flow_choice *choice, const struct ft_map *map,
			 struct ft_flow_complaint *complaint);

/* Whether the row meets every expression, one value of it at least. Not `top`: that is of all rows taken. */
bool ft_flow_choice_takes(const struct ft_flow_choice *choice, const struct ft_report_flow *row);

/* Where a row stands in the order asked for; rows that compare equal stand in order of their ids. */
struct ft_flow_place {
	union {
		uint8_t address[2][16]; /* first, so that all of it begins as zeroes */
		uint64_t number[2];     /* FT_UNKNOWN: last */
		const char *text[2];    /* NULL: last */
		uint64_t rules;         /* a bit for each */
	};
	uint32_t id;
};

/* Of a row; texts are the row's, and must live as long as places are compared. */
void ft_flow_choice_place(const struct ft_flow_choice *choice, const struct ft_report_flow *row,
			  struct ft_flow_place *place);

/* Sort places that this choice made. In order of ids they are left as they are, as rows come in that order. */
void ft_flow_choice_order(const struct ft_flow_choice *choice, struct ft_flow_place *places,
			  size_t count);
