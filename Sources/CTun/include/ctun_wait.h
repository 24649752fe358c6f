// Descriptors to wait on: the kernel's headers that Swift's Glibc module leaves out.
#ifndef CTUN_WAIT_H
#define CTUN_WAIT_H

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#endif
