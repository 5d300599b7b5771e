#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <capture/pcapng_writer.h>
#include <capture/source.h>
#include <decode/decode.h>
#include <nccl/model.h>
#include <partition/check.h>
#include <partition/succession.h>
#include <report/frame.h>
#include <report/model.h>

/*
 * The pipeline: frames from a source are decoded, judged by the map in force at their time stamp,
 * followed as connections, and added up. No clock: the same frames and configuration give the same
 * report, whatever the number of workers (but for which idle half-connections a full table drops, and
 * which ones count as silent where times go backwards by more than flow_timeout_ns).
 */
struct ft_engine;

#define FT_ENGINE_WORKERS_MAX 64
#define FT_ENGINE_KEEP        8 /* the most that an engine of several workers asks of ft_source_keep() */

/* How much of NCCL's framing is followed; all of it shows in findings. */
enum ft_engine_nccl {
	FT_ENGINE_NCCL_OFF,
	FT_ENGINE_NCCL_WATCH, /* connections with clear-to-sends: nearly free for other traffic */
	FT_ENGINE_NCCL_ALL,   /* for ft_engine_nccl(): every packet, messages kept */
};

struct ft_engine_config {
	struct ft_decode_config decode;
	unsigned workers;         /* threads, 1..64: frames are spread over them by address pair */
	uint32_t flows;           /* records of each worker's flow table, taken once */
	uint32_t findings;        /* most findings kept apart; further ones are counted */
	uint64_t flow_timeout_ns; /* silence after which a half-connection is a new one */
	uint64_t copy_window_ns;  /* the same frame again within it is a copy; 0: nothing is */
	double min_coverage; /* share of RDMA frames that must be seen, and decided, for `compliant`, 0..1 */
	double link_gbps; /* speed of the links, to tell pause times; 0: not known */
	bool details;     /* keep what ft_engine_flows() shows */
	enum ft_engine_nccl nccl;
	uint64_t nccl_messages; /* most that ft_engine_nccl() has; further ones are counted */
	uint64_t seed; /* for hash tables: from the system's random numbers; changes no result */
};
#define FT_ENGINE_DEFAULTS                                                                         \
	{                                                                                          \
		.decode = FT_DECODE_DEFAULTS, .workers = 1, .flows = 1u << 20,                     \
		.findings = 1u << 16, .flow_timeout_ns = 300000000000u, .copy_window_ns = 1000000, \
		.min_coverage = 0.99, .nccl_messages = 1u << 20,                                   \
	}

/*
 * `map` may be NULL: then frames are decoded, followed and observed, and the report's verdict means nothing. 0,
 * -ENOMEM or -EINVAL (workers, flows). The map must outlive the engine; `config` is copied.
 */
int ft_engine_create(struct ft_engine **engine, const struct ft_engine_config *config,
		     const struct ft_map *map);

/* Frees all of it, and what reports of it point to; source, map and evidence writer stay. NULL is fine. */
void ft_engine_destroy(struct ft_engine *engine);

/*
 * Between two runs: the frames from here on are judged by another map. `map` was compiled from a declared map that
 * succeeded (ft_declared_succeed()) the one in force, and *succession is what that told. Maps of before must live on
 * as long as the engine: findings name them. 0; -ENOMEM: the map before stays in force; -EINVAL: there was none.
 */
int ft_engine_change_map(struct ft_engine *engine, const struct ft_map *map,
			 const struct ft_succession *succession);

/*
 * The first frames of every finding go to `writer` as they are met, or when a report finds it (NULL: nowhere): it must
 * outlive runs and reports. Ends the program (engine/no_memory.h) when memory ends.
 */
void ft_engine_keep_evidence(struct ft_engine *engine, struct ft_pcapng_writer *writer);

/* Told of a packet, judged if there is a map; the view holds for the call. 0, or -errno, which ends the run. */
typedef int ft_engine_observer(void *context, const struct ft_frame_view *view);

/*
 * Before the first run: tell `observer` of every packet of every frame, in the order of the capture, one at a time, but
 * from any of the workers' threads. Packets are then decoded a second time.
 */
void ft_engine_observe(struct ft_engine *engine, ft_engine_observer *observer, void *context);

/* What a run takes, and how far. */
struct ft_engine_run {
	struct ft_source *source;
	uint64_t most; /* frames; UINT64_MAX: all */
	/* called now and then by the thread that started the run, with the frames read in it; false: no more */
	bool (*go_on)(void *context, uint64_t frames);
	void *context;
};

/*
 * Take the frames of the source until it ends, `most` were read or `go_on` says false; *frames: how many were read,
 * whatever is returned. 0, -ENOMEM, or -errno of the observer or of starting threads; of several workers also that of
 * ft_source_keep(). A run that `go_on` ended can be gone on with by another call for the same source, if it is a live
 * one or the worker a lone one: nothing is lost between them.
 */
int ft_engine_run(struct ft_engine *engine, const struct ft_engine_run *run, uint64_t *frames);

/*
 * The report so far, never NULL. Strings belong to the engine, the map and the source, and stay until the next call on
 * any of them. `source` gives names and loss counters. Without a map it has sources, sums, coverage and findings about
 * NCCL. The caller fills in version and build.
 */
const struct ft_report *ft_engine_report(struct ft_engine *engine, const struct ft_source *source);

/*
 * What is known of NCCL so far, for FT_ENGINE_NCCL_ALL; NULL otherwise, or if memory ends. Belongs to the engine and
 * stays until the next call on it. Its findings are among those of the report, with or without a map.
 */
const struct ft_nccl_report *ft_engine_nccl(struct ft_engine *engine);
