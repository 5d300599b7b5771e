#pragma once

#include <firmware-config/passivity.h>

#include "exit.h"
#include "live_line.h"

/* What `probe passive` was asked. */
struct ft_probe {
	struct ft_live_line line; /* one source */
	struct ft_machine machine;
	struct ft_witness witness;
	const char *switch_file; /* keeps the switch's counter up to date; NULL: none */
	uint64_t duration_ns;
};

/* Receive, compare, print the record; the exit status says the verdict. */
enum ft_exit ft_probe_passive(struct ft_probe *probe);
