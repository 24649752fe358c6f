#pragma once

// Nothing is called: the library is preloaded (LD_PRELOAD), and takes the place of clock_gettime(2).
