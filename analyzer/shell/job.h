#pragma once

#include <engine/engine.h>
#include <partition/load.h>
#include <partition/map.h>

#include "live_line.h"
#include "options.h"
#include "progress.h"

/*
 * What audit, decode and explain have in common: captures and a map go in, an engine runs over them. The
 * command line fills it, ft_job_open() opens everything it names.
 */
struct ft_job {
	const struct ft_verb *verb;
	const char **captures; /* room for all of argv */
	size_t capture_count;
	struct ft_map_files files; /* files.map NULL: no map */
	const char **topologies;
	struct ft_engine_config config;
	unsigned ports_given; /* --roce-port so far */
	bool streams;         /* prints while it runs */
	uint64_t most_frames; /* -c; UINT64_MAX: all */
	struct ft_live_line live;
	/* on SIGUSR1 while a live run goes on; NULL: nothing to tell */
	void (*interim)(void *context);
	void (*reloaded)(void *context); /* another map is in force; NULL: nobody cares */
	void *asked_context;             /* of both */
	/* called many times a second as long as frames are taken; false: stop */
	bool (*beat)(void *context);
	void *beat_context;

	struct ft_declared *declared;
	struct ft_map *map;
	struct ft_job_map *before; /* maps that were in force earlier in this run */
	struct ft_source *source;
	struct ft_engine *engine;
	uint64_t frames; /* done so far */
};

#define FT_JOB_LETTERS "m:r:c:" FT_LIVE_LETTERS
/* clang-format off */
#define FT_JOB_WORDS \
	{ "map", required_argument, NULL, 'm' }, \
	{ "read", required_argument, NULL, 'r' }, \
	{ "count", required_argument, NULL, 'c' }, \
	{ "topology", required_argument, NULL, FT_OPTION_TOPOLOGY }, \
	{ "key", required_argument, NULL, FT_OPTION_KEY }, \
	{ "map-format", required_argument, NULL, FT_OPTION_MAP_FORMAT }, \
	{ "allow-both-pkeys", no_argument, NULL, FT_OPTION_ALLOW_BOTH }, \
	{ "flows", required_argument, NULL, FT_OPTION_FLOWS }, \
	{ "workers", required_argument, NULL, FT_OPTION_WORKERS }, \
	{ "link-gbps", required_argument, NULL, FT_OPTION_LINK_GBPS }, \
	{ "rd", required_argument, NULL, FT_OPTION_RD }, \
	{ "roce-port", required_argument, NULL, FT_OPTION_ROCE_PORT }, \
	{ "mirror-vlan", required_argument, NULL, FT_OPTION_MIRROR_VLAN }, \
	{ "no-icrc", no_argument, NULL, FT_OPTION_NO_ICRC }, \
	{ "help", no_argument, NULL, 'h' }, \
	FT_LIVE_WORDS
/* clang-format on */

/* The paragraph about these options in the help texts. */
#define FT_JOB_USAGE                                                                               \
	"  -m, --map FILE         the declared map: tapmap/1 or OpenSM's partitions.conf\n"        \
	"      --map-format NAME  tapmap or opensm, when the content does not tell\n"              \
	"      --topology FILE    ibnetdiscover, guid2lid, smpquery or saquery output "            \
	"(repeatable)\n"                                                                           \
	"      --key PUB.pem      refuse a map that this Ed25519 key has not signed\n"             \
	"      --allow-both-pkeys OpenSM runs with -W\n"                                           \
	"  -r, --read FILE        a capture; the same as naming it without -r (repeatable)\n"      \
	"  -c, --count N          stop after N frames\n"                                           \
	"      --flows N          records of the flow table (default 1048576)\n"                   \
	"      --workers N        threads that share the work (default 1); each has a flow "       \
	"table\n"                                                                                  \
	"      --link-gbps X      speed of the links, to tell pause times (default: not known)\n"  \
	"      --rd iba|dc|opaque how opcodes 0x40 to 0x5f are read (default iba)\n"               \
	"      --roce-port N      UDP port of RoCEv2 instead of 4791 (repeatable)\n"               \
	"      --mirror-vlan VID  the mirror puts this tag around its copies (repeatable)\n"       \
	"      --no-icrc          do not check ICRC and VCRC\n" FT_LIVE_USAGE

/* 0 or -ENOMEM. */
int ft_job_init(struct ft_job *job, const struct ft_verb *verb, int argc);
void ft_job_close(struct ft_job *job);

/* Take an option. 1: it is none of a job's; 0: taken; -EINVAL: refused, told. */
int ft_job_option(struct ft_job *job, int code, const char *value);
void ft_job_capture(struct ft_job *job, const char *path);

/*
 * Load the map and open the captures. `output` is a file about to be written (NULL: none): refused if it is one
 * of the files read. FT_EXIT_CLEAN, or FT_EXIT_FAILED after one line. Also in three steps, for what has to be opened
 * between them: with the last one a live source receives, and the rights to open more are gone.
 */
enum ft_exit ft_job_open(struct ft_job *job, const char *output);
enum ft_exit ft_job_prepare(struct ft_job *job, const char *output);
enum ft_exit ft_job_open_source(struct ft_job *job);
enum ft_exit ft_job_listen(struct ft_job *job);

/*
 * All frames, or as many as asked; of live sources until they are stopped, for the time asked. 0, -ENOMEM, or -errno of
 * the evidence writer or observer; -EINTR: a signal ended the reading of files.
 */
int ft_job_run(struct ft_job *job);

/*
 * Say in one line why it failed, with `lacking`: what there is therefore none of ("no report"). FT_EXIT_FAILED.
 */
enum ft_exit ft_job_failed(const struct ft_job *job, int error, const char *lacking);

/* The same frames without an engine, as they are read. Returns what `take` does if that is not 0. */
typedef int ft_job_taker(void *context, const struct ft_frame *frames, int count);
int ft_job_pass(struct ft_job *job, ft_job_taker *take, void *context);

bool ft_job_is_live(const struct ft_job *job);

/* Frames after which -c ended the run; 0: it did not. */
uint64_t ft_job_stopped_after(const struct ft_job *job);

/* Told: every input that ended before its end. FT_EXIT_FAILED if there was one, else `status`. */
enum ft_exit ft_job_tell_damage(const struct ft_job *job, enum ft_exit status);
