#pragma once

const char *ft_build_version(void); /* "0.1.0" */
const char *ft_build_text(void);    /* compiler and the options that matter */
