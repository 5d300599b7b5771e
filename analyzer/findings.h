#pragma once

#include <string.h>

#include <capture/frame.h>
#include <capture/pcapng_writer.h>
#include <capture/source.h>
#include <partition/check.h>
#include <report/model.h>

#include "suspects.h"

/* Two addresses, of which the first one sends. */
struct ft_flow_ends {
	uint8_t src[16], dst[16];
	uint32_t vni, by_lid;
};

static inline struct ft_flow_ends ft_flow_ends(const struct ft_flow_key *key)
{
	struct ft_flow_ends ends = { .vni = key->vni, .by_lid = key->by_lid };

	memcpy(ends.src, key->src, sizeof ends.src);
	memcpy(ends.dst, key->dst, sizeof ends.dst);
	return ends;
}

/* Findings: one per (rule, subject), counted, with their first frames. */

enum { FT_END_TEXT = 48 /* bytes of an end's address as text */ };

/* One end of a subject. `address` is text ("10.0.0.1", "lid:17"), `host` NULL if not declared by name. */
struct ft_subject_end {
	char address[FT_END_TEXT];
	const char *host;
	uint32_t tenant; /* index or FT_NONE */
	bool group;
};

struct ft_subject {
	struct ft_subject_end src, dst;
	uint16_t pkey; /* all 16 bits; the base is what counts */
	uint16_t vlan; /* 0: untagged */
	bool has_vni;
	uint32_t vni;
};

struct ft_finding {
	char id[24];
	enum ft_rule rule;
	enum ft_severity severity;
	struct ft_subject subject;
	struct ft_origin origin;
	const struct ft_map *map;         /* that origin and the subject's host are of */
	uint64_t first_ts_ns, last_ts_ns; /* FT_TS_UNKNOWN: no stamped frame */
	uint64_t packets, bytes;
	uint64_t flow_packets; /* of the flows it concerns, where a rule asks for it */
	uint16_t first_base;   /* of the first frame's connection, of pkey.changed-on-connection */
	uint64_t frames[FT_FINDING_FRAMES];
	/* spoof.psn-conflict: of each of them, the frame that had the PSN before; 0: not known */
	uint64_t passed[FT_FINDING_FRAMES];
	uint8_t forged[FT_FINDING_FRAMES]; /* likewise, enum ft_forged: by their looks */
	uint32_t dest_qps[FT_FINDING_QPS];
	uint8_t frame_count, dest_qp_count;
	struct ft_suspicion suspicion; /* of the first frame; rules 0: by the map alone */

	/* Of spoof.qp-scan: searches.h. */
	struct ft_flow_ends ends;
	uint64_t from, to;  /* numbers of its first and its last frame; 0: none */
	uint64_t unseen;    /* packets with nothing of the other side in view .. */
	uint64_t uncounted; /* .. and of these, that break no other rule .. */
	uint64_t counted;   /* .. and likewise of the others */
	/* queue pairs, left alone or not, that are known at the last report .. */
	uint64_t unused, used;
	uint64_t known; /* .. and those of them that began with a packet of the search */
};

struct ft_findings {
	struct ft_finding *items;
	uint32_t *slots; /* open addressing over ids; 0 empty, else index + 1 */
	uint32_t count, room, slot_mask, limit;
	uint64_t dropped; /* frames of findings beyond the limit */
};

int ft_findings_init(struct ft_findings *findings, uint32_t limit);
void ft_findings_free(struct ft_findings *findings);

/* Index of the finding of (rule, subject), made if new; FT_NONE if the limit is reached or memory ends. */
uint32_t ft_findings_of(struct ft_findings *findings, enum ft_rule rule,
			const struct ft_subject *subject);

/* There is no room for another one, nor will be. */
static inline bool ft_findings_are_full(const struct ft_findings *findings)
{
	return findings->count == findings->limit;
}

/* Its number is among those that are noted. */
bool ft_finding_has(const struct ft_finding *finding, uint64_t number);

/* Count a frame. True if its number was among the first and was noted. `dest_qp` FT_NONE: not known. */
bool ft_finding_add(struct ft_finding *finding, const struct ft_frame *frame, uint32_t dest_qp);

/* Write a frame of `source` as evidence of it, with its id and rule as the comment. 0 or -ENOMEM. */
int ft_finding_write(const struct ft_finding *finding, struct ft_pcapng_writer *writer,
		     const struct ft_source *source, const struct ft_frame *frame);

/* Bytes that hold all headers of a frame: of one that is kept until a finding may name it. */
enum { FT_FINDING_FRAME_BYTES = 320 };

/* A hash of rule and subject: the same in every run, on every part of a capture, on every machine. */
void ft_finding_id(enum ft_rule rule, const struct ft_subject *subject, char id[24]);

/* The id that stands for a subject given as text. */
void ft_finding_hash(const char *text, char id[24]);
