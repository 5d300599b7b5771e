#include <partition/ask.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <partition/moment.h>

#include "document.h"
#include "ports.h"

enum { MOST_ENTRIES = 512, MOST_OWNERS = 64, MOST_LID_DIGITS = 5 };

/* What there is to say about one port at one instant. */
struct standing {
	struct ft_entry entries[MOST_ENTRIES];
	size_t count;
	uint32_t owners[MOST_OWNERS];
	size_t owner_count;
	uint16_t grace[MOST_ENTRIES]; /* bases that an interval which just ended still excuses */
	size_t grace_count;
};

static uint32_t find_lid(const struct ft_map *map, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long lid;

	if (digits == 0 || digits > MOST_LID_DIGITS || text[digits] != '\0')
		return FT_NONE;
	lid = strtoul(text, NULL, 10);
	return lid <= UINT16_MAX ? ft_map_find_lid(map, (uint16_t)lid) : FT_NONE;
}

/* The whole name, or the first word of a node description ("a1 mlx5_0"). */
static uint32_t find_host(const struct ft_map *map, const char *name)
{
	const struct ft_declared *declared = ft_map_declared(map);
	size_t length = strlen(name);
	uint32_t first_word = FT_NONE;

	for (uint32_t i = 0; i < declared->port_count; i++) {
		const char *host = declared->ports[i].host;

		if (host == NULL || strncmp(host, name, length) != 0)
			continue;
		if (host[length] == '\0')
			return ft_port_endpoint(map, &declared->ports[i]);
		if (host[length] == ' ' && first_word == FT_NONE)
			first_word = i;
	}
	return first_word != FT_NONE ? ft_port_endpoint(map, &declared->ports[first_word])
				     : FT_NONE;
}

static uint32_t find(const struct ft_map *map, const char *text)
{
	struct ft_prefix address;
	uint64_t guid;
	uint8_t mac[6];

	if (strncmp(text, "lid:", 4) == 0)
		return find_lid(map, text + 4);
	if (ft_hex_read(text, &guid))
		return ft_map_find_guid(map, guid);
	if (ft_mac_read(text, mac))
		return ft_map_find_mac(map, mac);
	if (ft_prefix_read(text, false, &address))
		return ft_map_find_address(map, address.address);
	return find_lid(map, text) != FT_NONE ? find_lid(map, text) : find_host(map, text);
}

static bool holds(const struct ft_entry *entries, size_t count, const struct ft_entry *wanted)
{
	for (size_t i = 0; i < count; i++)
		if (entries[i].base == wanted->base &&
		    (entries[i].membership & wanted->membership) == wanted->membership)
			return true;
	return false;
}

static size_t entries_at(const struct ft_map *map, uint32_t endpoint, int64_t at_ns,
			 struct ft_entry *entries)
{
	size_t count = ft_map_entries(map, endpoint, at_ns, entries, MOST_ENTRIES);

	return count < MOST_ENTRIES ? count : MOST_ENTRIES;
}

static void add_grace(struct standing *standing, const struct ft_entry *entry)
{
	for (size_t i = 0; i < standing->grace_count; i++)
		if (standing->grace[i] == entry->base)
			return;
	if (standing->grace_count < MOST_ENTRIES)
		standing->grace[standing->grace_count++] = entry->base;
}

/* Memberships of the last grace_ns that are gone now. */
static void find_grace(const struct ft_map *map, uint32_t endpoint, int64_t at_ns,
		       struct standing *standing)
{
	int64_t grace_ns = ft_map_declared(map)->grace_ns, from_ns, to_ns, instant = at_ns;
	struct ft_entry before[MOST_ENTRIES];

	for (;;) {
		ft_map_epoch(map, instant, &from_ns, &to_ns);
		if (from_ns == FT_TIME_MIN || from_ns <= at_ns - grace_ns)
			return;
		instant = from_ns - 1;
		for (size_t i = 0, count = entries_at(map, endpoint, instant, before); i < count;
		     i++)
			if (!holds(standing->entries, standing->count, &before[i]))
				add_grace(standing, &before[i]);
	}
}

static void find_standing(const struct ft_map *map, uint32_t endpoint, int64_t at_ns,
			  struct standing *standing)
{
	standing->count = entries_at(map, endpoint, at_ns, standing->entries);
	standing->owner_count = ft_map_owners(map, endpoint, at_ns, standing->owners, MOST_OWNERS);
	if (standing->owner_count > MOST_OWNERS)
		standing->owner_count = MOST_OWNERS;
	standing->grace_count = 0;
	find_grace(map, endpoint, at_ns, standing);
}

static json_t *entries_document(const struct ft_declared *declared, const struct standing *standing)
{
	json_t *array = json_array();

	for (size_t i = 0; i < standing->count; i++) {
		const struct ft_entry *entry = &standing->entries[i];
		uint32_t tenant = declared->partitions[entry->partition].tenant;

		json_array_append_new(
			array,
			json_pack("{s:o, s:s, s:o, s:i}", "pkey_base", ft_json_pkey(entry->base),
				  "membership", ft_membership_word(entry->membership), "tenant",
				  ft_json_text(tenant != FT_NONE ? declared->tenants[tenant].name
								 : NULL),
				  "line", (int)entry->origin.line));
	}
	return array;
}

static json_t *owners_document(const struct ft_declared *declared, const struct standing *standing)
{
	json_t *array = json_array();

	for (size_t i = 0; i < standing->owner_count; i++)
		json_array_append_new(array,
				      ft_json_text(declared->tenants[standing->owners[i]].name));
	return array;
}

static json_t *grace_document(const struct standing *standing)
{
	json_t *array = json_array();

	for (size_t i = 0; i < standing->grace_count; i++)
		json_array_append_new(array, ft_json_pkey(standing->grace[i]));
	return array;
}

static int answer_json(const struct ft_map *map, const struct ft_question *question,
		       uint32_t endpoint, const struct standing *standing, FILE *out)
{
	const struct ft_declared *declared = ft_map_declared(map);

	return ft_json_write(
		json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
			  "fabtap.map-answer/1", "at", ft_json_moment(question->at_ns), "port",
			  ft_json_text(question->port), "host",
			  ft_json_text(ft_map_endpoint(map, endpoint).host), "owner",
			  standing->owner_count == 1
				  ? ft_json_text(declared->tenants[standing->owners[0]].name)
				  : json_null(),
			  "owners", owners_document(declared, standing), "entries",
			  entries_document(declared, standing), "in_grace_for",
			  standing->grace_count != 0 ? ft_json_pkey(standing->grace[0])
						     : json_null(),
			  "grace", grace_document(standing)),
		out);
}

static int answer_text(const struct ft_map *map, const struct ft_question *question,
		       uint32_t endpoint, const struct standing *standing, FILE *out)
{
	const struct ft_declared *declared = ft_map_declared(map);
	const char *host = ft_map_endpoint(map, endpoint).host;
	bool told = host == NULL || strcmp(host, question->port) == 0;
	char text[FT_NOTATION_ROOM], at[FT_MOMENT_ROOM];

	fprintf(out, "%s%s%s%s at %s\n", question->port, told ? "" : " (", told ? "" : host,
		told ? "" : ")", ft_moment_write(at, question->at_ns));
	fputs("  owner  ", out);
	for (size_t i = 0; i < standing->owner_count; i++)
		fprintf(out, "%s%s", i != 0 ? ", " : "",
			declared->tenants[standing->owners[i]].name);
	fputs(standing->owner_count != 0 ? "\n" : "nobody\n", out);
	for (size_t i = 0; i < standing->count; i++) {
		const struct ft_entry *entry = &standing->entries[i];
		uint32_t tenant = declared->partitions[entry->partition].tenant;

		fprintf(out, "  %s %-8s %s, line %u\n", ft_pkey_write(text, entry->base),
			ft_membership_word(entry->membership),
			tenant != FT_NONE ? declared->tenants[tenant].name : "no tenant",
			entry->origin.line);
	}
	for (size_t i = 0; i < standing->grace_count; i++)
		fprintf(out, "  %s in grace: a membership that ended less than %lld ms before\n",
			ft_pkey_write(text, standing->grace[i]),
			(long long)(declared->grace_ns / 1000000));
	return ft_written(out);
}

static const char *word_of(const struct ft_talk *talk)
{
	if (talk->allowed)
		return "allowed";
	return talk->grace ? "not allowed, but in grace" : "not allowed";
}

/* An exception may permit one direction alone, and then the answers to what is allowed are not. */
static void tell_the_other_way(const struct ft_talk *talk, const struct ft_talk *back, FILE *out)
{
	if (talk->allowed != back->allowed)
		fprintf(out, "  the other way: %s: %s\n", word_of(back), back->because);
}

static int answer_pair(const struct ft_map *map, const struct ft_question *question, uint32_t a,
		       uint32_t b, bool json, FILE *out)
{
	char text[FT_NOTATION_ROOM], at[FT_MOMENT_ROOM];
	struct ft_talk talk = { 0 }, back = { 0 };

	ft_map_may_talk_tagged(map, a, b, question->at_ns, &talk);
	ft_map_may_talk_tagged(map, b, a, question->at_ns, &back);
	if (json)
		return ft_json_write(
			json_pack("{s:s, s:o, s:[o, o], s:b, s:b, s:b, s:o, s:o, s:o}", "schema",
				  "fabtap.map-answer/1", "at", ft_json_moment(question->at_ns),
				  "pair", ft_json_text(question->port),
				  ft_json_text(question->other), "allowed", talk.allowed,
				  "allowed_back", back.allowed, "grace", talk.grace, "via",
				  talk.base != 0 ? ft_json_pkey(talk.base) : json_null(),
				  "exception", ft_json_text(talk.exception), "because",
				  ft_json_text(talk.because)),
			out);
	fprintf(out, "%s and %s at %s: %s%s%s%s%s\n  %s\n", question->port, question->other,
		ft_moment_write(at, question->at_ns), word_of(&talk),
		talk.base != 0 ? ", via " : "",
		talk.base != 0 ? ft_pkey_write(text, talk.base) : "",
		talk.exception != NULL ? ", exception " : "",
		talk.exception != NULL ? talk.exception : "", talk.because);
	tell_the_other_way(&talk, &back, out);
	return ft_written(out);
}

static int unknown(struct ft_map_complaint *complaint, const char *port)
{
	snprintf(complaint->text, sizeof complaint->text, "%.200s: the map declares no such port",
		 port);
	return -ENOENT;
}

int ft_map_ask(const struct ft_map *map, const struct ft_question *question, bool json, FILE *out,
	       struct ft_map_complaint *complaint)
{
	uint32_t endpoint = find(map, question->port), other;
	struct standing standing;

	if (endpoint == FT_NONE)
		return unknown(complaint, question->port);
	if (question->other != NULL) {
		other = find(map, question->other);
		return other == FT_NONE ? unknown(complaint, question->other)
					: answer_pair(map, question, endpoint, other, json, out);
	}
	find_standing(map, endpoint, question->at_ns, &standing);
	return json ? answer_json(map, question, endpoint, &standing, out)
		    : answer_text(map, question, endpoint, &standing, out);
}
