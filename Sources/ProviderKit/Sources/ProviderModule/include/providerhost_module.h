// Exported by every module, read by the host with dlsym before it calls into the module.
#ifndef PROVIDERHOST_MODULE_H
#define PROVIDERHOST_MODULE_H

extern const char providerhost_module_stamp[];

#endif
