// WireGuard
