#include "diff_touched.h"

#include <string.h>

#include "document.h"

static bool has_word(const struct ft_touched *touched, const char *word)
{
	return ft_keys_find(&touched->words, word, strlen(word)) != FT_NONE;
}

static bool touches_member(const struct ft_touched *touched, const struct ft_ports *ports,
			   const struct ft_member *member)
{
	uint32_t port = ft_ports_first(ports, member);
	char text[FT_NOTATION_ROOM];

	if (port == FT_NONE)
		return has_word(touched, ft_member_word(text, member, false));
	for (; port != FT_NONE; port = ft_ports_next(ports, member, port))
		if (has_word(touched, ft_port_word(text, &ports->declared->ports[port])))
			return true;
	return false;
}

bool ft_touches_partition(const struct ft_touched *touched, const struct ft_ports *ports,
			  const struct ft_partition *partition)
{
	char text[FT_NOTATION_ROOM];

	if (touched->everywhere || has_word(touched, ft_pkey_write(text, partition->base)))
		return true;
	for (size_t i = 0; i < partition->interval_count; i++)
		for (size_t j = 0; j < partition->intervals[i].member_count; j++)
			if (touches_member(touched, ports, &partition->intervals[i].members[j]))
				return true;
	return false;
}

static int touch(struct ft_touched *touched, const char *word)
{
	if (word == NULL || has_word(touched, word))
		return 0;
	touched->segments |= strncmp(word, "segment ", 8) == 0;
	return ft_keys_insert(&touched->words, word, strlen(word), 0);
}

int ft_touched_read(struct ft_touched *touched, const json_t *members, bool everywhere)
{
	int failed = 0;

	*touched = (struct ft_touched){ .everywhere = everywhere, .segments = everywhere };
	for (size_t i = 0; failed == 0 && i < json_array_size(members); i++) {
		const json_t *change = json_array_get(members, i);

		failed = touch(touched, json_string_value(json_object_get(change, "in")));
		if (failed == 0)
			failed = touch(touched, json_string_value(json_object_get(change, "who")));
	}
	return failed;
}

void ft_touched_release(struct ft_touched *touched)
{
	ft_keys_release(&touched->words);
}
