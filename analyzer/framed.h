#pragma once

#include <flow/table.h>
#include <nccl/model.h>
#include <report/flows.h>

/*
 * What NCCL's framing says of half-connections, looked up by where they go: made of a report once, so that a million of
 * them cost a look-up each. Queue pairs of the report are those of all overlays and VLANs; connections are told apart by where
 * they were seen. `vlan`: of the half-connection, also where its key leaves it open.
 */
struct ft_framed;

/*
 * 0 or -ENOMEM. Queue pairs are copied, 48 bytes each; the connections must outlive it. `seed` changes no result.
 */
int ft_framed_create(struct ft_framed **framed, const struct ft_nccl_report *report, uint64_t seed);
void ft_framed_destroy(struct ft_framed *framed); /* NULL is fine */

/*
 * Of a half-connection: the class of the queue pair it goes to, and, if it comes from that connection's other end, what
 * it is of the connection. False, with *nccl as it was: nothing is known.
 */
bool ft_framed_tell(const struct ft_framed *framed, const struct ft_flow_key *key, uint16_t vlan,
		    struct ft_report_flow_nccl *nccl);

/* Whether any set-up over TCP named queue pairs that were met. */
bool ft_framed_has_setups(const struct ft_framed *framed);

/* The other half, if the set-up named both queue pairs: in the same overlay, of any P_Key and VLAN. */
bool ft_framed_back(const struct ft_framed *framed, const struct ft_flow_key *key, uint16_t vlan,
		    struct ft_flow_key *back);
