#ifndef DOORSTEP_CRESOLV_SHIM_H
#define DOORSTEP_CRESOLV_SHIM_H

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>

#endif
