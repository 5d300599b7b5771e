#pragma once

#include <stdbool.h>

/* Requests to a live run, each a signal that only sets a flag: SIGUSR1, SIGUSR2, SIGHUP. */
enum ft_request { FT_REQUEST_REPORT, FT_REQUEST_FLUSH, FT_REQUEST_RELOAD, FT_REQUESTS };

/* From now on they do not end the program. */
void ft_requests_catch(void);

/* Whether it was asked for; and then, that it no longer is. */
bool ft_requested(enum ft_request request);
bool ft_request_take(enum ft_request request);
