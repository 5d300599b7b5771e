#include "frame_extension.h"

#include <decode/aeth.h>

static void hex64(struct ft_line *line, const char *name, uint64_t value)
{
	ft_line_add(line, name);
	ft_line_hex(line, value, 16);
	ft_line_char(line, '"');
}

static void rdeth(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, "{\"eecn\":", packet->rdeth.eecn);
	ft_line_char(line, '}');
}

static void deth(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, "{\"qkey\":", packet->deth.qkey);
	ft_line_number(line, ",\"src_qp\":", packet->deth.src_qp);
	ft_line_char(line, '}');
}

static void xrceth(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, "{\"srqn\":", packet->xrceth.srqn);
	ft_line_char(line, '}');
}

static void reth(struct ft_line *line, const struct ft_packet *packet)
{
	hex64(line, "{\"va\":\"", packet->reth.va);
	ft_line_number(line, ",\"rkey\":", packet->reth.rkey);
	ft_line_number(line, ",\"len\":", packet->reth.length);
	ft_line_char(line, '}');
}

static void atomiceth(struct ft_line *line, const struct ft_packet *packet)
{
	hex64(line, "{\"va\":\"", packet->atomiceth.va);
	ft_line_number(line, ",\"rkey\":", packet->atomiceth.rkey);
	hex64(line, ",\"swap_add\":\"", packet->atomiceth.swap_add);
	hex64(line, ",\"compare\":\"", packet->atomiceth.compare);
	ft_line_char(line, '}');
}

static void aeth(struct ft_line *line, const struct ft_packet *packet)
{
	uint8_t syndrome = packet->aeth.syndrome;
	enum ft_aeth_kind kind = ft_aeth_kind(syndrome);
	int32_t credits = ft_aeth_credits(syndrome);

	ft_line_number(line, "{\"syndrome\":", syndrome);
	ft_line_number(line, ",\"msn\":", packet->aeth.msn);
	ft_line_word(line, ",\"kind\":", ft_aeth_kind_name(kind));
	if (kind == FT_AETH_ACK && credits >= 0)
		ft_line_number(line, ",\"credits\":", (uint32_t)credits);
	else if (kind == FT_AETH_ACK)
		ft_line_add(line, ",\"credits\":null");
	else if (kind == FT_AETH_RNR)
		ft_line_number(line, ",\"rnr_us\":", ft_aeth_rnr_us(syndrome));
	else if (kind == FT_AETH_NAK)
		ft_line_word(line, ",\"nak\":", ft_aeth_nak_name(syndrome));
	ft_line_char(line, '}');
}

static void atomicack(struct ft_line *line, const struct ft_packet *packet)
{
	hex64(line, "{\"orig\":\"", packet->atomicack.original);
	ft_line_char(line, '}');
}

static void immdt(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_decimal(line, packet->immdt);
}

static void ieth(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, "{\"rkey\":", packet->ieth_rkey);
	ft_line_char(line, '}');
}

static void feth(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, "{\"plt\":", packet->feth.placement);
	ft_line_number(line, ",\"sel\":", packet->feth.selectivity);
	ft_line_char(line, '}');
}

static const struct extension {
	uint32_t has;
	const char *name, *absent;
	void (*write)(struct ft_line *line, const struct ft_packet *packet);
} extensions[] = {
	{ FT_HAS_RDETH, ",\"rdeth\":", ",\"rdeth\":null", rdeth },
	{ FT_HAS_DETH, ",\"deth\":", ",\"deth\":null", deth },
	{ FT_HAS_XRCETH, ",\"xrceth\":", ",\"xrceth\":null", xrceth },
	{ FT_HAS_RETH, ",\"reth\":", ",\"reth\":null", reth },
	{ FT_HAS_ATOMICETH, ",\"atomiceth\":", ",\"atomiceth\":null", atomiceth },
	{ FT_HAS_AETH, ",\"aeth\":", ",\"aeth\":null", aeth },
	{ FT_HAS_ATOMICACK, ",\"atomicack\":", ",\"atomicack\":null", atomicack },
	{ FT_HAS_IMMDT, ",\"immdt\":", ",\"immdt\":null", immdt },
	{ FT_HAS_IETH, ",\"ieth\":", ",\"ieth\":null", ieth },
	{ FT_HAS_FETH, ",\"feth\":", ",\"feth\":null", feth },
};
#define EXTENSIONS (sizeof(extensions) / sizeof(extensions[0]))

void ft_extension_members(struct ft_line *line, const struct ft_packet *packet)
{
	uint32_t any = 0;

	for (size_t i = 0; i < EXTENSIONS; i++)
		any |= extensions[i].has;
	if (!(packet->has & any)) {
		ft_line_add(line, ",\"rdeth\":null,\"deth\":null,\"xrceth\":null,\"reth\":null,"
				  "\"atomiceth\":null"
				  ",\"aeth\":null,\"atomicack\":null,\"immdt\":null,\"ieth\":null,"
				  "\"feth\":null");
		return;
	}
	for (size_t i = 0; i < EXTENSIONS; i++) {
		if (packet->has & extensions[i].has) {
			ft_line_add(line, extensions[i].name);
			extensions[i].write(line, packet);
		} else {
			ft_line_add(line, extensions[i].absent);
		}
	}
}
