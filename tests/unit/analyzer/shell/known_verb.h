#pragma once

#include "verb.h"

extern const struct ft_verb known_verb;
