#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The declared tenant partition map as a loader understood it: plain arrays, in file order, before
 * it is compiled for look-up (map.h). Loaders build it, `map show`, `lint`, `convert` and `diff`
 * read it. All strings and arrays belong to the struct and live until ft_declared_destroy().
 */

#define FT_NONE         UINT32_MAX /* no such index */
#define FT_TIME_MIN     INT64_MIN  /* "always was" */
#define FT_TIME_MAX     INT64_MAX  /* open end */
#define FT_PKEY_DEFAULT 0x7fff     /* base of the default partition */

/* Where in a source file something was said. `path` is a JSON pointer or NULL. */
struct ft_origin {
	uint32_t file; /* index into ft_declared.files */
	uint32_t line; /* from 1; 0: unknown */
	const char *path;
};

enum ft_severity { FT_INFO, FT_LOW, FT_MEDIUM, FT_HIGH, FT_CRITICAL };

enum ft_diagnostic_severity { FT_NOTE, FT_WARNING, FT_ERROR }; /* "info", "warning", "error" */

struct ft_diagnostic {
	enum ft_diagnostic_severity severity;
	const char *code; /* stable, e.g. "pkey-octal"; static storage */
	struct ft_origin origin;
	char text[200]; /* a sentence */
};

enum ft_tenant_class { FT_CUSTOMER, FT_SHARED, FT_MANAGEMENT };
enum ft_encryption { FT_ENCRYPTION_OPTIONAL, FT_ENCRYPTION_REQUIRED, FT_ENCRYPTION_NONE };

struct ft_tenant {
	const char *name;
	enum ft_tenant_class class;
	enum ft_encryption encryption;
	double quota_gbps;     /* < 0: none */
	const uint32_t *apart; /* tenants that must not share a leaf with this one */
	size_t apart_count;
	bool retired; /* not declared any more: it has no member and owns nothing */
	struct ft_origin origin;
};

enum ft_node_kind { FT_NODE_CA, FT_NODE_SWITCH, FT_NODE_ROUTER };

/* Address or prefix; IPv4 lies in ::ffff:0:0/96, so an IPv4 /24 has bits = 120. Wire order. */
struct ft_prefix {
	uint8_t address[16];
	uint8_t bits; /* 0..128 */
};

/* One port of a node, declared in the map or found in a topology file. */
struct ft_port {
	const char *host; /* node name; NULL if only a topology GUID is known */
	enum ft_node_kind kind;
	bool has_guid, has_lid, has_gid, has_ip, has_mac;
	bool is_sm;           /* OpenSM's SELF */
	uint64_t guid;        /* port GUID */
	uint16_t lid;         /* base LID */
	uint8_t lmc;          /* 0..7: owns lid .. lid + 2^lmc - 1 */
	struct ft_prefix gid; /* bits 128 */
	struct ft_prefix ip;
	uint8_t mac[6];
	const char *leaf;   /* NULL: unknown */
	uint32_t leaf_port; /* 0: unknown */
	struct ft_origin origin;
};

enum ft_membership { FT_LIMITED = 1, FT_FULL = 2, FT_BOTH = 3 };

enum ft_member_kind {
	FT_MEMBER_ALL,
	FT_MEMBER_ALL_CAS,
	FT_MEMBER_ALL_SWITCHES,
	FT_MEMBER_ALL_ROUTERS,
	FT_MEMBER_SELF,
	FT_MEMBER_HOST,
	FT_MEMBER_GUID,
	FT_MEMBER_LID,
	FT_MEMBER_PREFIX, /* gid, ip, subnet */
	FT_MEMBER_MAC,
	FT_MEMBER_VLAN,
	FT_MEMBER_VNI, /* segments only */
};

struct ft_member {
	enum ft_member_kind kind;
	enum ft_membership membership; /* partitions; segments leave it FT_FULL */
	const char *host;              /* FT_MEMBER_HOST */
	uint64_t guid;
	struct ft_prefix prefix;
	uint8_t mac[6];
	uint32_t number;        /* LID, VLAN or VNI */
	bool is_gid, is_subnet; /* how a prefix was written */
	bool written_both;      /* OpenSM: "both", which is full unless allow_both_pkeys is set */
	struct ft_origin origin;
};

/* It says which frames of those members a segment is of, not where they come from. */
static inline bool ft_member_is_tag(const struct ft_member *member)
{
	return member->kind == FT_MEMBER_VLAN || member->kind == FT_MEMBER_VNI;
}

/* Half open, [from, to), nanoseconds since 1970. */
struct ft_interval {
	int64_t from_ns, to_ns;
	const char *reason; /* NULL: none */
	const struct ft_member *members;
	size_t member_count;
	struct ft_origin origin;
};

struct ft_partition {
	uint16_t base;    /* 1..0x7fff */
	const char *name; /* the file's own, or NULL */
	uint32_t tenant;  /* index; FT_NONE for none */
	bool ipoib, index0;
	int mtu, rate, sl; /* as the file's unit says (tapmap: bytes; OpenSM: IBTA code); -1 none */
	/* OpenSM: every flag as a JSON object text for `map show`; NULL: none */
	const char *flags_json;
	const struct ft_interval *intervals; /* by time; never overlapping */
	size_t interval_count;
	struct ft_origin origin;
};

struct ft_segment {
	const char *name;
	uint32_t tenant;
	const struct ft_interval *intervals;
	size_t interval_count;
	struct ft_origin origin;
};

enum ft_exception_kind { FT_EXCEPT_SHARED_SERVICE, FT_EXCEPT_MANAGEMENT, FT_EXCEPT_MULTICAST };
enum ft_except_direction { FT_DIR_BOTH, FT_DIR_TO, FT_DIR_FROM };
enum ft_mgmt_class_bit { /* tapmap's class words */
			 FT_CLASS_SM = 1,
			 FT_CLASS_SA = 2,
			 FT_CLASS_PM = 4,
			 FT_CLASS_BM = 8,
			 FT_CLASS_DM = 16,
			 FT_CLASS_CM = 32,
			 FT_CLASS_SNMP = 64,
			 FT_CLASS_CC = 128,
			 FT_CLASS_VENDOR = 256,
};

struct ft_exception {
	const char *id;
	enum ft_exception_kind kind;
	const uint32_t *from_tenants; /* also `tenants` of multicast; count 0 with any_from: any */
	size_t from_count;
	bool any_from;
	uint32_t to_tenant; /* FT_NONE: any */
	enum ft_except_direction direction;
	bool has_pkey;
	uint16_t base;
	bool has_classes;
	uint32_t classes; /* enum ft_mgmt_class_bit */
	struct ft_prefix mgid;
	struct ft_origin origin;
};

enum ft_map_verdict { FT_MAP_OK, FT_MAP_WARN, FT_MAP_FAIL_OPEN, FT_MAP_REJECT };

struct ft_file {
	const char *path;
	char sha256[65]; /* hex of the exact bytes */
};

struct ft_declared {
	const char *format; /* "tapmap", "opensm-partitions": static */
	enum ft_map_verdict verdict;
	bool last_rule_wins;         /* OpenSM; else the most specific entry decides */
	const char *map_id, *issuer; /* NULL: none */
	uint64_t serial, supersedes; /* 0: none */
	int64_t issued_at_ns;        /* FT_TIME_MIN: none */
	char signed_by[80];          /* key fingerprint and file; "": unsigned or not checked */
	bool has_subnet_prefix;
	uint64_t subnet_prefix;
	bool is_roce; /* fabric.kind */
	int64_t grace_ns;

	const struct ft_file *files;
	size_t file_count; /* 0: the map, then topologies */
	const struct ft_tenant *tenants;
	size_t tenant_count;  /* retired ones included */
	size_t retired_count; /* tenants of earlier maps of a run: succession.h */
	const struct ft_port *ports;
	size_t port_count;
	const struct ft_partition *partitions;
	size_t partition_count;
	const struct ft_segment *segments;
	size_t segment_count;
	const struct ft_exception *exceptions;
	size_t exception_count;    /* in force; behind them stand .. */
	size_t retired_exceptions; /* .. those of earlier maps of a run */
	const struct ft_diagnostic *diagnostics;
	size_t diagnostic_count;

	/* what the file's author meant, when OpenSM drops it (FT_MAP_FAIL_OPEN): shown, never judged by */
	const struct ft_partition *intended;
	size_t intended_count;
	void *arena; /* private: owns all of the above */
};

/* Frees the struct and all that it owns; a compiled map of it may then only be destroyed. NULL is fine. */
void ft_declared_destroy(struct ft_declared *declared);
