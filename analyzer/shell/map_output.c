#include "map_output.h"

#include <errno.h>
#include <stdlib.h>

#include <report/plain.h>

#include "output.h"

int ft_map_output_open(struct ft_map_output *output, bool json)
{
	*output = (struct ft_map_output){ .out = stdout };
	if (json)
		return 0;
	output->out = open_memstream(&output->text, &output->size);
	if (output->out != NULL)
		return 0;
	ft_output_failed(-ENOMEM);
	return -ENOMEM;
}

enum ft_exit ft_map_output_close(struct ft_map_output *output, int error, enum ft_exit status)
{
	if (output->out != stdout) {
		if (fclose(output->out) != 0 && error == 0)
			error = -ENOMEM;
		if (error == 0)
			error = ft_plain_lines(stdout, output->text);
		free(output->text);
	}
	return ft_output_status(error, status);
}
