#include <stddef.h>
#include <blake2.h>
