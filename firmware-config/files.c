#include "files.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WHOLE_MAX = 16 << 20, PIECE = 1 << 14 };

bool ft_machine_is_here(const struct ft_machine *machine)
{
	return machine->root[0] == '\0';
}

static int make_path(const struct ft_machine *machine, char path[FT_PATH], const char *format,
		     va_list values)
{
	int root = snprintf(path, FT_PATH, "%s/", machine->root), rest;

	if (root < 0 || root >= FT_PATH)
		return -ENAMETOOLONG;
	rest = vsnprintf(path + root, (size_t)(FT_PATH - root), format, values);
	return rest < 0 || rest >= FT_PATH - root ? -ENAMETOOLONG : 0;
}

int ft_machine_path(const struct ft_machine *machine, char path[FT_PATH], const char *format, ...)
{
	va_list values;
	int error;

	va_start(values, format);
	error = make_path(machine, path, format, values);
	va_end(values);
	return error;
}

static FILE *open_file(const struct ft_machine *machine, const char *format, va_list values)
{
	char path[FT_PATH];
	int error = make_path(machine, path, format, values);

	errno = -error;
	return error == 0 ? fopen(path, "re") : NULL;
}

static int read_text(FILE *file, char *text, size_t size)
{
	size_t length;

	if (file == NULL)
		return -errno;
	errno = 0;
	length = fread(text, 1, size - 1, file);
	if (ferror(file)) {
		int error = errno != 0 ? -errno : -EIO;

		fclose(file);
		return error;
	}
	fclose(file);
	while (length > 0 && strchr(" \t\n", text[length - 1]) != NULL)
		length--;
	text[length] = '\0';
	return (int)length;
}

int ft_machine_text(const struct ft_machine *machine, char *text, size_t size, const char *format,
		    ...)
{
	va_list values;
	FILE *file;

	va_start(values, format);
	file = open_file(machine, format, values);
	va_end(values);
	return read_text(file, text, size);
}

/* Files of /proc have no size: read until the end. */
static char *read_whole(FILE *file, size_t *size)
{
	char *text = NULL, *more;
	size_t used = 0;
	bool ended = false;

	for (size_t room = PIECE; !ended && room <= WHOLE_MAX; room *= 2) {
		more = realloc(text, room + 1);
		if (more == NULL)
			break;
		text = more;
		used += fread(text + used, 1, room - used, file);
		ended = used < room;
	}
	if (!ended || ferror(file)) {
		free(text);
		errno = EIO;
		return NULL;
	}
	text[used] = '\0';
	*size = used;
	return text;
}

char *ft_machine_whole(const struct ft_machine *machine, size_t *size, const char *format, ...)
{
	va_list values;
	FILE *file;
	char *text;

	va_start(values, format);
	file = open_file(machine, format, values);
	va_end(values);
	if (file == NULL)
		return NULL;
	text = read_whole(file, size);
	fclose(file);
	return text;
}

bool ft_counter_read(const char *text, uint64_t *value)
{
	bool hexadecimal = strncmp(text, "0x", 2) == 0;
	const char *digits = hexadecimal ? text + 2 : text;
	unsigned long long number;
	char *end;

	if (strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") == 0)
		return false;
	errno = 0;
	number = strtoull(digits, &end, hexadecimal ? 16 : 10);
	if (errno != 0 || *end != '\0' || number > INT64_MAX)
		return false;
	*value = number;
	return true;
}

int ft_machine_number(const struct ft_machine *machine, uint64_t *value, const char *format, ...)
{
	char text[64];
	va_list values;
	FILE *file;
	int length;

	va_start(values, format);
	file = open_file(machine, format, values);
	va_end(values);
	length = read_text(file, text, sizeof text);
	if (length < 0)
		return length;
	return ft_counter_read(text, value) ? 0 : -EINVAL;
}

static bool is_ours(const struct ft_machine *machine, const char *interface)
{
	struct ifreq request = { 0 };
	char shown[64], actual[32] = "";
	bool known;
	int asked = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (asked < 0)
		return false;
	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	known = ioctl(asked, SIOCGIFHWADDR, &request) == 0;
	close(asked);
	if (!known || ft_machine_text(machine, shown, sizeof shown, "sys/class/net/%s/address",
				      interface) < 0)
		return false;
	for (size_t i = 0; i < 6; i++)
		snprintf(actual + strlen(actual), sizeof actual - strlen(actual), "%s%02x",
			 i == 0 ? "" : ":", (unsigned char)request.ifr_hwaddr.sa_data[i]);
	return strncmp(shown, actual, strlen(actual)) == 0;
}

bool ft_machine_shows(const struct ft_machine *machine, const char *interface)
{
	uint64_t index;

	if (!ft_machine_is_here(machine))
		return true;
	return ft_machine_number(machine, &index, "sys/class/net/%s/ifindex", interface) == 0 &&
	       index == if_nametoindex(interface) && is_ours(machine, interface);
}
