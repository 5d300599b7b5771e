#pragma once

#include <engine/flow_choice.h>

#include "job.h"

/* What Wireshark asks for, by the option that says so. */
enum ft_extcap_request {
	FT_EXTCAP_NOTHING,
	FT_EXTCAP_INTERFACES,
	FT_EXTCAP_DLTS,
	FT_EXTCAP_CONFIG,
	FT_EXTCAP_RELOAD, /* what can be chosen as `reload` */
	FT_EXTCAP_FILTER, /* is it one? */
	FT_EXTCAP_CAPTURE,
};

struct ft_extcap_line {
	enum ft_extcap_request request;
	const char *interface, *fifo, *reload, *filter; /* NULL: not given */
	const char *device;                             /* of FT_EXTCAP_DPDK */
	char *address;                                  /* of the live source; NULL: no interface */
	struct ft_job job;
	struct ft_flow_choice choice; /* frames of which half-connections are kept */
	bool only_violations;
};

/* For `fabtap help extcap` and complaints: no command line begins with it. */
extern const struct ft_verb ft_extcap_verb;

/* 0 or -ENOMEM, told. */
int ft_extcap_line_init(struct ft_extcap_line *line, int argc);
void ft_extcap_line_free(struct ft_extcap_line *line);

/* FT_EXIT_CLEAN, or FT_EXIT_FAILED after one line. */
enum ft_exit ft_extcap_line_read(struct ft_extcap_line *line, int argc, char **argv);
