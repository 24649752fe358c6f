// WG
