#include "ctun.h"
int ctun_version(void) { return 1; }
