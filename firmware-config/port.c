#include <firmware-config/settings.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ethtool.h"
#include "files.h"

/* "0000:81:00.0" */
static bool is_pci_address(const char *text)
{
	unsigned domain, bus, device, function;
	char rest;

	return sscanf(text, "%x:%x:%x.%x%c", &domain, &bus, &device, &function, &rest) == 4;
}

static void read_pci(const struct ft_machine *machine, struct ft_port_facts *facts)
{
	char path[FT_PATH], target[FT_PATH];
	const char *last;
	ssize_t size;

	if (ft_machine_path(machine, path, "sys/class/net/%s/device", facts->interface) != 0)
		return;
	size = readlink(path, target, sizeof target - 1);
	if (size <= 0)
		return;
	target[size] = '\0';
	last = strrchr(target, '/');
	last = last == NULL ? target : last + 1;
	if (is_pci_address(last))
		snprintf(facts->pci, sizeof facts->pci, "%.32s", last);
}

/* A driver that does not know says "N/A" or nothing. */
static void read_driver(const struct ft_machine *machine, struct ft_port_facts *facts)
{
	struct ft_ethtool_driver driver;

	if (ft_ethtool_driver(machine, facts->interface, &driver) != 0)
		return;
	memcpy(facts->driver, driver.name, sizeof facts->driver);
	memcpy(facts->driver_version, driver.version, sizeof facts->driver_version);
	if (strcmp(driver.firmware, "N/A") != 0)
		memcpy(facts->firmware, driver.firmware, sizeof facts->firmware);
}

static void read_attribute(const struct ft_machine *machine, const struct ft_port_facts *facts,
			   const char *name, char *text, size_t size)
{
	if (ft_machine_text(machine, text, size, "sys/class/net/%s/%s", facts->interface, name) < 0)
		text[0] = '\0';
}

void ft_port_facts_read(const struct ft_machine *machine, const char *interface,
			struct ft_port_facts *facts)
{
	*facts = (struct ft_port_facts){ 0 };
	snprintf(facts->interface, sizeof facts->interface, "%s", interface);
	read_driver(machine, facts);
	if (!ft_machine_shows(machine, interface))
		return;
	read_pci(machine, facts);
	read_attribute(machine, facts, "address", facts->address, sizeof facts->address);
	read_attribute(machine, facts, "operstate", facts->link, sizeof facts->link);
	read_attribute(machine, facts, "speed", facts->speed, sizeof facts->speed);
	if (facts->speed[0] == '-') /* -1: there is none */
		facts->speed[0] = '\0';
}
