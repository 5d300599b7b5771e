#pragma once

#include <flow/table.h>
#include <partition/check.h>

#include "findings.h"

/*
 * The subject of a finding about a frame with this key. `verdict` is the map's word on its ends, or
 * NULL where its fields cannot be trusted, or there is no map: then the addresses stand alone.
 */
void ft_subject_of(const struct ft_map *map, const struct ft_check_key *key,
		   const struct ft_verdict *verdict, struct ft_subject *subject);

/* A digest of what that is made of, whatever map it is; never 0. */
uint64_t ft_subject_digest(const struct ft_check_key *key, const struct ft_verdict *verdict,
			   uint64_t seed);

/* "10.0.0.1", "fe80::1": IPv4 in ::ffff:0:0/96 as IPv4. */
void ft_address_text(const uint8_t address[16], char text[FT_END_TEXT]);

/* The same of an end of a flow key, which may be a LID: "lid:17". */
void ft_end_text(const uint8_t address[16], bool by_lid, char text[FT_END_TEXT]);
