#include "lint.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OWNERS = 64 };

static const char *name_of(const struct ft_port *port, char text[FT_NOTATION_ROOM])
{
	return port->host != NULL ? port->host : ft_port_word(text, port);
}

/* Says the first ones, and then once how many more there are. */
struct counted {
	enum ft_diagnostic_severity severity;
	const char *code, *text;
	unsigned count;
};

static void say_port(struct ft_lint *lint, struct counted *counted, const struct ft_port *port)
{
	char text[FT_NOTATION_ROOM];

	if (counted->count++ < FT_LINT_EACH)
		ft_lint_say(lint, counted->severity, counted->code, port->origin, "%.80s %s",
			    name_of(port, text), counted->text);
}

static void say_rest(struct ft_lint *lint, const struct counted *counted)
{
	if (counted->count > FT_LINT_EACH)
		ft_lint_say(lint, counted->severity, counted->code, (struct ft_origin){ .file = 0 },
			    "and %u more", counted->count - FT_LINT_EACH);
}

/* What the partitions and segments name, at any time. */
struct named {
	bool *ports;              /* per port: named by host, GUID, LID or address */
	struct ft_keys addresses; /* 16 bytes and the length, of every prefix member */
	bool lengths[129];
	bool everyone; /* all, or all of a kind, somewhere else than in the default partition */
};

struct prefix_key {
	uint8_t address[16];
	uint8_t bits;
};

static struct prefix_key prefix_key(const struct ft_prefix *prefix, unsigned bits)
{
	struct prefix_key key = { .bits = (uint8_t)bits };

	memcpy(key.address, prefix->address, bits / 8);
	if (bits % 8 != 0)
		key.address[bits / 8] = (uint8_t)(prefix->address[bits / 8] & 0xff00 >> bits % 8);
	return key;
}

static void name_members(struct ft_lint *lint, struct named *named,
			 const struct ft_interval *interval, bool is_default)
{
	for (size_t i = 0; i < interval->member_count; i++) {
		const struct ft_member *member = &interval->members[i];
		uint32_t port = ft_ports_first(&lint->ports, member);

		for (; port != FT_NONE; port = ft_ports_next(&lint->ports, member, port))
			named->ports[port] = true;
		named->everyone |= member->kind <= FT_MEMBER_ALL_ROUTERS && !is_default;
		if (member->kind == FT_MEMBER_PREFIX)
			named->lengths[member->prefix.bits] = true;
		if (member->kind == FT_MEMBER_PREFIX &&
		    ft_keys_find(&named->addresses, &member->prefix, sizeof member->prefix) ==
			    FT_NONE)
			lint->failed |= ft_keys_insert(&named->addresses, &member->prefix,
						       sizeof member->prefix, 0) != 0;
	}
}

static bool holds(const struct named *named, const struct ft_prefix *address)
{
	for (unsigned bits = 0; bits <= address->bits; bits++) {
		struct prefix_key key = prefix_key(address, bits);

		if (named->lengths[bits] &&
		    ft_keys_find(&named->addresses, &key, sizeof key) != FT_NONE)
			return true;
	}
	return false;
}

/* A port that nothing but the default partition holds has no tenant. */
static void lint_orphans(struct ft_lint *lint, const struct named *named)
{
	struct counted orphans = { FT_WARNING, "orphan-port",
				   "is in no partition or segment but the default one", 0 };
	const struct ft_declared *declared = lint->declared;

	for (size_t i = 0; i < declared->port_count; i++) {
		const struct ft_port *port = &declared->ports[i];

		if (port->kind != FT_NODE_CA || port->is_sm || named->ports[i] ||
		    (port->has_ip && holds(named, &port->ip)) ||
		    (port->has_gid && holds(named, &port->gid)))
			continue;
		say_port(lint, &orphans, port);
	}
	say_rest(lint, &orphans);
}

static void lint_names(struct ft_lint *lint)
{
	const struct ft_declared *declared = lint->declared;
	struct named named = { .ports = calloc(declared->port_count + 1, sizeof(bool)) };

	lint->failed |= named.ports == NULL;
	for (size_t i = 0; !lint->failed && i < declared->partition_count; i++)
		for (size_t j = 0; j < declared->partitions[i].interval_count; j++)
			name_members(lint, &named, &declared->partitions[i].intervals[j],
				     declared->partitions[i].base == FT_PKEY_DEFAULT);
	for (size_t i = 0; !lint->failed && i < declared->segment_count; i++)
		for (size_t j = 0; j < declared->segments[i].interval_count; j++)
			name_members(lint, &named, &declared->segments[i].intervals[j], false);
	if (!lint->failed && !named.everyone && declared->verdict != FT_MAP_FAIL_OPEN)
		lint_orphans(lint, &named);
	ft_keys_release(&named.addresses);
	free(named.ports);
}

/* One port named twice in one interval: by host and GUID, or by a repeated line. */
static void lint_repeats(struct ft_lint *lint, const struct ft_interval *interval, uint32_t *seen,
			 uint32_t stamp)
{
	char text[FT_NOTATION_ROOM];

	for (size_t i = 0; i < interval->member_count; i++) {
		const struct ft_member *member = &interval->members[i];
		uint32_t port = ft_ports_first(&lint->ports, member);

		for (; port != FT_NONE; port = ft_ports_next(&lint->ports, member, port)) {
			if (seen[port] == stamp)
				ft_lint_say(lint,
					    lint->declared->last_rule_wins ? FT_NOTE : FT_WARNING,
					    "port-listed-twice", member->origin,
					    "%.80s is listed here and before in the same interval",
					    name_of(&lint->declared->ports[port], text));
			seen[port] = stamp;
		}
	}
}

static void lint_all_repeats(struct ft_lint *lint)
{
	const struct ft_declared *declared = lint->declared;
	uint32_t *seen = calloc(declared->port_count + 1, sizeof *seen), stamp = 0;

	lint->failed |= seen == NULL;
	for (size_t i = 0; seen != NULL && i < declared->partition_count; i++)
		for (size_t j = 0; j < declared->partitions[i].interval_count; j++)
			lint_repeats(lint, &declared->partitions[i].intervals[j], seen, ++stamp);
	for (size_t i = 0; seen != NULL && i < declared->segment_count; i++)
		for (size_t j = 0; j < declared->segments[i].interval_count; j++)
			lint_repeats(lint, &declared->segments[i].intervals[j], seen, ++stamp);
	free(seen);
}

static bool owned_by_customer(struct ft_lint *lint, uint32_t endpoint, int64_t at_ns)
{
	uint32_t owners[MOST_OWNERS];
	size_t count = ft_map_owners(lint->map, endpoint, at_ns, owners, MOST_OWNERS);

	for (size_t i = 0; i < count && i < MOST_OWNERS; i++)
		if (lint->declared->tenants[owners[i]].class == FT_CUSTOMER)
			return true;
	return false;
}

static void mark_full_members(struct ft_lint *lint, const struct ft_interval *interval, bool *full)
{
	for (size_t i = 0; i < interval->member_count; i++) {
		const struct ft_member *member = &interval->members[i];
		uint32_t port = (member->membership & FT_FULL) != 0
					? ft_ports_first(&lint->ports, member)
					: FT_NONE;

		for (; port != FT_NONE; port = ft_ports_next(&lint->ports, member, port))
			full[port] = true;
		if (member->kind <= FT_MEMBER_ALL_ROUTERS && (member->membership & FT_FULL) != 0)
			memset(full, true, lint->declared->port_count);
	}
}

/* Ports that some line makes full members of the default partition. */
static void mark_full(struct ft_lint *lint, bool *full)
{
	const struct ft_declared *declared = lint->declared;

	for (size_t i = 0; i < declared->partition_count; i++) {
		const struct ft_partition *partition = &declared->partitions[i];

		for (size_t j = 0;
		     partition->base == FT_PKEY_DEFAULT && j < partition->interval_count; j++)
			mark_full_members(lint, &partition->intervals[j], full);
	}
}

static bool open_customer(struct ft_lint *lint, uint32_t port, int64_t at_ns)
{
	uint32_t endpoint = ft_port_endpoint(lint->map, &lint->declared->ports[port]);

	return endpoint != FT_NONE &&
	       (ft_map_membership(lint->map, endpoint, FT_PKEY_DEFAULT, at_ns, NULL) & FT_FULL) !=
		       0 &&
	       owned_by_customer(lint, endpoint, at_ns);
}

/* A customer's port that is full in the default partition reaches every other member of it. */
static void lint_default(struct ft_lint *lint)
{
	struct counted open = {
		FT_WARNING, "customer-full-in-default",
		"belongs to a customer and is a full member of the default partition", 0
	};
	const struct ft_declared *declared = lint->declared;
	int64_t from_ns, to_ns = FT_TIME_MIN;
	bool *full = calloc(declared->port_count + 1, sizeof *full);

	lint->failed |= full == NULL;
	if (full != NULL)
		mark_full(lint, full);
	while (full != NULL && to_ns != FT_TIME_MAX) {
		ft_map_epoch(lint->map, to_ns, &from_ns, &to_ns);
		for (uint32_t i = 0; i < declared->port_count; i++) {
			if (!full[i] || declared->ports[i].is_sm ||
			    !open_customer(lint, i, from_ns))
				continue;
			full[i] = false; /* said once */
			say_port(lint, &open, &declared->ports[i]);
		}
	}
	say_rest(lint, &open);
	free(full);
}

static void lint_addresses(struct ft_lint *lint)
{
	const struct ft_declared *declared = lint->declared;
	struct ft_keys addresses = { 0 };

	for (uint32_t i = 0; i < declared->port_count && !lint->failed; i++) {
		const struct ft_port *port = &declared->ports[i];
		uint32_t before = port->has_ip
					  ? ft_keys_find(&addresses, &port->ip, sizeof port->ip)
					  : FT_NONE;

		if (before != FT_NONE)
			ft_lint_say(lint, FT_WARNING, "address-of-two-ports", port->origin,
				    "its address is that of %.80s on line %u too",
				    declared->ports[before].host != NULL
					    ? declared->ports[before].host
					    : "a port",
				    declared->ports[before].origin.line);
		else if (port->has_ip)
			lint->failed |=
				ft_keys_insert(&addresses, &port->ip, sizeof port->ip, i) != 0;
	}
	ft_keys_release(&addresses);
}

void ft_lint_ports(struct ft_lint *lint)
{
	lint_names(lint);
	lint_all_repeats(lint);
	lint_addresses(lint);
	if (lint->declared->verdict != FT_MAP_FAIL_OPEN)
		lint_default(lint);
}
