/* The rules by name. */
#include <partition/check.h>

static const struct ft_rule_text texts[FT_ALL_RULES] = {
	[FT_RULE_PKEY_INVALID] = { "pkey.invalid", FT_MEDIUM, true, 1,
				   "The P_Key's base is 0, which is never a valid partition." },
	[FT_RULE_PKEY_UNDECLARED] = { "pkey.undeclared", FT_HIGH, true, 1,
				      "The map declares no partition with this P_Key base at any "
				      "time." },
	[FT_RULE_PKEY_SENDER_NOT_MEMBER] = { "pkey.sender-not-member", FT_HIGH, true, 1,
					     "The sender is not a member of the partition whose "
					     "P_Key it used." },
	[FT_RULE_PKEY_RECEIVER_NOT_MEMBER] = { "pkey.receiver-not-member", FT_HIGH, true, 1,
					       "The frame was sent to a port that is not a member "
					       "of its partition." },
	[FT_RULE_PKEY_LIMITED_TO_LIMITED] = { "pkey.limited-to-limited", FT_HIGH, true, 1,
					      "Both ends are limited members of the partition, and "
					      "limited members may not talk to each other." },
	[FT_RULE_PKEY_MEMBERSHIP_OVERCLAIMED] = { "pkey.membership-overclaimed", FT_HIGH, true, 1,
						  "The sender is a limited member, but its frames "
						  "claim full membership." },
	[FT_RULE_PKEY_DEFAULT_USED] = { "pkey.default-used", FT_MEDIUM, true, 1,
					"A customer's traffic used the default partition, which is "
					"for management." },
	[FT_RULE_PKEY_CHANGED_ON_CONNECTION] = { "pkey.changed-on-connection", FT_HIGH, true, 1,
						 "The P_Key changed in the middle of a connection, "
						 "which is bound to one partition." },
	[FT_RULE_TENANT_CROSSING] = { "tenant.crossing", FT_HIGH, true, 1,
				      "The two ends belong to different tenants and no exception "
				      "of the map permits it." },
	[FT_RULE_TENANT_UNKNOWN_ENDPOINT] = { "tenant.unknown-endpoint", FT_HIGH, true, 1,
					      "The map does not declare the source or the "
					      "destination." },
	[FT_RULE_TENANT_WRONG_SEGMENT] = { "tenant.wrong-segment", FT_HIGH, true, 1,
					   "The addresses are declared, but not in the VLAN or "
					   "overlay in which the frame was seen." },
	[FT_RULE_TENANT_OUTSIDE_VALIDITY] = { "tenant.outside-validity", FT_HIGH, true, 1,
					      "The map permits this traffic at another time, but "
					      "not when it was seen." },
	[FT_RULE_TENANT_GRACE] = { "tenant.grace", FT_INFO, false, 1,
				   "The traffic is no longer permitted, but was within the map's "
				   "grace period before." },
	[FT_RULE_TENANT_COTENANCY] = { "tenant.cotenancy", FT_HIGH, true, 1,
				       "Two tenants that must not share a leaf switch have ports "
				       "on the same one." },
	[FT_RULE_MAP_FAIL_OPEN] = { "map.fail-open", FT_CRITICAL, true, 1,
				    "OpenSM drops this partition file and makes every port a full "
				    "member of the default partition." },
	[FT_RULE_SPOOF_ADDRESS_MISMATCH] = { "spoof.address-mismatch", FT_CRITICAL, true, 1,
					     "The two addresses of one end are declared for "
					     "different ports or hosts." },
	[FT_RULE_DECODE_BAD_ICRC] = { "decode.bad-icrc", FT_INFO, false, 1,
				      "The ICRC is wrong, so no field of the frame can be "
				      "trusted." },
	[FT_RULE_DECODE_PKEY_UNUSUAL] = { "decode.pkey-unusual", FT_INFO, false, 1,
					  "A RoCE frame has another P_Key than the default one, "
					  "and the map declares no partitions." },
	[FT_RULE_TENANT_QUOTA] = { "tenant.quota", FT_LOW, true, 1,
				   "A tenant sent more than the map's quota allows it." },
	[FT_RULE_SPOOF_PSN_CONFLICT] = { "spoof.psn-conflict", FT_MEDIUM, true, 0.9,
					 "Two different requests came under one packet sequence "
					 "number within moments: one of them is not the "
					 "connection's." },
	[FT_RULE_SPOOF_PAYLOAD_CHANGED] = { "spoof.payload-changed", FT_INFO, false, 0.3,
					    "A request was sent again with another payload; memory "
					    "may change between, but a forged packet looks like "
					    "that too." },
	[FT_RULE_SPOOF_SENDER_CHANGED] = { "spoof.sender-changed", FT_MEDIUM, true, 0.8,
					   "A packet inside a connection comes from what looks "
					   "like another machine or another program, in ways that "
					   "no change of path explains." },
	[FT_RULE_SPOOF_SENDER_VARIES] = { "spoof.sender-varies", FT_INFO, false, 0.3,
					  "One trait of a connection's sender changed; a change of "
					  "path or of settings does that too." },
	[FT_RULE_SPOOF_PSN_WINDOW] = { "spoof.psn-window", FT_INFO, false, 0.3,
				       "A request is numbered far from what its connection "
				       "expects; a new connection on the same queue pair looks "
				       "like that too." },
	[FT_RULE_SPOOF_UNASKED_RESPONSE] = { "spoof.unasked-response", FT_INFO, false, 0.3,
					     "A response answers a request that nobody was seen to "
					     "make." },
	[FT_RULE_SPOOF_ACCESS_ERRORS] = { "spoof.access-errors", FT_MEDIUM, true, 0.8,
					  "Remote memory accesses were refused again and again: "
					  "somebody guesses R_Keys or probes memory." },
	[FT_RULE_SPOOF_QP_SCAN] = { "spoof.qp-scan", FT_MEDIUM, true, 0.8,
				    "Single requests went to many queue pairs of one host, and "
				    "none was answered: somebody searches for queue pairs." },
	[FT_RULE_SPOOF_QKEY_GUESSES] = { "spoof.qkey-guesses", FT_MEDIUM, true, 0.8,
					 "Datagrams with one Q_Key after the other went to a queue "
					 "pair, which has one: somebody guesses it." },
	[FT_RULE_SPOOF_NAK_OUTLIVED] = { "spoof.nak-outlived", FT_INFO, false, 0.5,
					 "A connection went on after a NAK that ends connections: "
					 "that NAK, or the answer after it, is forged, unless the "
					 "queue pair was set up anew in between." },
	[FT_RULE_TENANT_MANAGEMENT_CROSSING] = { "tenant.management-crossing", FT_INFO, false, 1,
						 "Management datagrams went from one tenant to "
						 "another without an exception of the map; the "
						 "verdict's rules leave them out." },
	[FT_RULE_NCCL_WRITE_OUTSIDE] = { "nccl.write-outside", FT_HIGH, true, 0.9,
					 "A write on a NCCL connection goes beyond the memory, or "
					 "uses another key, than the receiver's clear-to-send "
					 "offered." },
	[FT_RULE_NCCL_WRITE_UNASKED] = { "nccl.write-unasked", FT_MEDIUM, true, 0.8,
					 "A write on a NCCL connection answers no clear-to-send, "
					 "though all of them were seen." },
	[FT_RULE_NCCL_SECOND_WRITER] = { "nccl.second-writer", FT_HIGH, true, 0.9,
					 "Somebody else than the sender of a NCCL connection "
					 "writes to the memory that was offered to that sender." },
	[FT_RULE_NCCL_CONTRADICTION] = { "nccl.contradiction", FT_MEDIUM, true, 0.8,
					 "A clear-to-send or an immediate is not of the form that "
					 "its NCCL connection has used." },
	[FT_RULE_NCCL_REPLAY] = { "nccl.replay", FT_MEDIUM, true, 0.8,
				  "A clear-to-send or a message of a NCCL connection came again, "
				  "or out of order, and not by the transport's "
				  "retransmission." },
	[FT_RULE_NCCL_CROSSES_TENANTS] = { "nccl.crosses-tenants", FT_HIGH, true, 1,
					   "Processes of tenants that may not talk are members of "
					   "one NCCL communicator." },
	[FT_RULE_NCCL_FOREIGN_SETUP] = { "nccl.foreign-setup", FT_HIGH, true, 1,
					 "NCCL's set-up, bootstrap or RAS was spoken over TCP "
					 "between tenants that may not talk, or with an end that "
					 "the map does not declare." },
	[FT_RULE_SPOOF_SECOND_SENDER] = { "spoof.second-sender", FT_MEDIUM, true, 0.9,
					  "Another address sent to a queue pair while that was "
					  "connected with its one peer; the packets are numbered "
					  "to fit the connection, and none was answered." },
	[FT_RULE_SPOOF_CNP_UNSOLICITED] = { "spoof.cnp-unsolicited", FT_MEDIUM, true, 0.8,
					    "A queue pair was told to slow down by who cannot have "
					    "got marked packets from it: by another address than "
					    "its peer's, or more often than it sent packets." },
};

const struct ft_rule_text *ft_rule_text(enum ft_rule rule)
{
	return &texts[rule];
}

bool ft_rules_violate(uint32_t rules)
{
	for (; rules != 0; rules &= rules - 1)
		if (texts[__builtin_ctz(rules)].violation)
			return true;
	return false;
}
