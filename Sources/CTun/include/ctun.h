// Umbrella of CTun: one header per subject, nothing else in here.
#ifndef CTUN_H
#define CTUN_H

#include "ctun_aead.h"
#include "ctun_checksum.h"
#include "ctun_control.h"
#include "ctun_descriptors.h"
#include "ctun_io.h"
#include "ctun_manager_socket.h"
#include "ctun_memory.h"
#include "ctun_namespace.h"
#include "ctun_process.h"
#include "ctun_program.h"
#include "ctun_route.h"
#include "ctun_sandbox.h"
#include "ctun_thread.h"
#include "ctun_tun.h"
#include "ctun_udp.h"
#include "ctun_wait.h"

#endif
