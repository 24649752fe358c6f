private import HostRuntime
