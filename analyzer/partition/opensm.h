#pragma once

#include <jansson.h>

#include "builder.h"

/*
 * OpenSM's partitions.conf, read as OpenSM 3.3 reads it, mistakes included: one error anywhere and
 * the whole file counts for nothing (verdict FT_MAP_FAIL_OPEN). Text as the parser sees it comes in
 * pieces: physical lines of at most 4094 bytes, each ended by '#' if it has one. They are read into
 * one buffer, and what a piece leaves of earlier, longer ones matters behind a line that begins with
 * ';': OpenSM goes on reading one byte behind the end of such a line.
 */
enum { FT_OPENSM_PIECE = 4094 };

struct ft_opensm_partition {
	uint16_t base;
	bool generated;         /* the number is OpenSM's own choice */
	const char *name;       /* raw, at most 31 bytes; "" if the file gives none */
	struct ft_list members; /* struct ft_member, in file order */
	json_t *flags;          /* object, as `map show` prints it */
	int mtu, rate, sl;      /* -1: not given */
	bool ipoib, index0;
	struct ft_origin origin; /* of the first definition; line 0: OpenSM's own */
};

/* Flags of a definition, or of one multicast group in it. */
struct ft_opensm_flags {
	json_t *json;
	int mtu, rate, sl;
	bool ipoib, index0;
	enum ft_membership defmember;
};

struct ft_opensm {
	struct ft_builder *builder;
	bool allow_both;
	struct ft_origin origin;      /* of the piece being read */
	struct ft_list partitions;    /* struct ft_opensm_partition */
	struct ft_keys bases, names;  /* -> index into partitions */
	size_t open;                  /* partition whose definition is open; SIZE_MAX: none */
	enum ft_membership defmember; /* of the open definition */
	uint16_t last_generated;
	bool long_line;                  /* the line being read was cut into pieces */
	bool semicolon_first;            /* the piece being read begins with ';' */
	bool failed;                     /* OpenSM stops reading here */
	char piece[FT_OPENSM_PIECE + 2]; /* .. being read, its NUL, and what is left of others */
};

/* Parse the bytes. The result waits in *opensm for ft_opensm_finish(). */
void ft_opensm_read(struct ft_opensm *opensm, struct ft_builder *builder, uint32_t file,
		    bool allow_both, const char *text, size_t size);

/* After the topology is known: cross-check, and give the effective map to the builder. Releases. */
void ft_opensm_finish(struct ft_opensm *opensm, bool topology);

/* Note an error as OpenSM does: nothing after it counts, nor before. */
__attribute__((format(printf, 3, 4))) void ft_opensm_fail(struct ft_opensm *opensm,
							  const char *code, const char *format,
							  ...);

__attribute__((format(printf, 4, 5))) void ft_opensm_say(struct ft_opensm *opensm,
							 enum ft_diagnostic_severity severity,
							 const char *code, const char *format, ...);

/* OpenSM takes a word for `whole` if it is a prefix of it. */
bool ft_opensm_abbreviates(const char *word, const char *whole);
void ft_opensm_note_abbreviation(struct ft_opensm *opensm, const char *code, const char *word,
				 const char *whole);

/* A word and the value behind '=' (NULL: none), white space stripped. Both lie in the piece. */
struct ft_opensm_token {
	char *name, *value;
};

/* Take the token up to the next `separator` (or the end) off *text; false if *text is NULL. */
bool ft_opensm_take(char **text, char separator, struct ft_opensm_token *token);

/* "full", "limited", "both" and what passes for them; NULL means `otherwise`. */
enum ft_membership ft_opensm_membership(struct ft_opensm *opensm, const char *word,
					enum ft_membership otherwise);

void ft_opensm_flag(struct ft_opensm *opensm, const struct ft_opensm_token *token,
		    struct ft_opensm_flags *flags);
/* The same for a multicast group, where only some flags exist. False: no such flag. */
bool ft_opensm_group_flag(struct ft_opensm *opensm, const struct ft_opensm_token *token,
			  struct ft_opensm_flags *flags);

/*
 * "mgid=…" and the rest of its line, or NULL. Returns NULL, or what of the rest OpenSM has not read:
 * it gives up at what is no multicast address.
 */
char *ft_opensm_group(struct ft_opensm *opensm, const char *mgid, char *rest);

/* The partition a header names, found or made; NULL: it failed. */
struct ft_opensm_partition *ft_opensm_define(struct ft_opensm *opensm,
					     struct ft_opensm_token header);

/* One item of a definition: a GUID or a keyword. */
void ft_opensm_item(struct ft_opensm *opensm, const struct ft_opensm_token *token);
