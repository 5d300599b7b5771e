#pragma once

#include <stdbool.h>

#include <partition/declared.h>

#include <partition/arena.h>
#include "keys.h"

/* A declared map while it is being read. Readers fill the lists; ft_builder_finish() seals them. */
struct ft_builder {
	struct ft_arena *arena;
	struct ft_declared *declared; /* in the arena; scalars are set directly */
	struct ft_list files, tenants, ports, partitions, segments, exceptions, diagnostics,
		intended;
	struct ft_keys tenant_names;      /* -> index into tenants */
	struct ft_keys hosts;             /* -> index of that host's first port */
	struct ft_keys guids, gids, macs; /* -> index into ports */
	uint32_t *lids;                   /* [FT_LIDS] -> index into ports + 1, 0: free */
	unsigned errors;                  /* diagnostics of severity FT_ERROR */
	bool out_of_memory;               /* sticky; nothing that was built may be used */
};

enum { FT_LIDS = 0xc000 }; /* unicast LIDs end at 0xbfff */

/* The port that claimed a LID below FT_LIDS; FT_NONE: none did. */
static inline uint32_t ft_builder_at_lid(const struct ft_builder *builder, uint32_t lid)
{
	return builder->lids[lid] - 1;
}

int ft_builder_open(struct ft_builder *builder); /* 0 or -ENOMEM */
/* also what ft_builder_finish() did not hand out */
void ft_builder_close(struct ft_builder *builder);

/* The finished map, owned by the caller. NULL: no memory. */
struct ft_declared *ft_builder_finish(struct ft_builder *builder);

/* Text copied into the map; NULL (and out_of_memory) if there is no room. */
const char *ft_builder_text(struct ft_builder *builder, const char *text, size_t length);

/* Each byte that is in no character of UTF-8, or in a control character, becomes '?'. In place; no NUL is needed behind it. */
void ft_text_clean(char *text, size_t length);

/* The same for text of unknown origin: control bytes and what is not UTF-8 become '?'. */
const char *ft_builder_name(struct ft_builder *builder, const char *text, size_t length);

void *ft_builder_take(struct ft_builder *builder, size_t size);
void *ft_builder_add(struct ft_builder *builder, struct ft_list *list);

/* Adds a diagnostic; its text is cleaned as names are. `code` is static. Beyond 1000 of them only the errors are counted. */
__attribute__((format(printf, 5, 6))) void ft_diagnose(struct ft_builder *builder,
						       enum ft_diagnostic_severity severity,
						       const char *code, struct ft_origin origin,
						       const char *format, ...);

/* A tenant by name, made if new; FT_NONE: no memory. */
uint32_t ft_builder_tenant(struct ft_builder *builder, const char *name, enum ft_tenant_class class,
			   struct ft_origin origin);

/*
 * Make port `number` the owner of its GUID, LIDs, GID and MAC. Returns what another port owns already
 * ("guid", "lid", "gid", "mac"; *owner is that port), or NULL. All or nothing.
 */
const char *ft_builder_claim(struct ft_builder *builder, uint32_t number, uint32_t *owner);
