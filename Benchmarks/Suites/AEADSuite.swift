extension Suite {
    /// ChaCha20-Poly1305 by itself: every back end, by size and by batch.
    static let aead = Suite(
        "aead", "ChaCha20-Poly1305 of every back end by size and by batch: ns per message and Gb/s", options: []
    ) { _, report in
        report.notes = ["one thread, key and buffers in the caches, best of 15 rounds; seal unless said otherwise"]
        for bench in try AEADBench.all() {
            func add(_ name: String, size: Int, batch: Int, opening: Bool = false) throws {
                try Interruption.check()
                let time = bench.nanoseconds(size: size, batch: batch, opening: opening)
                report.add(time, name, unit: "ns", subject: bench.name)
                report.add(Double(size) * 8 / time, name, unit: "Gb/s", subject: bench.name)
            }
            for size in [64, 256, 576, 1420, 4096, 16_384] {
                try add("\(size) bytes", size: size, batch: 1)
            }
            for batch in [4, 16, 44] { try add("1420 bytes, \(batch) in a call", size: 1420, batch: batch) }
            try add("1420 bytes, open", size: 1420, batch: 1, opening: true)
            try add("1420 bytes, open, 44 in a call", size: 1420, batch: 44, opening: true)
        }
    }
}
