#pragma once

#include <stdint.h>
#include <stdio.h>

#include <firmware-config/host.h>
#include <firmware-config/process.h>
#include <firmware-config/settings.h>
#include <firmware-config/transmitted.h>

/*
 * Whether a receiving process and the port it listened at sent anything in an interval: what was read, what follows
 * from it, and the record that says so. docs/passivity.md tells what each of these can and cannot show.
 */

/* Somebody outside of this machine who can tell. */
struct ft_witness {
	/* who states that the port has no fibre to send through; NULL: nobody */
	const char *one_way_by;
	const char *switch_by; /* who read the switch's counter, NULL: nobody */
	/* frames it received from the port, before and after; FT_TX_UNREADABLE */
	uint64_t switch_rx[2];
};

/* Whether a process without rights could send on this kernel, tried where nothing leaves the machine. */
enum ft_self_test { FT_SELF_TEST_NOT_TRIED, FT_SELF_TEST_BLOCKED, FT_SELF_TEST_SENT };

struct ft_passivity {
	uint64_t utc_ns, mono_ns; /* the end of the interval */
	uint64_t duration_ns;
	const char *version; /* of the program */

	const char *source;         /* "pcap:tap0" */
	const char *capture_driver; /* "libpcap 1.10.3" */
	unsigned transmit_queues;
	uint64_t frames; /* received */
	bool lasted;     /* the source received until the end of the interval */

	struct ft_host_facts host;
	struct ft_binary_facts binary;
	struct ft_clock_facts clock;
	bool interface_known; /* `port` and `settings` are about one */
	struct ft_port_facts port;
	struct ft_setting settings[FT_SETTINGS_MAX];
	size_t setting_count;

	uint64_t index[2]; /* of the interface, before and after */
	struct ft_tx_row rows[2 * FT_TX_COUNTERS_MAX];
	size_t row_count;

	struct ft_process_facts process;
	enum ft_self_test self_test;
	struct ft_witness witness;
};

enum ft_passive {
	FT_PASSIVE_PROVED, /* nothing left, as somebody outside says, and the port's own counters */
	FT_PASSIVE_CONSISTENT, /* as the machine's own counters say */
	FT_PASSIVE_NOT_PROVED, /* something that matters could not be read */
	FT_PASSIVE_VIOLATED,   /* a counter moved */
};

enum { FT_REASONS_MAX = 64, FT_REASON = 80 };

struct ft_passive_verdict {
	enum ft_passive verdict;
	size_t count;
	/* codes, those of the verdict first, then what else is to be known */
	char reasons[FT_REASONS_MAX][FT_REASON];
};

/*
 * The first of these that holds: VIOLATED, a counter of the port or of the switch moved; NOT_PROVED, one could not be
 * read or went back, the interface was replaced, the process had rights or could get them, or the source ended;
 * CONSISTENT, there is no witness, or no counter of what leaves the port; PROVED. There is always a reason; beyond
 * FT_REASONS_MAX they are dropped.
 */
void ft_passivity_judge(const struct ft_passivity *passivity, struct ft_passive_verdict *verdict);

/* "proved", "consistent", "not-proved", "violated": one for each, static. */
const char *ft_passive_name(enum ft_passive verdict);

/*
 * The record, a JSON object in one line (docs/formats.md, fabtap.passivity/1), flushed. 0, -ENOMEM or -errno of the
 * handle.
 */
int ft_passivity_write(FILE *out, const struct ft_passivity *passivity,
		       const struct ft_passive_verdict *verdict);
