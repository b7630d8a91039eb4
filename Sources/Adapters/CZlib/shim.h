#ifndef DOORSTEP_CZLIB_SHIM_H
#define DOORSTEP_CZLIB_SHIM_H

#include <zlib.h>

#endif
