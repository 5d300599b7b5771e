#include "pass.h"

struct number {
	uint16_t number;
	uint8_t kind; /* enum ft_unopened */
};

static const struct number ethertypes[] = {
	{ 0x22f3, FT_UNOPENED_TRILL },       { 0x8864, FT_UNOPENED_PPPOE },
	{ 0x88e5, FT_UNOPENED_MACSEC },      { 0x88e7, FT_UNOPENED_PBB },
	{ 0x8903, FT_UNOPENED_FABRIC_PATH }, { 0x8926, FT_UNOPENED_VN_TAG },
	{ 0x892f, FT_UNOPENED_HSR },         { 0x893f, FT_UNOPENED_E_TAG },
	{ 0x894f, FT_UNOPENED_NSH },         { 0xf1c1, FT_UNOPENED_R_TAG },
};

static const struct number protocols[] = {
	{ 4, FT_UNOPENED_IP_IN_IP }, { 41, FT_UNOPENED_IP_IN_IP }, { 50, FT_UNOPENED_ESP },
	{ 51, FT_UNOPENED_AH },      { 97, FT_UNOPENED_ETHERIP },  { 115, FT_UNOPENED_L2TP },
	{ 137, FT_UNOPENED_MPLS },
};

static const struct number ports[] = {
	{ 1000, FT_UNOPENED_PSP },  { 1701, FT_UNOPENED_L2TP }, { 2152, FT_UNOPENED_GTP_U },
	{ 4341, FT_UNOPENED_LISP }, { 4500, FT_UNOPENED_ESP },  { 4754, FT_UNOPENED_GRE_IN_UDP },
	{ 6080, FT_UNOPENED_GUE },  { 6635, FT_UNOPENED_MPLS }, { 51820, FT_UNOPENED_WIREGUARD },
};

static const char *const names[FT_UNOPENED_KINDS] = {
	[FT_UNOPENED_MACSEC] = "macsec",
	[FT_UNOPENED_ESP] = "esp",
	[FT_UNOPENED_PSP] = "psp",
	[FT_UNOPENED_WIREGUARD] = "wireguard",
	[FT_UNOPENED_AH] = "ah",
	[FT_UNOPENED_IP_IN_IP] = "ip-in-ip",
	[FT_UNOPENED_ETHERIP] = "etherip",
	[FT_UNOPENED_L2TP] = "l2tp",
	[FT_UNOPENED_MPLS] = "mpls",
	[FT_UNOPENED_GTP_U] = "gtp-u",
	[FT_UNOPENED_LISP] = "lisp",
	[FT_UNOPENED_GRE_IN_UDP] = "gre-in-udp",
	[FT_UNOPENED_GUE] = "gue",
	[FT_UNOPENED_PPPOE] = "pppoe",
	[FT_UNOPENED_PBB] = "pbb",
	[FT_UNOPENED_TRILL] = "trill",
	[FT_UNOPENED_FABRIC_PATH] = "fabricpath",
	[FT_UNOPENED_VN_TAG] = "vn-tag",
	[FT_UNOPENED_E_TAG] = "e-tag",
	[FT_UNOPENED_HSR] = "hsr",
	[FT_UNOPENED_R_TAG] = "r-tag",
	[FT_UNOPENED_NSH] = "nsh",
	[FT_UNOPENED_GRE] = "gre",
	[FT_UNOPENED_VXLAN_GPE] = "vxlan-gpe",
	[FT_UNOPENED_GENEVE] = "geneve",
};

const char *ft_unopened_name(enum ft_unopened kind)
{
	return names[kind];
}

enum ft_step ft_leave(struct ft_pass *pass, enum ft_unopened kind)
{
	pass->packet->unopened = (uint8_t)kind;
	return FT_STEP_DONE;
}

static enum ft_step leave(struct ft_pass *pass, const struct number *numbers, size_t count,
			  uint16_t number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i].number == number)
			return ft_leave(pass, (enum ft_unopened)numbers[i].kind);
	return FT_STEP_DONE;
}

enum ft_step ft_leave_ethertype(struct ft_pass *pass, uint16_t ethertype)
{
	return leave(pass, ethertypes, sizeof ethertypes / sizeof *ethertypes, ethertype);
}

enum ft_step ft_leave_protocol(struct ft_pass *pass, uint8_t protocol)
{
	return leave(pass, protocols, sizeof protocols / sizeof *protocols, protocol);
}

enum ft_step ft_leave_port(struct ft_pass *pass, uint16_t port)
{
	return leave(pass, ports, sizeof ports / sizeof *ports, port);
}
