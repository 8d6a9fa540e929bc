#ifndef NODEMASK_HANDLERS_H
#define NODEMASK_HANDLERS_H

#include <stddef.h>

// nm_register has a PJRT plugin, by its interface, call the kernels as foreign functions. If it returns 0, problem says why it will not.
int nm_register(const void *plugin, char *problem, size_t size);

#endif
