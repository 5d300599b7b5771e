#pragma once

#include <stdbool.h>

#include "exit.h"

/*
 * The program as Wireshark calls it when it lies in an extcap folder: it lists its interfaces and their options,
 * and captures from one of them into a FIFO. What is printed are sentences of Wireshark's grammar, doc/extcap.adoc.
 */
bool ft_extcap_is_called(int argc, char **argv);
enum ft_exit ft_extcap_run(int argc, char **argv);
