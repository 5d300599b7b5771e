#pragma once

#include <getopt.h>
#include <stdbool.h>

#include "verb.h"

/* Codes of options without a short form; ASCII codes are those with one. */
enum ft_option {
	FT_OPTION_END = -1,
	FT_OPTION_BAD = '?', /* told already */
	FT_OPTION_TOPOLOGY = 256,
	FT_OPTION_KEY,
	FT_OPTION_MAP_FORMAT,
	FT_OPTION_ALLOW_BOTH,
	FT_OPTION_MIN_COVERAGE,
	FT_OPTION_NO_NCCL,
	FT_OPTION_FLOWS,
	FT_OPTION_WORKERS,
	FT_OPTION_LINK_GBPS,
	FT_OPTION_RD,
	FT_OPTION_ROCE_PORT,
	FT_OPTION_MIRROR_VLAN,
	FT_OPTION_NO_ICRC,
	FT_OPTION_JSON,
	FT_OPTION_LIST_FIELDS,
	FT_OPTION_AT,
	FT_OPTION_PORT,
	FT_OPTION_PAIR,
	FT_OPTION_WHERE,
	FT_OPTION_SORT,
	FT_OPTION_TOP,
	FT_OPTION_TEST,
	FT_OPTION_DURATION,
	FT_OPTION_BUFFER,
	FT_OPTION_ALLOW_TX_QUEUE,
	FT_OPTION_VERBOSE,
	FT_OPTION_ROTATE_SIZE,
	FT_OPTION_ROTATE_TIME,
	FT_OPTION_ROTATE_COUNT,
	FT_OPTION_DISK_LIMIT,
	FT_OPTION_TENANT,
	FT_OPTION_PKEY,
	FT_OPTION_QP,
	FT_OPTION_ADDRESS,
	FT_OPTION_RULE,
	FT_OPTION_FOR,
	FT_OPTION_ONE_WAY,
	FT_OPTION_SWITCH_RX,
	FT_OPTION_ROOT,
	FT_OPTION_INSTALL_EXTCAP,
	FT_OPTION_MESSAGES,
	FT_OPTION_KEYS,
	FT_OPTION_NCCL,
};

/*
 * The options of one verb, in getopt's terms. Every verb also knows -h and --help. A verb reads all
 * options first; what is left of the command line follows in argv[optind..argc).
 */
struct ft_options {
	const struct ft_verb *verb;
	const char *letters;        /* "m:c:" */
	const struct option *words; /* ends with a zero row */
	int argc;
	char **argv;
	bool started;
};

/* The next option's code with optarg, FT_OPTION_END, or FT_OPTION_BAD after a line on standard error. */
int ft_options_next(struct ft_options *options);

/* A complaint about the command line: "audit: ...". Is FT_EXIT_FAILED. */
enum ft_exit ft_usage_error(const struct ft_verb *verb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum ft_exit ft_usage_print(const struct ft_verb *verb);
