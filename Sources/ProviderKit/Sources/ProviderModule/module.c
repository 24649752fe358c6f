#include "providerhost_module.h"

#include "providerhost_stamp.h"

__attribute__((visibility("default"), used)) const char providerhost_module_stamp[] = PROVIDERHOST_STAMP;
