#include <firmware-config/machine.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

/* Two lines of headings, then "  name: numbers". */
int ft_interfaces_list(const struct ft_machine *machine, char (**names)[FT_INTERFACE_NAME])
{
	size_t size, lines = 1;
	char *text = ft_machine_whole(machine, &size, "proc/net/dev"), *rest = text, *line;
	char(*found)[FT_INTERFACE_NAME];
	int count = 0;

	if (text == NULL)
		return -errno;
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	found = calloc(lines, sizeof *found);
	while (found != NULL && (line = strsep(&rest, "\n")) != NULL) {
		char *name = line + strspn(line, " "), *colon = strchr(name, ':');

		if (colon == NULL || colon - name >= FT_INTERFACE_NAME)
			continue;
		memcpy(found[count++], name, (size_t)(colon - name));
	}
	free(text);
	if (found == NULL)
		return -ENOMEM;
	*names = found;
	return count;
}
