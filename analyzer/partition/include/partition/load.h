#pragma once

#include <partition/declared.h>

/* Why a map was refused. One line: file, line or JSON path, reason. */
struct ft_map_complaint {
	char text[512];
};

/* What to load. Pointers are borrowed for the call. */
struct ft_map_files {
	const char *map; /* path; `-`, here and below: standard input, for one of all these files */
	const char *format; /* "tapmap", "opensm"; NULL: found out from the content */
	/* ibnetdiscover, guid2lid, smpquery, saquery output; kind found from the content */
	const char *const *topologies;
	size_t topology_count;
	/* Ed25519 public key (PEM): an unsigned or wrongly signed map is refused; NULL: not checked */
	const char *key;
	bool allow_both_pkeys; /* OpenSM -W */
};

/* `-`; NULL is not. */
bool ft_is_standard_input(const char *path);

/* How many of them are standard input; NULL counts for none. */
size_t ft_map_files_from_input(const struct ft_map_files *files);

/*
 * Read, check and resolve a map. 0 and *declared (verdict OK, WARN or FAIL_OPEN), or -errno with
 * *complaint set and *declared untouched: -EINVAL refused, else the system's word.
 * Where content or signature was refused, *rejected (may be NULL) receives the diagnostics as a FT_MAP_REJECT
 * model for `map show`; it is untouched by other failures, -EINVAL of an unknown format or key among them. Both
 * models are for ft_declared_destroy().
 * No file's content makes it allocate beyond a small multiple of the file's size; files over 1 GiB are refused.
 */
int ft_map_load(struct ft_declared **declared, const struct ft_map_files *files,
		struct ft_declared **rejected, struct ft_map_complaint *complaint);

/* The same from bytes in memory, for tests and fuzzing; `name` stands for the path. No topology, no signature. */
int ft_map_load_memory(struct ft_declared **declared, const char *name, const char *format,
		       const uint8_t *bytes, size_t size, struct ft_map_complaint *complaint);

/*
 * The ports that the bytes of one topology file name, as a map with nothing else in it. Outcomes as of ft_map_load().
 */
int ft_map_load_topology(struct ft_declared **declared, const char *name, const uint8_t *bytes,
			 size_t size, struct ft_map_complaint *complaint);
