#pragma once

#include "exit.h"

/*
 * Link the running program into the user's extcap folder of Wireshark, as `fabtap`, and say where. Nothing is replaced
 * but such a link. FT_EXIT_CLEAN, or FT_EXIT_FAILED after one line.
 */
enum ft_exit ft_extcap_install(void);
