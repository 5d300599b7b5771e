#include "lint.h"

#include <stdlib.h>
#include <string.h>

#include <partition/notation.h>

/* A prefix some segment holds, in the order in which an enclosing one comes before the enclosed. */
struct held_prefix {
	struct ft_prefix prefix;
	const struct ft_segment *segment;
	const struct ft_interval *interval;
	struct ft_origin origin;
};

static int by_address(const void *a, const void *b)
{
	const struct held_prefix *left = a, *right = b;
	int order =
		memcmp(left->prefix.address, right->prefix.address, sizeof left->prefix.address);

	if (order == 0)
		order = left->prefix.bits - right->prefix.bits;
	if (order == 0)
		order = (left->origin.line > right->origin.line) -
			(left->origin.line < right->origin.line);
	return order;
}

static bool encloses(const struct ft_prefix *outer, const struct ft_prefix *inner)
{
	unsigned bytes = outer->bits / 8, rest = outer->bits % 8;

	if (outer->bits > inner->bits || memcmp(outer->address, inner->address, bytes) != 0)
		return false;
	return rest == 0 || (outer->address[bytes] ^ inner->address[bytes]) >> (8 - rest) == 0;
}

/* Whether a frame can fit the tags of both: one has none, or they share one. */
static bool tags_meet(const struct ft_interval *a, const struct ft_interval *b)
{
	bool tagged_a = false, tagged_b = false;

	for (size_t i = 0; i < a->member_count; i++) {
		tagged_a |= ft_member_is_tag(&a->members[i]);
		for (size_t j = 0; ft_member_is_tag(&a->members[i]) && j < b->member_count; j++)
			if (a->members[i].kind == b->members[j].kind &&
			    a->members[i].number == b->members[j].number)
				return true;
	}
	for (size_t j = 0; j < b->member_count; j++)
		tagged_b |= ft_member_is_tag(&b->members[j]);
	return !tagged_a || !tagged_b;
}

static bool meet(const struct held_prefix *outer, const struct held_prefix *inner)
{
	return outer->segment->tenant != inner->segment->tenant &&
	       outer->interval->from_ns < inner->interval->to_ns &&
	       inner->interval->from_ns < outer->interval->to_ns &&
	       tags_meet(outer->interval, inner->interval);
}

static void say_shadow(struct ft_lint *lint, const struct held_prefix *outer,
		       const struct held_prefix *inner)
{
	bool same = outer->prefix.bits == inner->prefix.bits;
	char outer_text[FT_NOTATION_ROOM], inner_text[FT_NOTATION_ROOM];

	ft_lint_say(lint, same ? FT_ERROR : FT_WARNING,
		    same ? "address-of-two-tenants" : "prefix-shadowed", inner->origin,
		    "%s of %.30s lies in %s of %.30s (line %u)%s",
		    ft_prefix_write(inner_text, &inner->prefix),
		    ft_lint_tenant(lint, inner->segment->tenant),
		    ft_prefix_write(outer_text, &outer->prefix),
		    ft_lint_tenant(lint, outer->segment->tenant), outer->origin.line,
		    same ? ": it has two owners" : ": the longer one decides");
}

static void collect_interval(struct ft_lint *lint, struct ft_list *held,
			     const struct ft_segment *segment, const struct ft_interval *interval)
{
	for (size_t i = 0; i < interval->member_count; i++) {
		const struct ft_member *member = &interval->members[i];
		struct held_prefix *added;

		if (member->kind != FT_MEMBER_PREFIX)
			continue;
		added = ft_list_add(held);
		lint->failed |= added == NULL;
		if (added != NULL)
			*added = (struct held_prefix){ member->prefix, segment, interval,
						       member->origin };
	}
}

static void collect(struct ft_lint *lint, struct ft_list *held)
{
	const struct ft_declared *declared = lint->declared;

	for (size_t i = 0; i < declared->segment_count; i++) {
		const struct ft_segment *segment = &declared->segments[i];

		for (size_t j = 0; j < segment->interval_count; j++)
			collect_interval(lint, held, segment, &segment->intervals[j]);
	}
}

/* The enclosing prefixes of the one at hand are a stack, as they are sorted before it. */
static void lint_shadows(struct ft_lint *lint, const struct held_prefix *held, size_t count)
{
	size_t *stack = calloc(count + 1, sizeof *stack), depth = 0;

	lint->failed |= stack == NULL;
	for (size_t i = 0; stack != NULL && i < count; i++) {
		while (depth > 0 && !encloses(&held[stack[depth - 1]].prefix, &held[i].prefix))
			depth--;
		for (size_t j = depth; j > 0; j--) {
			if (!meet(&held[stack[j - 1]], &held[i]))
				continue;
			say_shadow(lint, &held[stack[j - 1]], &held[i]);
			break;
		}
		stack[depth++] = i;
	}
	free(stack);
}

void ft_lint_segments(struct ft_lint *lint)
{
	struct ft_list held = { .item_size = sizeof(struct held_prefix) };

	collect(lint, &held);
	if (held.count > 1)
		qsort(held.items, held.count, held.item_size, by_address);
	lint_shadows(lint, held.items, held.count);
	ft_list_release(&held);
}
