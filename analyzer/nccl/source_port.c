#include "source_port.h"

uint16_t ft_nccl_source_port(uint32_t qpn, uint32_t other)
{
	uint64_t label = (uint64_t)qpn * other;

	label ^= label >> 20;
	label ^= label >> 40;
	label &= 0xfffff;
	return (uint16_t)(0xc000 | ((label & 0x3fff) ^ label >> 14));
}
