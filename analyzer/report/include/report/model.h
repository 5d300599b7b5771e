#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One report model, several renderers. Built by the engine at the end of a run (or of an interval),
 * const afterwards. Field by field the document fabtap.audit/1; what is unknown is FT_UNKNOWN,
 * NULL or a has_ flag, never a guess. Strings and arrays belong to whoever built the model and
 * outlive the rendering.
 */

#define FT_UNKNOWN UINT64_MAX

enum ft_report_verdict { FT_COMPLIANT, FT_VIOLATED, FT_NOT_EVIDENCED };

struct ft_report_source {
	const char *name, *kind, *format;
	const char *compression; /* NULL: none */
	const uint16_t *link_types;
	size_t link_type_count;
	uint64_t frames, bytes;           /* bytes on the wire */
	uint64_t first_ts_ns, last_ts_ns; /* FT_UNKNOWN: no stamped frame */
	const char *clock;                /* who stamps; NULL: not stated */
	uint64_t clock_error_ns;          /* FT_UNKNOWN: not stated */
	const char *complaint;            /* where a damaged input ended; NULL: whole */
	uint64_t odd_records;             /* read with a correction or dropped */
};

/* A map that judged frames of the same run before. */
struct ft_report_earlier_map {
	const char *sha256;
	uint64_t serial; /* FT_UNKNOWN: none */
};

struct ft_report_map { /* the one in force at the end */
	const char *path, *name, *format, *sha256;
	const char *signed_by; /* NULL: unsigned, or no key given to check with */
	const char *verdict;   /* "ok", "warn", "fail_open" */
	uint64_t serial;       /* FT_UNKNOWN: none */
	uint64_t tenants, partitions, segments, endpoints;
	const struct ft_report_earlier_map *earlier; /* the first one first */
	size_t earlier_count;
};

struct ft_report_loss {     /* a row of coverage.lost_by */
	const char *method; /* "erf-lctr", "mirror-sequence" ... */
	const char *source;
	uint64_t frames;
};

struct ft_report_unopened {   /* a row of coverage.unopened */
	const char *protocol; /* "macsec", "ip-in-ip" ... */
	uint64_t frames;
};

struct ft_report_gap { /* a row of coverage.time_gaps: silence while others went on */
	uint64_t from_ns, to_ns;
	const char *source; /* the silent one */
};

struct ft_report_coverage {
	uint64_t frames_seen;                        /* without duplicates */
	uint64_t lost_estimate, lost_low, lost_high; /* FT_UNKNOWN: no method */
	double share_seen;                           /* < 0: unknown */
	const struct ft_report_loss *lost_by;
	size_t lost_by_count;
	uint64_t duplicates, truncated, undecided, undecodable;
	uint64_t connections, one_sided, unpaired;
	uint64_t evicted;           /* half-connections pushed out of a full flow table */
	uint64_t mirror_unfollowed; /* frames of mirror sessions whose numbers were not followed */
	const struct ft_report_gap *time_gaps;
	size_t time_gap_count;
	uint64_t clock_steps;
	double could_hide_per_million; /* < 0: unknown */
	const char *could_hide_because;
	bool enough;
	double min_coverage; /* asked for: share of RDMA frames that must be here, and of those judged, for `enough` */

	/* what the frames were, adding up to capture.frames; not part of the loss account */
	uint64_t judged, never_judged, not_rdma; /* + undecided = all frames */
	/* of those that are not RDMA, what may hold other packets that nothing here reads */
	const struct ft_report_unopened *unopened;
	size_t unopened_count; /* each protocol once: fewer than FT_UNOPENED_KINDS */
	/* why frames were undecided, adding up to `undecided` */
	uint64_t undecided_bad_icrc, undecided_cut, undecided_malformed, undecided_untimed,
		undecided_unread;
};

/* Who was told to slow down, by whose traffic, and what it cost. FT_UNKNOWN: not measured. */
struct ft_report_congestion {
	uint64_t ce_marked;     /* packets sent that a switch marked */
	uint64_t cnps_caused;   /* sent back because of this tenant's packets */
	uint64_t cnps_received; /* that told this tenant to slow down */
	uint64_t pause_ns;      /* told to be silent by pause frames */
	uint64_t rnr_naks;      /* sent: a receiver was not ready */
	uint64_t retransmitted; /* packets sent again */
};

struct ft_report_tenant {
	const char *name, *class;
	uint64_t endpoints_seen, frames, bytes; /* as sender */
	double quota_gbps;                      /* < 0: none */
	double peak_gbps;                       /* most in one second, as sender; < 0: unknown */
	struct ft_report_congestion congestion;
};

struct ft_report_pair {        /* a row of matrix[] */
	const char *from, *to; /* "unknown" where there is no single tenant */
	uint64_t packets, bytes, judged, violating, undecided;
	const char *verdict; /* "allowed", "violated", "unknown": also if none was judged */
	const char *const *exceptions; /* ids used */
	size_t exception_count;
};

struct ft_report_pkey {
	uint16_t pkey;
	uint64_t packets, bytes;
};

struct ft_report_end {
	const char *address;       /* "10.0.0.1", "fe80::1", "lid:17", a MAC if that is all */
	const char *host, *tenant; /* NULL: none */
	bool group;                /* multicast */
};

#define FT_FINDING_FRAMES 32
#define FT_FINDING_QPS    16

struct ft_report_finding {
	char id[24];
	const char *rule;
	uint8_t severity;    /* enum ft_severity: 0 info .. 4 critical */
	bool violation;      /* makes the report `violated` */
	double certainty;    /* 0..1 */
	const char *summary; /* one sentence */
	uint64_t first_ts_ns, last_ts_ns, packets, bytes;
	bool has_ends, has_pkey, has_vlan, has_vni;
	struct ft_report_end src, dst;
	uint16_t pkey; /* all 16 bits as first seen */
	uint16_t vlan;
	uint32_t vni;
	uint32_t dest_qps[FT_FINDING_QPS];
	size_t dest_qp_count;
	uint64_t frames[FT_FINDING_FRAMES]; /* capture-wide frame numbers */
	size_t frame_count;
	const char *tenant_a, *tenant_b,
		*leaf;               /* tenant.cotenancy; tenant.quota: only tenant_a; else NULL */
	const char *map_file;        /* NULL: no single line of the map */
	uint32_t map_line;           /* 0: unknown */
	const char *map_path;        /* JSON pointer or NULL */
	const char *const *evidence; /* sentences */
	size_t evidence_count;
};

struct ft_report {
	const char *version, *build;
	enum ft_report_verdict verdict;
	char because[256];
	const struct ft_report_source *sources;
	size_t source_count;
	uint64_t frames, bytes, first_ts_ns, last_ts_ns;
	/* frames after which reading stopped as asked; 0: read to the end */
	uint64_t stopped_after;
	struct ft_report_map map;
	struct ft_report_coverage coverage;
	const struct ft_report_tenant *tenants;
	size_t tenant_count;
	const struct ft_report_pair *matrix;
	size_t pair_count;
	const struct ft_report_pkey *pkeys;
	size_t pkey_count;
	/* ordered: violations by severity, rule, subject; then the rest */
	const struct ft_report_finding *findings;
	size_t finding_count;
	uint64_t findings_dropped; /* beyond the configured number; they count for the verdict */
	const char *evidence_path; /* -w; NULL: not written */
};
