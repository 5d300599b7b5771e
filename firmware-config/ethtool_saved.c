#include "ethtool_saved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

/* Lines "   name: value", for each of which `take` is called. How many, or -errno. */
static int each_line(const struct ft_machine *machine, const char *interface, const char *what,
		     void (*take)(void *context, const char *name, const char *value),
		     void *context)
{
	size_t size;
	char *text = ft_machine_whole(machine, &size, "ethtool/%s/%s", interface, what);
	char *rest = text, *line;
	int count = 0;

	if (text == NULL)
		return -errno;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *colon = strrchr(line, ':');

		/* a bus address has colons of its own */
		if (strncmp(line, "bus-info:", 9) == 0)
			colon = line + 8;
		if (colon == NULL || colon[strspn(colon, ": \t")] == '\0')
			continue;
		*colon++ = '\0';
		take(context, line + strspn(line, " \t"), colon + strspn(colon, " \t"));
		count++;
	}
	free(text);
	return count;
}

struct telling {
	void (*tell)(void *context, const char *name, uint64_t value);
	void *context;
	bool odd;
};

static void take_statistic(void *context, const char *name, const char *value)
{
	struct telling *telling = context;
	uint64_t number;

	if (ft_counter_read(value, &number))
		telling->tell(telling->context, name, number);
	else
		telling->odd = true;
}

int ft_saved_statistics(const struct ft_machine *machine, const char *interface,
			void (*tell)(void *context, const char *name, uint64_t value),
			void *context)
{
	struct telling telling = { tell, context, false };
	int count = each_line(machine, interface, "statistics", take_statistic, &telling);

	return telling.odd ? -EINVAL : count;
}

static void take_pause(void *context, const char *name, const char *value)
{
	struct ft_ethtool_pause *pause = context;
	bool on = strcmp(value, "on") == 0;

	if (strcmp(name, "Autonegotiate") == 0)
		pause->autoneg = on;
	else if (strcmp(name, "RX") == 0)
		pause->rx = on;
	else if (strcmp(name, "TX") == 0)
		pause->tx = on;
}

int ft_saved_pause(const struct ft_machine *machine, const char *interface,
		   struct ft_ethtool_pause *pause)
{
	struct ft_ethtool_pause found = { 0 };
	int count = each_line(machine, interface, "pause", take_pause, &found);

	if (count < 3)
		return count < 0 ? count : -EINVAL;
	*pause = found;
	return 0;
}

static void take_driver(void *context, const char *name, const char *value)
{
	struct ft_ethtool_driver *driver = context;
	const struct {
		const char *name;
		char *place;
	} places[] = {
		{ "driver", driver->name },
		{ "version", driver->version },
		{ "firmware-version", driver->firmware },
		{ "bus-info", driver->bus },
	};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (strcmp(name, places[i].name) == 0)
			snprintf(places[i].place, sizeof driver->name, "%s", value);
}

int ft_saved_driver(const struct ft_machine *machine, const char *interface,
		    struct ft_ethtool_driver *driver)
{
	struct ft_ethtool_driver found = { 0 };
	int count = each_line(machine, interface, "driver", take_driver, &found);

	if (count < 0)
		return count;
	*driver = found;
	return 0;
}
