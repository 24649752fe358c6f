import CTun
import Testing

@testable import PacketPath

@Suite("AEAD back ends")
struct CipherTests {
    static let backends = AEADBackend.all

    static func seal(_ backend: AEADBackend, _ plain: [UInt8], key: [UInt8], counter: UInt64) throws -> [UInt8] {
        let aead = try AEAD(backend)
        let slab = try Slab(count: 2)
        let input = slab.view(0)
        unsafe input.copy(from: plain.span.bytes, to: 0)
        aead.use(makeKey(key))
        aead.seal(input, 0, plain.count, into: slab.view(1), 0, counter: counter)
        return (0..<plain.count + 16).map { slab.view(1).load8($0) }
    }

    static func open(_ backend: AEADBackend, _ sealed: [UInt8], key: [UInt8], counter: UInt64) throws -> [UInt8]? {
        let aead = try AEAD(backend)
        let slab = try Slab(count: 2)
        unsafe slab.view(0).copy(from: sealed.span.bytes, to: 0)
        aead.use(makeKey(key))
        let length = sealed.count - 16
        guard aead.open(slab.view(0), 0, length, into: slab.view(1), 0, counter: counter) else { return nil }
        return (0..<length).map { slab.view(1).load8($0) }
    }

    static func hex(_ text: String) -> [UInt8] {
        let digits = text.filter { !$0.isWhitespace }.compactMap { $0.hexDigitValue.map(UInt8.init) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    @Test("the key stream of RFC 8439 appendix A.1 with a zero key", arguments: 0..<backends.count)
    func keyStream(index: Int) throws {
        // Test vector 2: block counter 1, nonce 0. A sealed run of zeroes is the key stream itself.
        let block = Self.hex(
            """
            9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed
            29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f
            """)
        let zero = [UInt8](repeating: 0, count: 32)
        let sealed = try Self.seal(Self.backends[index], [UInt8](repeating: 0, count: 64), key: zero, counter: 0)
        #expect(Array(sealed[..<64]) == block)
    }

    @Test("every back end seals and opens what libsodium does, at every length", arguments: 0..<backends.count)
    func crossCheck(index: Int) throws {
        let backend = Self.backends[index]
        #expect(backend.passesSelfTest)
        var random = Seeded(11)
        let lengths = Array(0...150) + (0..<150).map { _ in Int.random(in: 0...9000, using: &random) }
        for length in lengths {
            let key = random.bytes(32)
            let plain = random.bytes(length)
            let counter = random.next()
            let sealed = try Self.seal(backend, plain, key: key, counter: counter)
            #expect(sealed == sodiumSeal(plain, key: key, nonce: nonce(counter)))
            #expect(try Self.open(backend, sealed, key: key, counter: counter) == plain)
            #expect(try Self.open(backend, sealed, key: key, counter: counter &+ 1) == nil)
            var changed = sealed
            changed[Int.random(in: 0..<changed.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(try Self.open(backend, changed, key: key, counter: counter) == nil)
        }
    }

    @Test("a batch of jobs is what the same jobs are one by one", arguments: 0..<backends.count)
    func batches(index: Int) throws {
        let backend = unsafe [ctun_aead_sodium(), ctun_aead_ipsec_mb(), ctun_aead_stitched()].compactMap(\.self)[index]
        guard let state = unsafe backend.pointee.create() else {
            Issue.record("the back end does not start")
            return
        }
        defer { unsafe backend.pointee.destroy(state) }
        var random = Seeded(3)
        let plains = (0..<70).map { _ in random.bytes(Int.random(in: 0...1500, using: &random)) }
        let inputs = UnsafeMutablePointer<UInt8>.allocate(capacity: 70 * 2048)
        let outputs = UnsafeMutablePointer<UInt8>.allocate(capacity: 70 * 2048)
        defer { unsafe inputs.deallocate() }
        defer { unsafe outputs.deallocate() }
        var jobs: [ctun_aead_job] = unsafe []
        for (place, plain) in plains.enumerated() {
            for offset in plain.indices { unsafe inputs[place * 2048 + offset] = plain[offset] }
            unsafe jobs.append(
                ctun_aead_job(
                    input: inputs + place * 2048, output: outputs + place * 2048, counter: UInt64(place),
                    length: UInt32(plain.count), authentic: 0))
        }
        unsafe backend.pointee.seal(state, testKeyBytes, &jobs, jobs.count)
        for (place, plain) in plains.enumerated() {
            let sealed = (0..<plain.count + 16).map { unsafe outputs[place * 2048 + $0] }
            #expect(sealed == sodiumSeal(plain, key: testKeyBytes, nonce: nonce(UInt64(place))))
        }
        // Back again, with every seventh one changed.
        for place in 0..<70 {
            unsafe jobs[place].input = UnsafePointer(unsafe outputs + place * 2048)
            unsafe jobs[place].output = inputs + place * 2048
            if place % 7 == 3 { unsafe outputs[place * 2048] ^= 1 }
        }
        unsafe backend.pointee.open(state, testKeyBytes, &jobs, jobs.count)
        for (place, plain) in plains.enumerated() {
            #expect(unsafe (jobs[place].authentic != 0) == (place % 7 != 3))
            if place % 7 != 3 {
                #expect((0..<plain.count).map { unsafe inputs[place * 2048 + $0] } == plain)
            }
        }
    }

    @Test("the wide back end can be switched off")
    func selection() {
        var options = PathOptions()
        options.wideAEAD = false
        #expect(AEADBackend.select(options).name == "libsodium")
        #expect(AEADBackend.candidates.map(\.name).contains(AEADBackend.select(PathOptions()).name))
    }
}
