#include "builder.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIAGNOSTICS = 1000 };

int ft_builder_open(struct ft_builder *builder)
{
	*builder = (struct ft_builder){
		.files.item_size = sizeof(struct ft_file),
		.tenants.item_size = sizeof(struct ft_tenant),
		.ports.item_size = sizeof(struct ft_port),
		.partitions.item_size = sizeof(struct ft_partition),
		.segments.item_size = sizeof(struct ft_segment),
		.exceptions.item_size = sizeof(struct ft_exception),
		.diagnostics.item_size = sizeof(struct ft_diagnostic),
		.intended.item_size = sizeof(struct ft_partition),
	};
	builder->arena = ft_arena_create();
	if (builder->arena == NULL)
		return -ENOMEM;
	builder->declared = ft_arena_take(builder->arena, sizeof *builder->declared);
	builder->lids = calloc(FT_LIDS, sizeof *builder->lids);
	if (builder->declared == NULL || builder->lids == NULL) {
		ft_builder_close(builder);
		return -ENOMEM;
	}
	builder->declared->issued_at_ns = FT_TIME_MIN;
	return 0;
}

void ft_builder_close(struct ft_builder *builder)
{
	struct ft_list *lists[] = { &builder->files,       &builder->tenants,  &builder->ports,
				    &builder->partitions,  &builder->segments, &builder->exceptions,
				    &builder->diagnostics, &builder->intended };
	struct ft_keys *indexes[] = { &builder->tenant_names, &builder->hosts, &builder->guids,
				      &builder->gids, &builder->macs };

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		ft_list_release(lists[i]);
	for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++)
		ft_keys_release(indexes[i]);
	free(builder->lids);
	builder->lids = NULL;
	ft_arena_destroy(builder->arena);
	builder->arena = NULL;
}

static enum ft_map_verdict worst(const struct ft_builder *builder)
{
	const struct ft_diagnostic *diagnostics = builder->diagnostics.items;

	for (size_t i = 0; i < builder->diagnostics.count; i++)
		if (diagnostics[i].severity != FT_NOTE)
			return FT_MAP_WARN;
	return FT_MAP_OK;
}

struct ft_declared *ft_builder_finish(struct ft_builder *builder)
{
	struct ft_declared *declared = builder->declared;

	if (declared->verdict == FT_MAP_OK)
		declared->verdict = worst(builder);
	declared->file_count = builder->files.count;
	declared->tenant_count = builder->tenants.count;
	declared->port_count = builder->ports.count;
	declared->partition_count = builder->partitions.count;
	declared->segment_count = builder->segments.count;
	declared->exception_count = builder->exceptions.count;
	declared->diagnostic_count = builder->diagnostics.count;
	declared->intended_count = builder->intended.count;
	declared->files = ft_list_settle(&builder->files, builder->arena);
	declared->tenants = ft_list_settle(&builder->tenants, builder->arena);
	declared->ports = ft_list_settle(&builder->ports, builder->arena);
	declared->partitions = ft_list_settle(&builder->partitions, builder->arena);
	declared->segments = ft_list_settle(&builder->segments, builder->arena);
	declared->exceptions = ft_list_settle(&builder->exceptions, builder->arena);
	declared->diagnostics = ft_list_settle(&builder->diagnostics, builder->arena);
	declared->intended = ft_list_settle(&builder->intended, builder->arena);
	if (builder->out_of_memory || declared->files == NULL || declared->tenants == NULL ||
	    declared->ports == NULL || declared->partitions == NULL || declared->segments == NULL ||
	    declared->exceptions == NULL || declared->diagnostics == NULL ||
	    declared->intended == NULL)
		return NULL;
	declared->arena = builder->arena;
	builder->arena = NULL;
	return declared;
}

void ft_declared_destroy(struct ft_declared *declared)
{
	if (declared != NULL)
		ft_arena_destroy(declared->arena);
}

void *ft_builder_take(struct ft_builder *builder, size_t size)
{
	void *taken = ft_arena_take(builder->arena, size);

	builder->out_of_memory |= taken == NULL;
	return taken;
}

const char *ft_builder_text(struct ft_builder *builder, const char *text, size_t length)
{
	const char *copy = ft_arena_text(builder->arena, text, length);

	builder->out_of_memory |= copy == NULL;
	return copy;
}

/* How many bytes the UTF-8 character at `text` has; 0: it is none, or a control character. */
static size_t character(const char *text, const char *end)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = *at < 0x80                  ? 1
			: *at >= 0xc2 && *at < 0xe0 ? 2
			: *at >= 0xe0 && *at < 0xf0 ? 3
			: *at >= 0xf0 && *at < 0xf5 ? 4
						    : 0;

	if (length == 0 || length > (size_t)(end - text) || *at < 0x20 || *at == 0x7f)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
	    (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

void ft_text_clean(char *text, size_t length)
{
	for (char *at = text; at < text + length;) {
		size_t taken = character(at, text + length);

		if (taken == 0)
			*at = '?';
		at += taken != 0 ? taken : 1;
	}
}

const char *ft_builder_name(struct ft_builder *builder, const char *text, size_t length)
{
	char *copy = ft_arena_text(builder->arena, text, length);

	builder->out_of_memory |= copy == NULL;
	if (copy != NULL)
		ft_text_clean(copy, length);
	return copy;
}

void *ft_builder_add(struct ft_builder *builder, struct ft_list *list)
{
	void *item = ft_list_add(list);

	builder->out_of_memory |= item == NULL;
	return item;
}

/* The first error always has room: it is why a map is refused. */
static struct ft_diagnostic *room_for_diagnostic(struct ft_builder *builder, bool first_error)
{
	if (builder->diagnostics.count < MOST_DIAGNOSTICS)
		return ft_builder_add(builder, &builder->diagnostics);
	return first_error
		       ? (struct ft_diagnostic *)builder->diagnostics.items + MOST_DIAGNOSTICS - 1
		       : NULL;
}

void ft_diagnose(struct ft_builder *builder, enum ft_diagnostic_severity severity, const char *code,
		 struct ft_origin origin, const char *format, ...)
{
	struct ft_diagnostic *diagnostic;
	va_list arguments;

	if (severity == FT_ERROR)
		builder->errors++;
	diagnostic = room_for_diagnostic(builder, severity == FT_ERROR && builder->errors == 1);
	if (diagnostic == NULL)
		return;
	diagnostic->severity = severity;
	diagnostic->code = code;
	diagnostic->origin = origin;
	va_start(arguments, format);
	vsnprintf(diagnostic->text, sizeof diagnostic->text, format, arguments);
	va_end(arguments);
	ft_text_clean(diagnostic->text, strlen(diagnostic->text));
}

static void insert(struct ft_builder *builder, struct ft_keys *index, const void *key,
		   size_t length, uint32_t number)
{
	if (ft_keys_insert(index, key, length, number) != 0)
		builder->out_of_memory = true;
}

uint32_t ft_builder_tenant(struct ft_builder *builder, const char *name, enum ft_tenant_class class,
			   struct ft_origin origin)
{
	uint32_t found = ft_keys_find(&builder->tenant_names, name, strlen(name));
	struct ft_tenant *tenant;

	if (found != FT_NONE)
		return found;
	tenant = ft_builder_add(builder, &builder->tenants);
	if (tenant == NULL)
		return FT_NONE;
	*tenant = (struct ft_tenant){ .name = ft_builder_text(builder, name, strlen(name)),
				      .class = class,
				      .quota_gbps = -1,
				      .origin = origin };
	if (tenant->name == NULL)
		return FT_NONE;
	found = (uint32_t)builder->tenants.count - 1;
	insert(builder, &builder->tenant_names, tenant->name, strlen(tenant->name), found);
	return found;
}

static const char *claimed(const struct ft_builder *builder, const struct ft_port *port,
			   uint32_t *owner)
{
	const char *what = NULL;

	if (port->has_guid &&
	    (*owner = ft_keys_find(&builder->guids, &port->guid, sizeof port->guid)) != FT_NONE)
		what = "guid";
	else if (port->has_gid &&
		 (*owner = ft_keys_find(&builder->gids, port->gid.address, 16)) != FT_NONE)
		what = "gid";
	else if (port->has_mac && (*owner = ft_keys_find(&builder->macs, port->mac, 6)) != FT_NONE)
		what = "mac";
	if (what != NULL || !port->has_lid)
		return what;
	for (unsigned i = 0; i < 1u << port->lmc && port->lid + i < FT_LIDS; i++)
		if ((*owner = ft_builder_at_lid(builder, port->lid + i)) != FT_NONE)
			return "lid";
	return NULL;
}

/* Keys are copied: the list of ports moves while it grows. */
static void insert_copy(struct ft_builder *builder, struct ft_keys *index, const void *key,
			size_t length, uint32_t number)
{
	const void *copy = ft_builder_text(builder, key, length);

	if (copy != NULL)
		insert(builder, index, copy, length, number);
}

const char *ft_builder_claim(struct ft_builder *builder, uint32_t number, uint32_t *owner)
{
	const struct ft_port *port = &((const struct ft_port *)builder->ports.items)[number];
	const char *what = claimed(builder, port, owner);

	if (what != NULL)
		return what;
	if (port->has_guid)
		insert_copy(builder, &builder->guids, &port->guid, sizeof port->guid, number);
	if (port->has_gid)
		insert_copy(builder, &builder->gids, port->gid.address, 16, number);
	if (port->has_mac)
		insert_copy(builder, &builder->macs, port->mac, 6, number);
	for (unsigned i = 0; port->has_lid && i < 1u << port->lmc && port->lid + i < FT_LIDS; i++)
		builder->lids[port->lid + i] = number + 1;
	return NULL;
}
