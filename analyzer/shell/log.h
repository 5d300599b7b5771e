#pragma once

/*
 * What the program has to say beside its output: one line on standard error, lower case, with its
 * name before it. Control characters of file names and the like come out escaped.
 */
void ft_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
