#pragma once

#include <partition/map.h>
#include <partition/notation.h>

#include "keys.h"

/* From member lines to the ports they name. */
struct ft_ports {
	const struct ft_declared *declared;
	struct ft_keys hosts, guids; /* -> index into ports; of a host its last port */
	uint32_t *same_host;         /* per port: the one before with the same host, or FT_NONE */
	uint32_t *lids;              /* [0x10000] -> index into ports, or FT_NONE */
};

int ft_ports_open(struct ft_ports *ports, const struct ft_declared *declared); /* 0 or -ENOMEM */
void ft_ports_close(struct ft_ports *ports);

/* The ports of a member that names a host, GUID or LID: the first, and the one after `port`. FT_NONE: no more. */
uint32_t ft_ports_first(const struct ft_ports *ports, const struct ft_member *member);
uint32_t ft_ports_next(const struct ft_ports *ports, const struct ft_member *member, uint32_t port);

/* What identifies a port in every map: GUID, else GID, IP, MAC or LID. */
const char *ft_port_word(char text[FT_NOTATION_ROOM], const struct ft_port *port);

uint32_t ft_port_endpoint(const struct ft_map *map, const struct ft_port *port);

/* The endpoint of a member that names an address of its own; FT_NONE for keywords, hosts, tags. */
uint32_t ft_member_endpoint(const struct ft_map *map, const struct ft_member *member);
