/* The holders that stand for an endpoint: what it is known by. */
#include "compiled.h"

/* Every step gives the next holder of its kind, or none, and says which step comes then. */
enum { OWN, OWN_HOST, OWN_ADDRESS, OWN_GID, KEYWORDS, END = KEYWORDS + FT_KEYWORDS };

static bool is_port(const struct ft_holders *walk)
{
	return walk->endpoint < walk->map->port_count;
}

/* Few maps list keywords; in the others there is no need to ask about each. */
static uint8_t keywords_or_end(const struct ft_map *map)
{
	const uint32_t *first = &map->grant_starts[map->first_keyword];

	return first[0] != first[FT_KEYWORDS] ? KEYWORDS : END;
}

void ft_holders_begin(struct ft_holders *walk, const struct ft_map *map, uint32_t endpoint)
{
	*walk = (struct ft_holders){ .map = map,
				     .endpoint = endpoint,
				     .at = FT_NONE,
				     .stage = endpoint == FT_NONE ? keywords_or_end(map) : OWN };
}

/* A port, or a member that no port answers to. An address without a port is its own first address. */
static bool own(struct ft_holders *walk, struct ft_holder *holder)
{
	const struct ft_map *map = walk->map;

	walk->stage = OWN_HOST;
	if (walk->endpoint >= map->first_address) {
		walk->at = map->holder_address[walk->endpoint - map->first_address];
		return false;
	}
	if (is_port(walk))
		walk->at = map->ports[walk->endpoint].address;
	*holder = (struct ft_holder){ .index = walk->endpoint, .specificity = FT_EXPLICIT };
	return true;
}

static bool own_host(struct ft_holders *walk, struct ft_holder *holder)
{
	uint32_t host = is_port(walk) ? walk->map->ports[walk->endpoint].host : FT_NONE;

	walk->stage = OWN_ADDRESS;
	if (host == FT_NONE)
		return false;
	*holder = (struct ft_holder){ .index = walk->map->first_host + host,
				      .specificity = FT_EXPLICIT };
	return true;
}

/* An address, then the prefixes around it. */
static bool next_address(struct ft_holders *walk, struct ft_holder *holder)
{
	const struct ft_map *map = walk->map;
	uint32_t address = walk->at;
	unsigned bits;

	if (address == FT_NONE)
		return false;
	bits = map->addresses.keys[address].bits;
	*holder = (struct ft_holder){ .index = map->address_holder[address],
				      .specificity = bits == 128 ? FT_EXPLICIT : bits };
	walk->at = map->address_parent[address];
	return true;
}

static bool own_address(struct ft_holders *walk, struct ft_holder *holder)
{
	if (next_address(walk, holder))
		return true;
	walk->at = is_port(walk) ? walk->map->ports[walk->endpoint].gid : FT_NONE;
	walk->stage = OWN_GID;
	return false;
}

/* From where the GID's prefixes are the address's as well, they have been walked. */
static bool is_walked(const struct ft_holders *walk)
{
	const struct ft_map *map = walk->map;
	uint32_t address = is_port(walk) ? map->ports[walk->endpoint].address : FT_NONE;

	while (address != FT_NONE && address != walk->at)
		address = map->address_parent[address];
	return address != FT_NONE;
}

static bool own_gid(struct ft_holders *walk, struct ft_holder *holder)
{
	if (!is_walked(walk) && next_address(walk, holder))
		return true;
	walk->stage = keywords_or_end(walk->map);
	return false;
}

static bool is_keyword(const struct ft_holders *walk, enum ft_keyword keyword)
{
	static const enum ft_node_kind kinds[] = { [FT_KEYWORD_CAS] = FT_NODE_CA,
						   [FT_KEYWORD_SWITCHES] = FT_NODE_SWITCH,
						   [FT_KEYWORD_ROUTERS] = FT_NODE_ROUTER };
	const struct ft_port *port;

	if (keyword == FT_KEYWORD_ALL)
		return true;
	if (!is_port(walk))
		return false;
	port = &walk->map->declared->ports[walk->endpoint];
	return keyword == FT_KEYWORD_SELF ? port->is_sm : port->kind == kinds[keyword];
}

static bool next_keyword(struct ft_holders *walk, struct ft_holder *holder)
{
	enum ft_keyword keyword = walk->stage++ - KEYWORDS;
	bool self = keyword == FT_KEYWORD_SELF;

	if (!is_keyword(walk, keyword))
		return false;
	*holder = (struct ft_holder){ .index = walk->map->first_keyword + keyword,
				      .specificity = self ? FT_EXPLICIT : 0,
				      .everyone = !self };
	return true;
}

bool ft_holders_next(struct ft_holders *walk, struct ft_holder *holder)
{
	static bool (*const steps[END])(struct ft_holders *, struct ft_holder *) = {
		[OWN] = own,
		[OWN_HOST] = own_host,
		[OWN_ADDRESS] = own_address,
		[OWN_GID] = own_gid,
		[KEYWORDS + FT_KEYWORD_ALL] = next_keyword,
		[KEYWORDS + FT_KEYWORD_CAS] = next_keyword,
		[KEYWORDS + FT_KEYWORD_SWITCHES] = next_keyword,
		[KEYWORDS + FT_KEYWORD_ROUTERS] = next_keyword,
		[KEYWORDS + FT_KEYWORD_SELF] = next_keyword,
	};

	while (walk->stage < END)
		if (steps[walk->stage](walk, holder))
			return true;
	return false;
}
