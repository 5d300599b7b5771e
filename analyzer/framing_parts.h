#pragma once

#include "framing.h"

/* The halves of what a follower's sink does, for framing.c. */
void ft_framing_found(void *context, const struct ft_nccl_found *found);
void ft_framing_contact(void *context, const struct ft_nccl_contact *contact);
void ft_framing_met(void *context, uint32_t connection, bool is_data);
void ft_framing_hold(void *context, uint64_t frame);
void ft_framing_tell_apart(void *context, uint16_t vlan);

/* What a finding is about, and what it is based on. */
struct ft_framing_occasion {
	enum ft_rule rule;
	double certainty;
	const char *text;
	uint64_t frame, ts_ns;
	uint32_t dest_qp;
	bool repeated; /* it comes in each report: a frame counts only if its number is noted */
	struct ft_check_key key;
};

/* `gone`: what was kept of a frame that is not at hand; NULL: nothing. */
void ft_framing_add(struct ft_framing *framing, const struct ft_framing_occasion *occasion,
		    const struct ft_kept_frame *gone);

/* What is remembered of a connection; it may move with the next call. */
struct ft_framing_line *ft_framing_line_of(struct ft_framing *framing, uint32_t connection);

/* As of a packet between ordinary queue pairs. */
void ft_framing_key(const struct ft_nccl_place *from, const uint8_t to[16],
		    const struct ft_framing_tags *tags, struct ft_check_key *key);

/* Whose a place is, where such packets were seen; FT_NONE: nobody's. */
uint32_t ft_framing_tenant_of(const struct ft_map *map, const struct ft_nccl_place *place,
			      const struct ft_framing_tags *tags, uint64_t ts_ns);

/*
 * framing_tenants.c: connections lead, or may lead, from one tenant's places to another's. False: each connection is one
 * tenant's at both ends, and so is each address in all of them; then no communicator has members of two tenants. Who is in
 * which communicator takes far longer to find out.
 */
bool ft_framing_may_mix_tenants(struct ft_framing *framing);

/* Both ends are some tenant's, not the same one's, and nothing permits it. */
bool ft_framing_is_crossing(const struct ft_map *map, const struct ft_check_key *key,
			    uint64_t ts_ns);
