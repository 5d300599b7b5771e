#include "declared_map.h"

static void write_nodes(FILE *file, const struct site *site)
{
	fputs(" \"nodes\": [\n", file);
	for (uint32_t node = 0; node < site->nodes; node++) {
		uint32_t ip = site_ip(node);
		uint8_t mac[6];

		site_mac(node, mac);
		fprintf(file,
			"  {\"host\": \"n%06u\", \"ports\": [{\"ip\": \"%u.%u.%u.%u\", "
			"\"mac\": \"%02x:%02x:%02x:%02x:%02x:%02x\", \"leaf\": \"leaf%u\", "
			"\"leaf_port\": %u}]}%s\n",
			node, ip >> 24, ip >> 16 & 0xff, ip >> 8 & 0xff, ip & 0xff, mac[0], mac[1],
			mac[2], mac[3], mac[4], mac[5], node / 32, node % 32 + 1,
			node + 1 < site->nodes ? "," : "");
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

static void write_partitions(FILE *file, const struct site *site)
{
	fputs(" \"partitions\": [\n", file);
	for (uint32_t partition = 0; partition < site->partitions; partition++) {
		fprintf(file,
			"  {\"pkey\": \"0x%04x\", \"tenant\": \"tenant%u\", \"intervals\": [{"
			"\"from\": \"2026-11-20T00:00:00Z\", \"to\": null, \"members\": [\n",
			site_base(partition), site_tenant(site, partition));
		for (uint32_t member = 0; member < site->members; member++)
			fprintf(file, "   {\"host\": \"n%06u\", \"membership\": \"full\"}%s\n",
				site_node(site, partition, member),
				member + 1 < site->members ? "," : "");
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
		" \"fabric\": {\"kind\": \"roce\"},\n",
		site->name);
	write_nodes(file, site);
	write_tenants(file, site);
	write_partitions(file, site);
	fputs(" \"exceptions\": [],\n \"grace_ms\": 5000\n}\n", file);
}
