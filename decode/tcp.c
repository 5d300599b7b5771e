#include <decode/tcp.h>

#include <decode/big_endian.h>

enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

bool ft_tcp_read(const uint8_t *bytes, uint32_t size, struct ft_tcp *tcp)
{
	uint8_t header_bytes, flags;

	if (size < FT_TCP_LEN)
		return false;
	header_bytes = (uint8_t)((bytes[12] >> 4) * 4);
	if (header_bytes < FT_TCP_LEN)
		return false;
	flags = bytes[13];
	*tcp = (struct ft_tcp){
		.sport = ft_be16(bytes),
		.dport = ft_be16(bytes + 2),
		.sequence = ft_be32(bytes + 4),
		.acknowledgment = ft_be32(bytes + 8),
		.header_bytes = header_bytes,
		.fin = (flags & FIN) != 0,
		.syn = (flags & SYN) != 0,
		.rst = (flags & RST) != 0,
		.ack = (flags & ACK) != 0,
	};
	return true;
}
