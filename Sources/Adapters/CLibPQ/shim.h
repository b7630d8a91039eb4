#ifndef DOORSTEP_CLIBPQ_SHIM_H
#define DOORSTEP_CLIBPQ_SHIM_H

#include <libpq-fe.h>

#endif
