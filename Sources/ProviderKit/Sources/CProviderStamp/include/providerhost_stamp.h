// The stamp that says which contract and which compiler a binary was built with. Swift on Linux has no stable ABI, so
// host and module must agree on both, exactly.
#ifndef PROVIDERHOST_STAMP_H
#define PROVIDERHOST_STAMP_H

#define PROVIDERHOST_CONTRACT_VERSION "1"
#define PROVIDERHOST_STAMP "ProviderKit " PROVIDERHOST_CONTRACT_VERSION ", compiler " __clang_version__

/// The stamp of the binary that this header is compiled into.
static inline const char *_Nonnull providerhost_stamp(void) { return PROVIDERHOST_STAMP; }

#endif
