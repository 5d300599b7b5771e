#include "extcap_sentences.h"

#include <stdbool.h>
#include <string.h>

/* --- interfaces --- */

/* Braces end a value and lines a sentence. */
static bool is_sayable(const char *text)
{
	for (; *text != 0; text++)
		if ((unsigned char)*text < ' ' || strchr("{}\x7f", *text) != NULL)
			return false;
	return true;
}

static void put_value(FILE *out, const char *text)
{
	for (; *text != 0; text++)
		fputc((unsigned char)*text < ' ' || strchr("{}\x7f", *text) != NULL ? '?' : *text,
		      out);
}

/* "dpdk:net_af_packet0,iface=NAME": not a device but how one is named. */
static bool is_template(const char *address)
{
	return strncmp(address, "dpdk:", 5) == 0 && strstr(address, "=NAME") != NULL;
}

/* "verbs:" alone stands for a kind that this build cannot open. */
static bool is_device(const char *address)
{
	return address[strlen(address) - 1] != ':' && is_sayable(address);
}

static void put_interface(FILE *out, const struct ft_device_listing *row)
{
	fprintf(out, "interface {value=" FT_EXTCAP_PREFIX "%s}{display=fabtap %s: ", row->address,
		row->address);
	if (!row->usable)
		fputs("not usable: ", out);
	put_value(out, row->about);
	fputs("}\n", out);
}

void ft_extcap_put_interfaces(FILE *out, const char *version, const struct ft_device_listing *rows,
			      size_t count)
{
	fprintf(out, "extcap {version=%s}{display=fabtap, a passive tap for RDMA}\n", version);
	for (size_t i = 0; i < count; i++)
		if (is_template(rows[i].address))
			fputs("interface {value=" FT_EXTCAP_DPDK
			      "}{display=fabtap on a virtual DPDK device}\n",
			      out);
		else if (is_device(rows[i].address))
			put_interface(out, &rows[i]);
}

/* --- link types --- */

static const struct dlt {
	int number;
	const char *name, *display;
} ethernet = { 1, "EN10MB", "Ethernet" }, cooked = { 113, "LINUX_SLL", "Linux cooked" },
  infiniband = { 197, "ERF", "InfiniBand in Endace records" };

static const struct dlt *dlt_of(const char *interface, const char *about)
{
	if (strcmp(interface, FT_EXTCAP_PREFIX "pcap:any") == 0)
		return &cooked;
	if (about != NULL && strncmp(about, "InfiniBand", 10) == 0)
		return &infiniband;
	return &ethernet;
}

void ft_extcap_put_dlt(FILE *out, const char *interface, const char *about)
{
	const struct dlt *dlt = dlt_of(interface, about);

	fprintf(out, "dlt {number=%d}{name=%s}{display=%s}\n", dlt->number, dlt->name,
		dlt->display);
}

/* --- options --- */

enum { TENANT_NUMBER = 8 };

static const struct argument {
	int number; /* also the order on the screen */
	const char *rest;
} arguments[] = {
	{ 1, "{call=--snap}{display=Bytes kept of each frame}{type=unsigned}{range=64,262144}"
	     "{placeholder=all}{tooltip=The rest is cut off before it is copied}{group=Capture}" },
	{ 2, "{call=--buffer}{display=Receive buffer}{type=string}{placeholder=64M}"
	     "{validation=^[1-9][0-9]*[KMG]?$}{tooltip=Bytes, or 64K, 512M, 2G}{group=Capture}" },
	{ 3, "{call=--allow-tx-queue}{display=Take a device with a transmit queue}{type=boolflag}"
	     "{default=false}{tooltip=Where a driver cannot be had without one}{group=Capture}" },
	{ 4, "{call=--map}{display=Tenant partition map}{type=fileselect}{mustexist=true}"
	     "{tooltip=tapmap/1 or OpenSM's partitions.conf: frames that violate it get a "
	     "comment}{group=Map}" },
	{ 5, "{call=--topology}{display=Topology}{type=fileselect}{mustexist=true}"
	     "{tooltip=ibnetdiscover, guid2lid, smpquery or saquery output}{group=Map}" },
	{ 6, "{call=--key}{display=Public key}{type=fileselect}{mustexist=true}"
	     "{tooltip=Refuse a map that this Ed25519 key has not signed}{group=Map}" },
	{ 7, "{call=--only-violations}{display=Only frames that violate the map}{type=boolflag}"
	     "{default=false}{group=Map}" },
	{ TENANT_NUMBER, "{call=--" FT_EXTCAP_TENANT "}{display=Only frames of}{type=selector}"
			 "{reload=true}{tooltip=Load the tenants of the map}{group=Map}" },
};

void ft_extcap_put_config(FILE *out, const char *interface)
{
	if (strcmp(interface, FT_EXTCAP_DPDK) == 0)
		fputs("arg {number=0}{call=--device}{display=DPDK device}{type=string}"
		      "{required=true}{placeholder=net_af_packet0,iface=tap0}"
		      "{tooltip=A PCI address or a virtual device with its arguments}"
		      "{group=Capture}\n",
		      out);
	for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
		fprintf(out, "arg {number=%d}%s\n", arguments[i].number, arguments[i].rest);
	ft_extcap_put_tenants(out, NULL);
}

void ft_extcap_put_tenants(FILE *out, const struct ft_declared *declared)
{
	fprintf(out, "value {arg=%d}{value=}{display=all tenants}{default=true}\n", TENANT_NUMBER);
	for (size_t i = 0; declared != NULL && i < declared->tenant_count; i++) {
		const struct ft_tenant *tenant = &declared->tenants[i];

		if (!tenant->retired && is_sayable(tenant->name))
			fprintf(out, "value {arg=%d}{value=%s}{display=%s}{default=false}\n",
				TENANT_NUMBER, tenant->name, tenant->name);
	}
}
