#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <firmware-config/machine.h>

/* Which machine and which program it was that attests. "" where not known; hashes are SHA-256 in hexadecimal. */

enum { FT_HASH_TEXT = 65 };

struct ft_host_facts {
	char boot_id[64];
	char kernel[64];
	char machine_id_hash[FT_HASH_TEXT];
	char cmdline_hash[FT_HASH_TEXT]; /* of the kernel's command line */
	bool secure_boot_known, secure_boot;
};

/* Nothing fails: each that cannot be read is "" or not known. Secure boot is what the firmware's variable says. */
void ft_host_facts_read(const struct ft_machine *machine, struct ft_host_facts *facts);

struct ft_binary_facts {
	char path_hash[FT_HASH_TEXT]; /* of the path's text */
	char content_hash[FT_HASH_TEXT];
	char build_id[FT_HASH_TEXT]; /* that the linker gave it */
};

/* Of the program that runs, always on this machine; the whole file is hashed. What cannot be read is "". */
void ft_binary_facts_read(struct ft_binary_facts *facts);

/* The kernel's clock, as it knows it. */
struct ft_clock_facts {
	char source[32]; /* what it counts: "tsc" */
	bool known;
	bool locked;       /* something keeps it in step with a reference */
	int64_t offset_ns; /* from that, as last told */
};

/* Of a saved machine only the source is known: the rest is asked of the kernel that runs. */
void ft_clock_facts_read(const struct ft_machine *machine, struct ft_clock_facts *facts);
