#pragma once

#include "maps.h"

#include "account.h"

enum { RED, BLUE };
enum { BOOKS_BYTES = 100 };

/* An account of red's LID 1 and blue's LID 2, over a capture without frames, and a frame that items may be of. */
struct books {
	struct ft_engine_config config;
	struct ft_map *map;
	struct ft_source *source;
	struct ft_account account;
	uint8_t bytes[BOOKS_BYTES];
	struct ft_frame frame; /* of these bytes, at no time */
};

/* With room for so many findings; 0: as many as the engine has unless told. Asserts on failure. */
void books_open(struct books *books, uint32_t findings);
void books_close(struct books *books);
