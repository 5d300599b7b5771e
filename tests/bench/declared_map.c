#include "declared_map.h"

#include <inttypes.h>

static void write_roce_port(FILE *file, uint32_t node)
{
	uint32_t ip = site_ip(node);
	uint8_t mac[6];

	site_mac(node, mac);
	fprintf(file, "\"ip\": \"%u.%u.%u.%u\", \"mac\": \"%02x:%02x:%02x:%02x:%02x:%02x\"",
		ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff, mac[0], mac[1], mac[2],
		mac[3], mac[4], mac[5]);
}

static void write_native_port(FILE *file, uint32_t node)
{
	fprintf(file, "\"guid\": \"0x%016" PRIx64 "\", \"lid\": %u", site_guid(node),
		site_lid(node));
}

static void write_nodes(FILE *file, const struct site *site)
{
	fputs(" \"nodes\": [\n", file);
	for (uint32_t node = 0; node < site->nodes; node++) {
		fprintf(file, "  {\"host\": \"n%06u\", \"ports\": [{", node);
		(site->native ? write_native_port : write_roce_port)(file, node);
		fprintf(file, ", \"leaf\": \"leaf%u\", \"leaf_port\": %u}]}%s\n", node / 32,
			node % 32 + 1, node + 1 < site->nodes ? "," : "");
	}
	fputs(" ],\n", file);
}

static void write_tenants(FILE *file, const struct site *site)
{
	fputs(" \"tenants\": [\n", file);
	for (uint32_t tenant = 0; tenant < site->tenants; tenant++)
		fprintf(file, "  {\"name\": \"tenant%u\", \"class\": \"customer\"}%s\n", tenant,
			tenant + 1 < site->tenants ? "," : "");
	fputs(" ],\n", file);
}

/* As the partition source of the fabric names a port: InfiniBand's subnet manager knows GUIDs, not hosts. */
static void write_member(FILE *file, const struct site *site, uint32_t node)
{
	if (site->native)
		fprintf(file, "   {\"guid\": \"0x%016" PRIx64 "\"", site_guid(node));
	else
		fprintf(file, "   {\"host\": \"n%06u\"", node);
	fputs(", \"membership\": \"full\"}", file);
}

static void write_partitions(FILE *file, const struct site *site)
{
	fputs(" \"partitions\": [\n", file);
	for (uint32_t partition = 0; partition < site->partitions; partition++) {
		fprintf(file,
			"  {\"pkey\": \"0x%04x\", \"tenant\": \"tenant%u\", \"intervals\": [{"
			"\"from\": \"2026-11-20T00:00:00Z\", \"to\": null, \"members\": [\n",
			site_base(partition), site_tenant(site, partition));
		for (uint32_t member = 0; member < site->members; member++) {
			write_member(file, site, site_node(site, partition, member));
			fputs(member + 1 < site->members ? ",\n" : "\n", file);
		}
		fprintf(file, "  ]}]}%s\n", partition + 1 < site->partitions ? "," : "");
	}
	fputs(" ],\n", file);
}

void declared_map_write(FILE *file, const struct site *site)
{
	fprintf(file,
		"{\n \"schema\": \"tapmap/1\",\n \"map_id\": \"bench-%s\",\n \"serial\": 1,\n"
		" \"supersedes\": 0,\n \"issued_at\": \"2026-11-20T00:00:00Z\",\n \"issuer\": "
		"\"bench\",\n"
		" \"fabric\": {\"kind\": \"%s\"},\n",
		site->name, site->native ? "infiniband" : "roce");
	write_nodes(file, site);
	write_tenants(file, site);
	write_partitions(file, site);
	fputs(" \"exceptions\": [],\n \"grace_ms\": 5000\n}\n", file);
}
