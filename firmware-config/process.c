#include <firmware-config/process.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files.h"

/* --- /proc/PID/status --- */

static bool find_value(const char *status, const char *name, int base, uint64_t *value)
{
	size_t size = strlen(name);
	const char *line = status;

	while (line != NULL) {
		line += line[0] == '\n';
		if (strncmp(line, name, size) == 0 && line[size] == ':') {
			char *end;

			*value = strtoull(line + size + 1, &end, base);
			return end > line + size + 1 && (*end == '\n' || *end == '\0');
		}
		line = strchr(line, '\n');
	}
	return false;
}

static void read_status(const char *status, struct ft_process_facts *facts)
{
	static const char *const sets[] = { "CapEff", "CapPrm", "CapInh", "CapAmb" };
	uint64_t held = 0, set, bounding, fixed, filter;

	for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
		if (!find_value(status, sets[i], 16, &set))
			return;
		held |= set;
	}
	if (!find_value(status, "CapBnd", 16, &bounding) ||
	    !find_value(status, "NoNewPrivs", 10, &fixed) ||
	    !find_value(status, "Seccomp", 10, &filter))
		return;
	facts->status_known = true;
	facts->capabilities = held;
	facts->bounding = bounding;
	facts->no_new_privileges = (unsigned)fixed;
	facts->seccomp = (unsigned)filter;
}

/* --- /proc/PID/fd --- */

/* A socket tells its protocol's name: "packet", "xdp", "netlink", "udp"; it says nothing on a saved machine. */
static void name_socket(const char *path, char kind[FT_DESCRIPTOR_KIND])
{
	char protocol[FT_DESCRIPTOR_KIND];
	ssize_t size = getxattr(path, "system.sockprotoname", protocol, sizeof protocol - 1);

	if (size <= 0) {
		snprintf(kind, FT_DESCRIPTOR_KIND, "socket");
		return;
	}
	protocol[size] = '\0';
	for (size_t i = 0; i <= (size_t)size; i++)
		kind[i] = (char)tolower((unsigned char)protocol[i]);
}

static const char *kind_of_file(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return "file";
	return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode) ? "device" : "file";
}

static void name_kind(const char *path, const char *target, char kind[FT_DESCRIPTOR_KIND])
{
	if (strncmp(target, "socket:", 7) == 0)
		name_socket(path, kind);
	else if (strncmp(target, "pipe:", 5) == 0)
		snprintf(kind, FT_DESCRIPTOR_KIND, "pipe");
	else if (strncmp(target, "anon_inode:", 11) == 0)
		snprintf(kind, FT_DESCRIPTOR_KIND, "anon:%.26s", target + 11);
	else
		snprintf(kind, FT_DESCRIPTOR_KIND, "%s", kind_of_file(path));
}

static bool count_kind(struct ft_process_facts *facts, const char *kind)
{
	size_t i = 0;

	while (i < facts->kind_count && strcmp(facts->kinds[i].name, kind) != 0)
		i++;
	if (i == FT_DESCRIPTOR_KINDS_MAX)
		return false;
	if (i == facts->kind_count) {
		snprintf(facts->kinds[i].name, sizeof facts->kinds[i].name, "%s", kind);
		facts->kind_count++;
	}
	facts->kinds[i].count++;
	return true;
}

/* False if one of them cannot be told. */
static bool read_descriptor(const struct ft_machine *machine, pid_t process, const char *number,
			    struct ft_process_facts *facts)
{
	char path[FT_PATH], target[256], kind[FT_DESCRIPTOR_KIND];
	ssize_t size;

	if (ft_machine_path(machine, path, "proc/%d/fd/%s", (int)process, number) != 0)
		return false;
	size = readlink(path, target, sizeof target - 1);
	if (size <= 0)
		return errno == ENOENT; /* closed meanwhile */
	target[size] = '\0';
	name_kind(path, target, kind);
	return count_kind(facts, kind);
}

static void read_descriptors(const struct ft_machine *machine, pid_t process,
			     struct ft_process_facts *facts)
{
	char path[FT_PATH];
	struct dirent *entry;
	bool known = true;
	DIR *folder;

	if (ft_machine_path(machine, path, "proc/%d/fd", (int)process) != 0)
		return;
	folder = opendir(path);
	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			known &= read_descriptor(machine, process, entry->d_name, facts);
	closedir(folder);
	facts->descriptors_known = known;
}

void ft_process_facts_read(const struct ft_machine *machine, pid_t process,
			   struct ft_process_facts *facts)
{
	size_t size;
	char *status = ft_machine_whole(machine, &size, "proc/%d/status", (int)process);

	*facts = (struct ft_process_facts){ 0 };
	if (status != NULL)
		read_status(status, facts);
	free(status);
	read_descriptors(machine, process, facts);
}
