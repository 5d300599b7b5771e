#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <capture/pcapng_writer.h>
#include <capture/source.h>
#include <decode/decode.h>
#include <partition/check.h>
#include <report/frame.h>
#include <report/model.h>

/*
 * The pipeline: frames from a source are decoded, judged by the map in force at their time stamp,
 * and added up. One engine, one thread, no clock: the same frames and configuration give the same
 * report.
 */
struct ft_engine;

struct ft_engine_config {
	struct ft_decode_config decode;
	uint32_t flows;           /* records of the flow table, taken once */
	uint32_t findings;        /* most findings kept apart; further ones are counted */
	uint64_t flow_timeout_ns; /* silence after which a half-connection is a new one */
	double min_coverage; /* share of RDMA frames that must be decided for `compliant`, 0..1 */
	uint64_t seed; /* for hash tables: from the system's random numbers; changes no result */
};
#define FT_ENGINE_DEFAULTS                                                                         \
	{                                                                                          \
		.decode = FT_DECODE_DEFAULTS, .flows = 1u << 20, .findings = 1u << 16,             \
		.flow_timeout_ns = 300000000000u, .min_coverage = 0.99,                            \
	}

/* `map` may be NULL: then frames are only decoded and observed, and there is no report. 0, -ENOMEM or -EINVAL. The map must outlive the engine. */
int ft_engine_create(struct ft_engine **engine, const struct ft_engine_config *config,
		     const struct ft_map *map);
void ft_engine_destroy(struct ft_engine *engine);

/* The first frames of every finding go to `writer` as they are met (NULL: nowhere). Needs a map. */
void ft_engine_keep_evidence(struct ft_engine *engine, struct ft_pcapng_writer *writer);

/*
 * Decode and judge the next frames of the source, at most `most` (>= 1) of them, and add them up. Returns
 * frames done (>= 1), -ENODATA at the end, or -errno of the evidence writer or the observer.
 */
int ft_engine_step(struct ft_engine *engine, struct ft_source *source, int most);

/* Called for every packet of every frame in order, after judging; used by `decode`. -errno stops. */
typedef int ft_engine_observer(void *context, const struct ft_frame_view *view);
void ft_engine_observe(struct ft_engine *engine, ft_engine_observer *observer, void *context);

/*
 * The report so far. Strings belong to the engine, the map and the source, and stay until the next
 * call on any of them. `source` gives names and loss counters.
 */
const struct ft_report *ft_engine_report(struct ft_engine *engine, const struct ft_source *source);
