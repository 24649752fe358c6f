// PacketPath
