#include "operation.h"

#include <flow/tracker.h>

enum { FIRST = FT_PART_FIRST, MIDDLE = 0, LAST = FT_PART_LAST, ONLY = FIRST | LAST };

/* clang-format off */
#define SENDS_AND_WRITES(service)                                                                  \
	[service + 0x00] = { FT_ROLE_REQUEST, FIRST, FT_MESSAGE_SEND },                         \
	[service + 0x01] = { FT_ROLE_REQUEST, MIDDLE, FT_MESSAGE_SEND },                        \
	[service + 0x02] = { FT_ROLE_REQUEST, LAST, FT_MESSAGE_SEND },                          \
	[service + 0x03] = { FT_ROLE_REQUEST, LAST, FT_MESSAGE_SEND }, /* with immediate */     \
	[service + 0x04] = { FT_ROLE_REQUEST, ONLY, FT_MESSAGE_SEND },                          \
	[service + 0x05] = { FT_ROLE_REQUEST, ONLY, FT_MESSAGE_SEND },                          \
	[service + 0x06] = { FT_ROLE_REQUEST, FIRST, FT_MESSAGE_WRITE },                        \
	[service + 0x07] = { FT_ROLE_REQUEST, MIDDLE, FT_MESSAGE_WRITE },                       \
	[service + 0x08] = { FT_ROLE_REQUEST, LAST, FT_MESSAGE_WRITE },                         \
	[service + 0x09] = { FT_ROLE_REQUEST, LAST, FT_MESSAGE_WRITE },                         \
	[service + 0x0a] = { FT_ROLE_REQUEST, ONLY, FT_MESSAGE_WRITE },                         \
	[service + 0x0b] = { FT_ROLE_REQUEST, ONLY, FT_MESSAGE_WRITE }

#define ALL_OPERATIONS(service)                                                                    \
	SENDS_AND_WRITES(service),                                                                 \
	[service + 0x0c] = { FT_ROLE_QUESTION, ONLY, FT_MESSAGE_READ },                          \
	[service + 0x0d] = { FT_ROLE_RESPONSE, FIRST, FT_MESSAGE_READ },                        \
	[service + 0x0e] = { FT_ROLE_RESPONSE, MIDDLE, FT_MESSAGE_READ },                       \
	[service + 0x0f] = { FT_ROLE_RESPONSE, LAST, FT_MESSAGE_READ },                         \
	[service + 0x10] = { FT_ROLE_RESPONSE, ONLY, FT_MESSAGE_READ },                         \
	[service + 0x11] = { FT_ROLE_ACKNOWLEDGE, ONLY, FT_MESSAGE_KINDS },                     \
	[service + 0x12] = { FT_ROLE_RESPONSE, ONLY, FT_MESSAGE_ATOMIC },                       \
	[service + 0x13] = { FT_ROLE_QUESTION, ONLY, FT_MESSAGE_ATOMIC },                        \
	[service + 0x14] = { FT_ROLE_QUESTION, ONLY, FT_MESSAGE_ATOMIC },                        \
	[service + 0x16] = { FT_ROLE_REQUEST, LAST, FT_MESSAGE_SEND }, /* with invalidate */    \
	[service + 0x17] = { FT_ROLE_REQUEST, ONLY, FT_MESSAGE_SEND },                          \
	[service + 0x1c] = { FT_ROLE_QUESTION, ONLY, FT_MESSAGE_KINDS }, /* FLUSH */             \
	[service + 0x1d] = { FT_ROLE_QUESTION, ONLY, FT_MESSAGE_ATOMIC } /* ATOMIC WRITE */

const struct ft_operation ft_operations[256] = {
	ALL_OPERATIONS(0x00),   /* RC */
	SENDS_AND_WRITES(0x20), /* UC */
	[0x81] = { FT_ROLE_CNP, ONLY, FT_MESSAGE_KINDS },
	ALL_OPERATIONS(0xa0), /* XRC */
};
/* clang-format on */
