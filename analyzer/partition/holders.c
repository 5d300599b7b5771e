/* The holders that stand for an endpoint: what it is known by. */
#include "compiled.h"

void ft_holders_begin(struct ft_holders *walk, const struct ft_map *map, uint32_t endpoint)
{
	*walk = (struct ft_holders){ .map = map, .endpoint = endpoint, .at = FT_NONE };
}

static struct ft_holder address_holder(const struct ft_map *map, uint32_t address)
{
	unsigned bits = map->addresses.keys[address].bits;

	return (struct ft_holder){ .index = map->address_holder[address],
				   .specificity = bits == 128 ? FT_EXPLICIT : bits };
}

static bool begin_own(struct ft_holders *walk, struct ft_holder *holder)
{
	const struct ft_map *map = walk->map;

	if (walk->endpoint < map->first_address) {
		*holder = (struct ft_holder){ walk->endpoint, FT_EXPLICIT, false };
		walk->at = walk->endpoint < map->port_count ? map->ports[walk->endpoint].address
							    : FT_NONE;
		return true;
	}
	walk->at = map->holder_address[walk->endpoint - map->first_address];
	return false;
}

static bool next_address(struct ft_holders *walk, struct ft_holder *holder)
{
	if (walk->at == FT_NONE)
		return false;
	*holder = address_holder(walk->map, walk->at);
	walk->at = walk->map->address_parent[walk->at];
	return true;
}

static bool is_keyword(const struct ft_holders *walk, enum ft_keyword keyword)
{
	static const enum ft_node_kind kinds[] = { [FT_KEYWORD_CAS] = FT_NODE_CA,
						   [FT_KEYWORD_SWITCHES] = FT_NODE_SWITCH,
						   [FT_KEYWORD_ROUTERS] = FT_NODE_ROUTER };
	const struct ft_port *port;

	if (keyword == FT_KEYWORD_ALL)
		return true;
	if (walk->endpoint >= walk->map->port_count)
		return false;
	port = &walk->map->declared->ports[walk->endpoint];
	return keyword == FT_KEYWORD_SELF ? port->is_sm : port->kind == kinds[keyword];
}

static bool next_keyword(struct ft_holders *walk, enum ft_keyword keyword, struct ft_holder *holder)
{
	bool self = keyword == FT_KEYWORD_SELF;

	if (!is_keyword(walk, keyword))
		return false;
	*holder = (struct ft_holder){ walk->map->first_keyword + keyword, self ? FT_EXPLICIT : 0,
				      !self };
	return true;
}

enum { OWN, OWN_HOST, OWN_ADDRESS, OWN_GID, EVERYONE };

bool ft_holders_next(struct ft_holders *walk, struct ft_holder *holder)
{
	const struct ft_map *map = walk->map;
	bool is_port = walk->endpoint < map->port_count;

	if (walk->endpoint == FT_NONE && walk->stage == OWN)
		walk->stage = EVERYONE;
	for (; walk->stage < EVERYONE + FT_KEYWORDS; walk->stage++) {
		bool found = false, stay = false;

		switch (walk->stage) {
		case OWN:
			found = begin_own(walk, holder);
			break;
		case OWN_HOST:
			found = is_port && map->ports[walk->endpoint].host != FT_NONE;
			if (found)
				*holder =
					(struct ft_holder){ map->first_host +
								    map->ports[walk->endpoint].host,
							    FT_EXPLICIT, false };
			break;
		case OWN_ADDRESS:
			found = stay = next_address(walk, holder);
			if (!found && is_port)
				walk->at = map->ports[walk->endpoint].gid;
			break;
		case OWN_GID:
			found = stay = next_address(walk, holder);
			break;
		default:
			found = next_keyword(walk, walk->stage - EVERYONE, holder);
		}
		if (found) {
			walk->stage += !stay;
			return true;
		}
	}
	return false;
}
