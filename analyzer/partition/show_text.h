#pragma once

#include <stdio.h>

#include <partition/declared.h>

/* `map show` for people. 0 or -EIO. */
int ft_show_text(const struct ft_declared *declared, FILE *out);
