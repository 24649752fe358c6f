// HostRuntime
