#include "providerhost_stamp.h"
