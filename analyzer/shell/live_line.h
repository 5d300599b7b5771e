#pragma once

#include <capture/live.h>

#include "options.h"

/* What the command line says about live sources, in every verb that takes them. */
struct ft_live_line {
	const struct ft_verb *verb;
	const char **addresses; /* room for all of argv */
	size_t count;
	struct ft_live_config config;
	uint64_t duration_ns; /* 0: until stopped */
	bool options;         /* one was given that only makes sense for a live source */
	bool quiet;           /* only failures are told */
	/* called once all sources receive, with the rights that are about to go: 0, or -errno, told; NULL: nobody cares */
	int (*receiving)(void *context);
	void *receiving_context;
};

#define FT_LIVE_LETTERS "i:s:f:"
/* clang-format off */
#define FT_LIVE_WORDS \
	{ "interface", required_argument, NULL, 'i' }, \
	{ "snapshot-length", required_argument, NULL, 's' }, \
	{ "filter", required_argument, NULL, 'f' }, \
	{ "duration", required_argument, NULL, FT_OPTION_DURATION }, \
	{ "buffer", required_argument, NULL, FT_OPTION_BUFFER }, \
	{ "allow-tx-queue", no_argument, NULL, FT_OPTION_ALLOW_TX_QUEUE }, \
	{ "verbose", no_argument, NULL, FT_OPTION_VERBOSE }
/* clang-format on */

/* The paragraph about these options in the help texts. */
#define FT_LIVE_USAGE                                                                              \
	"  -i, --interface SOURCE pcap:tap0, dpdk:DEVICE or verbs:mlx5_0/1 (repeatable)\n"         \
	"      --duration T       stop after T: seconds, or 90s, 5m, 2h\n"                         \
	"  -s, --snapshot-length N  bytes kept of each frame\n"                                    \
	"  -f, --filter EXPR      kernel filter, in pcap's language\n"                             \
	"      --buffer SIZE      receive buffer of each source: bytes, or 64K, 512M, 2G\n"        \
	"      --allow-tx-queue   take a device that cannot be had without a transmit queue\n"     \
	"      --verbose          let the capture libraries speak, too\n"

/* 0 or -ENOMEM. */
int ft_live_line_init(struct ft_live_line *line, const struct ft_verb *verb, int argc);
void ft_live_line_free(struct ft_live_line *line);

/* Take an option. 1: it is none of these; 0: taken; -EINVAL: refused, told. */
int ft_live_line_option(struct ft_live_line *line, int code, const char *value);

/* Take a source that was named otherwise, by `option` of the line. 0, or -EINVAL: refused, told. */
int ft_live_line_address(struct ft_live_line *line, const char *option, const char *value);

/* Open the sources; `keep` as in ft_live_config. Told: what could not be opened. 0 or -errno. */
int ft_live_line_open(struct ft_live_line *line, unsigned keep, struct ft_source **source);

/*
 * Start them and give up the rights that this needed. From here on signals ask for something instead of ending the
 * program, and nothing that arrives is missed: in the end that is told. 0 or -errno, told.
 */
int ft_live_line_listen(const struct ft_live_line *line, struct ft_source *source);

/*
 * Tell of each interface of an open source that speaks by itself: through the mirror port that is heard as if the
 * program had sent it. ft_live_line_listen() has done so.
 */
void ft_live_warn(const struct ft_source *source);
