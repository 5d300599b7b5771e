#include "ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIDS = 0x10000 };

static int add_host(struct ft_ports *ports, uint32_t number)
{
	const char *host = ports->declared->ports[number].host;
	uint32_t before;

	ports->same_host[number] = FT_NONE;
	if (host == NULL)
		return 0;
	before = ft_keys_find(&ports->hosts, host, strlen(host));
	ports->same_host[number] = before;
	if (before == FT_NONE)
		return ft_keys_insert(&ports->hosts, host, strlen(host), number);
	ft_keys_set(&ports->hosts, host, strlen(host), number);
	return 0;
}

static int add_port(struct ft_ports *ports, uint32_t number)
{
	const struct ft_port *port = &ports->declared->ports[number];

	for (unsigned i = 0; port->has_lid && i < 1u << port->lmc && port->lid + i < LIDS; i++)
		ports->lids[port->lid + i] = number;
	if (port->has_guid &&
	    ft_keys_insert(&ports->guids, &port->guid, sizeof port->guid, number) != 0)
		return -ENOMEM;
	return add_host(ports, number);
}

int ft_ports_open(struct ft_ports *ports, const struct ft_declared *declared)
{
	int failed = 0;

	*ports = (struct ft_ports){ .declared = declared,
				    .same_host = calloc(declared->port_count + 1, sizeof(uint32_t)),
				    .lids = malloc(LIDS * sizeof(uint32_t)) };
	if (ports->same_host == NULL || ports->lids == NULL) {
		ft_ports_close(ports);
		return -ENOMEM;
	}
	memset(ports->lids, 0xff, LIDS * sizeof *ports->lids);
	for (uint32_t i = 0; failed == 0 && i < declared->port_count; i++)
		failed = add_port(ports, i);
	if (failed != 0)
		ft_ports_close(ports);
	return failed;
}

void ft_ports_close(struct ft_ports *ports)
{
	ft_keys_release(&ports->hosts);
	ft_keys_release(&ports->guids);
	free(ports->same_host);
	free(ports->lids);
	*ports = (struct ft_ports){ 0 };
}

uint32_t ft_ports_first(const struct ft_ports *ports, const struct ft_member *member)
{
	switch (member->kind) {
	case FT_MEMBER_HOST:
		return ft_keys_find(&ports->hosts, member->host, strlen(member->host));
	case FT_MEMBER_GUID:
		return ft_keys_find(&ports->guids, &member->guid, sizeof member->guid);
	case FT_MEMBER_LID:
		return member->number < LIDS ? ports->lids[member->number] : FT_NONE;
	default:
		return FT_NONE;
	}
}

uint32_t ft_ports_next(const struct ft_ports *ports, const struct ft_member *member, uint32_t port)
{
	return member->kind == FT_MEMBER_HOST ? ports->same_host[port] : FT_NONE;
}

const char *ft_port_word(char text[FT_NOTATION_ROOM], const struct ft_port *port)
{
	if (port->has_guid)
		return ft_guid_write(text, port->guid);
	if (port->has_gid)
		return ft_prefix_write(text, &port->gid);
	if (port->has_ip)
		return ft_prefix_write(text, &port->ip);
	if (port->has_mac)
		return ft_mac_write(text, port->mac);
	snprintf(text, FT_NOTATION_ROOM, "lid:%u", port->lid);
	return text;
}

uint32_t ft_port_endpoint(const struct ft_map *map, const struct ft_port *port)
{
	if (port->has_guid)
		return ft_map_find_guid(map, port->guid);
	if (port->has_lid)
		return ft_map_find_lid(map, port->lid);
	if (port->has_gid)
		return ft_map_find_address(map, port->gid.address);
	return port->has_ip ? ft_map_find_address(map, port->ip.address)
			    : ft_map_find_mac(map, port->mac);
}

uint32_t ft_member_endpoint(const struct ft_map *map, const struct ft_member *member)
{
	switch (member->kind) {
	case FT_MEMBER_GUID:
		return ft_map_find_guid(map, member->guid);
	case FT_MEMBER_LID:
		return ft_map_find_lid(map, (uint16_t)member->number);
	case FT_MEMBER_PREFIX:
		return ft_map_find_address(map, member->prefix.address);
	case FT_MEMBER_MAC:
		return ft_map_find_mac(map, member->mac);
	default:
		return FT_NONE;
	}
}
