#pragma once

#include "verbs_port.h"

/* How many entries of each table are told at most. */
enum { FT_VERBS_TOLD = 16 };

/* What the port is known as in the fabric, a line each: "GUID 0x…", "P_Key 0x8001", "GID 3 ::ffff:10.0.0.1, RoCE v2". */
struct ft_verbs_tables {
	const char *lines[2 * FT_VERBS_TOLD + 4]; /* ends with NULL */
	char text[4096];
};

void ft_verbs_tables_read(struct ft_verbs_tables *tables, const struct ft_verbs_port *port);

/* "Ethernet, active, 400 Gbit/s" */
void ft_verbs_about(const struct ibv_port_attr *attr, char *text, size_t size);
