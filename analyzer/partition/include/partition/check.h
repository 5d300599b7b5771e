#pragma once

#include <assert.h>

#include <partition/map.h>

/*
 * The verdict of docs/verdict-rules.md for one frame. The caller says which frames are judged at
 * all (section 1) and what of the frame could be read; this is the ladders, the rules beside them,
 * time and exceptions (sections 2 to 7). Pure.
 */

enum ft_rule {
	FT_RULE_PKEY_INVALID,
	FT_RULE_PKEY_UNDECLARED,
	FT_RULE_PKEY_SENDER_NOT_MEMBER,
	FT_RULE_PKEY_RECEIVER_NOT_MEMBER,
	FT_RULE_PKEY_LIMITED_TO_LIMITED,
	FT_RULE_PKEY_MEMBERSHIP_OVERCLAIMED,
	FT_RULE_PKEY_DEFAULT_USED,
	FT_RULE_PKEY_CHANGED_ON_CONNECTION,
	FT_RULE_TENANT_CROSSING,
	FT_RULE_TENANT_UNKNOWN_ENDPOINT,
	FT_RULE_TENANT_WRONG_SEGMENT,
	FT_RULE_TENANT_OUTSIDE_VALIDITY,
	FT_RULE_TENANT_GRACE,
	FT_RULE_TENANT_COTENANCY,
	FT_RULE_MAP_FAIL_OPEN,
	FT_RULE_SPOOF_ADDRESS_MISMATCH,
	FT_RULE_DECODE_BAD_ICRC, /* wrong ICRC: not judged; the evidence says whether every frame of the flow has one */
	FT_RULE_DECODE_PKEY_UNUSUAL, /* RoCE where segments isolate: base is neither 0x7fff nor declared */
	FT_RULE_TENANT_QUOTA,        /* about a tenant, not about frames */
	/* how a connection behaves: analyzer/suspects.h */
	FT_RULE_SPOOF_PSN_CONFLICT,
	FT_RULE_SPOOF_PAYLOAD_CHANGED,
	FT_RULE_SPOOF_SENDER_CHANGED,
	FT_RULE_SPOOF_SENDER_VARIES,
	FT_RULE_SPOOF_PSN_WINDOW,
	FT_RULE_SPOOF_UNASKED_RESPONSE,
	FT_RULE_SPOOF_ACCESS_ERRORS,
	FT_RULE_SPOOF_QP_SCAN,
	FT_RULE_SPOOF_QKEY_GUESSES,
	FT_RULE_SPOOF_NAK_OUTLIVED,
	FT_RULE_TENANT_MANAGEMENT_CROSSING, /* RoCE where segments isolate: what tenant.crossing leaves out */
	FT_RULES, /* those that frames break by themselves; behind them: */

	/* what NCCL's framing shows: nccl/follower.h */
	FT_RULE_NCCL_WRITE_OUTSIDE = FT_RULES,
	FT_RULE_NCCL_WRITE_UNASKED,
	FT_RULE_NCCL_SECOND_WRITER,
	FT_RULE_NCCL_CONTRADICTION,
	FT_RULE_NCCL_REPLAY,
	FT_RULE_NCCL_CROSSES_TENANTS,
	FT_RULE_NCCL_FOREIGN_SETUP,
	FT_RULE_SPOOF_SECOND_SENDER,   /* about two half-connections: analyzer/second_senders.h */
	FT_RULE_SPOOF_CNP_UNSOLICITED, /* likewise, or about many packets: analyzer/floods.h */
	FT_ALL_RULES,
};
static_assert(FT_RULES <= 32, "rules are bits of a word");

struct ft_rule_text {
	const char *name; /* "pkey.undeclared" */
	enum ft_severity
		severity; /* as a finding; tenant.crossing: critical between customers, else high;
			     spoof.psn-conflict: high where the sender looks another, else medium */
	bool violation;   /* false: listed, does not make a report `violated` */
	double certainty; /* 0..1 that it means what it says; 1 for rules of the map */
	const char *meaning; /* one sentence */
};

/* Of any rule below FT_ALL_RULES; static, never NULL. docs/findings.md says it at length. */
const struct ft_rule_text *ft_rule_text(enum ft_rule rule);

/* Any of them, bit per enum ft_rule, is a violation. */
bool ft_rules_violate(uint32_t rules);

/* What could be read of a frame (section 4: "needs"). */
enum ft_needs {
	FT_NEED_ADDRESSES = 1,
	FT_NEED_PKEY = 2,
	FT_NEED_DEST_QP = 4,
	FT_NEED_QKEY = 8,
	FT_NEED_CLASS = 16,
	FT_NEED_TAGS = 32,
	FT_NEED_ALL = 63,
};

/*
 * Everything a judgement depends on, and nothing else: also the key under which one may be cached. No padding.
 * What all packets of a half-connection have in common comes first.
 */
struct ft_check_key {
	uint8_t src[16], dst[16]; /* IP or GID, wire order; zero without has_gids */
	uint32_t vni;             /* with has_vni */
	uint16_t pkey;            /* all 16 bits */
	uint16_t vlan;            /* 0: untagged */
	uint8_t dmac[6], smac[6]; /* RoCE with an Ethernet header; else zero */
	uint32_t qkey;            /* with FT_NEED_QKEY in `known` and base 0x7fff; else 0 */
	uint16_t slid, dlid;      /* native */
	uint8_t qp_kind;          /* 0 QP0, 1 QP1, 2 any other */
	uint8_t has_gids;         /* src, dst filled */
	uint8_t has_vni;
	uint8_t mgmt_class; /* QP1 with FT_NEED_CLASS */
	uint8_t native;     /* 1: LIDs; 0: RoCE */
	uint8_t has_macs;
	uint8_t known; /* enum ft_needs bits that were readable; a need that does not apply to the frame counts as known */
	uint8_t service; /* BTH opcode bits 7..5: UD matters to rule 3; FT_CHECK_NO_SERVICE: cut off */
};
static_assert(sizeof(struct ft_check_key) == 68, "padding would be hashed");
enum { FT_CHECK_NO_SERVICE = 8 };

/* An end of a frame as the map sees it. */
struct ft_end {
	uint32_t endpoint; /* FT_NONE: not declared */
	uint32_t tenant;   /* FT_NONE: none or more than one: `unknown` */
	bool group;        /* multicast destination */
};

struct ft_verdict {
	/* bit per enum ft_rule: violations (and remarks, which are none) that hold */
	uint32_t rules;
	bool undecided; /* a rule that might hold could not be tried */
	bool grace;     /* report FT_RULE_TENANT_GRACE instead of the violations in `rules` */
	bool crossing_between_customers;
	bool at_home; /* nothing holds, and each end by itself is one that its tenant has by this P_Key or segment */
	struct ft_end src, dst;
	uint32_t exception; /* index into declared->exceptions used to permit a crossing; FT_NONE */
	uint32_t partition; /* index of the base's partition; FT_NONE */
	uint32_t now; /* the rules of sections 4 to 6 alone, before time excused or renamed any */
	struct ft_origin origin; /* the map line that decided; file FT_NONE: none */
	struct ft_origin crossing_origin,
		spoof_origin; /* likewise for these two rules: ft_verdict_origin() */
};

/*
 * Judge a frame at an instant. Rules of flow history (pkey.changed-on-connection) and of the ICRC are not here.
 * The verdict is constant within the map epoch of ts_ns, and the same for the same key. Of a frame that
 * is not judged (an SMP, a broken one, a wrong ICRC) only `src` and `dst` count: they are its tenant pair.
 */
void ft_check(const struct ft_map *map, const struct ft_check_key *key, int64_t ts_ns,
	      struct ft_verdict *verdict);

/* The ends of a RoCE frame that ft_check() will be asked about, for fetching from memory what it will need. */
enum { FT_CHECK_TOGETHER = 32 };
struct ft_check_ends {
	const uint8_t *src, *dst; /* [16], as in the key */
	uint16_t pkey;
};

/* Whether that pays: the map is too large to stay in the cache. */
bool ft_check_is_far(const struct ft_map *map);

/* First, for one frame: where the names of its ends stand. */
void ft_check_fetch_names(const struct ft_map *map, const struct ft_check_ends *ends);

/* Then, with something else between, for up to FT_CHECK_TOGETHER frames: what is behind those names. */
void ft_check_fetch_rest(const struct ft_map *map, const struct ft_check_ends *ends,
			 unsigned count);

/*
 * The bits to report, FT_RULE_TENANT_GRACE among them. A frame that changed the P_Key of its connection
 * breaks that rule at every instant: neither grace nor another interval would have permitted it, so
 * then all its rules stand as they are now. Then, and under grace, no exception counts as used.
 */
uint32_t ft_verdict_rules(const struct ft_verdict *verdict, bool changed_on_connection);

/* The map line behind one of the verdict's rules; file FT_NONE: none. */
struct ft_origin ft_verdict_origin(const struct ft_verdict *verdict, enum ft_rule rule);

/* True where section 4 judges the P_Key of this frame. */
bool ft_check_judges_pkey(const struct ft_map *map, const struct ft_check_key *key);

/* True for the frames that pkey.changed-on-connection is about: where section 4 applies, RC, UC, RD or XRC, DestQP >= 2. */
bool ft_check_follows_pkey(const struct ft_map *map, const struct ft_check_key *key);

/* Two tenants on one leaf though one of them names the other in no_leaf_sharing_with. */
struct ft_cotenancy {
	uint32_t tenant_a, tenant_b; /* a < b */
	const char *leaf;            /* the declared map's */
	uint32_t port_a, port_b;     /* index into declared->ports, an example each */
	int64_t at_ns;               /* first instant */
};

/*
 * tenant.cotenancy at some instant in [from, to]: each pair of tenants once per leaf. Returns how many there
 * are, of which at most `room` were written. A port that both own is shared by them, and so is what a tenant
 * of class `shared` owns: neither conflicts.
 */
size_t ft_check_cotenancy(const struct ft_map *map, int64_t from_ns, int64_t to_ns,
			  struct ft_cotenancy *found, size_t room);
