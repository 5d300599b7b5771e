#pragma once

#include <partition/declared.h>

/*
 * The P_Key tables that OpenSM gives the ports of the topology: partition by partition, rule by
 * rule, the last one that names a port wins. `allow_both` is its option allow_both_pkeys: without
 * it "both" is full.
 */
struct ft_table_entry {
	uint32_t port; /* index into declared->ports */
	uint16_t pkey; /* all 16 bits */
};

struct ft_tables {
	struct ft_table_entry *entries; /* by port, then by P_Key */
	size_t count;
};

/* 0 or -ENOMEM. */
int ft_tables_resolve(struct ft_tables *tables, const struct ft_declared *declared,
		      bool allow_both);
void ft_tables_release(struct ft_tables *tables);
