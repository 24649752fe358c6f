public import CTun

/// A ChaCha20-Poly1305 implementation behind CTun's table.
//
// SAFETY: the table is constant memory with static functions; a thread's state is made by `AEAD`.
@safe
public struct AEADBackend: @unchecked Sendable {
    fileprivate let table: UnsafePointer<ctun_aead_backend>

    /// A back end from elsewhere; the table and its functions must live as long as the process.
    public init(unsafeTable table: UnsafePointer<ctun_aead_backend>) {
        unsafe self.table = table
    }

    /// libsodium, which is always there.
    public static let sodium: AEADBackend = unsafe AEADBackend(unsafeTable: ctun_aead_sodium())

    /// libipsec-mb, where the processor is an x86-64.
    public static let ipsecMB: AEADBackend? = unsafe ctun_aead_ipsec_mb().map { unsafe AEADBackend(unsafeTable: $0) }

    /// Ours, which runs cipher and authentication side by side, where the processor has AVX2.
    public static let stitched: AEADBackend? = unsafe ctun_aead_stitched().map { unsafe AEADBackend(unsafeTable: $0) }

    /// Every back end of this machine; libsodium, the reference of the self-test, is the first.
    public static var all: [AEADBackend] { [sodium] + [ipsecMB, stitched].compactMap(\.self) }

    /// A short name for logs and figures.
    public var name: String { unsafe String(cString: table.pointee.name) }

    /// Compares every byte with libsodium over lengths 0 to 2,048, and sees that a changed byte is refused.
    public var passesSelfTest: Bool { unsafe ctun_aead_self_test(table) }

    /// Nanoseconds per 1,420-byte packet, the best seen in about `budget` nanoseconds.
    public func nanosecondsPerPacket(budget: UInt64 = 2_500_000) -> UInt64 { unsafe ctun_aead_time(table, budget) }

    /// The back ends of which any may be the fastest here.
    ///
    /// With AVX2 alone ours beats libipsec-mb by a third or more at every length, and the trial would be paid for with
    /// 2 MB of that library in memory.
    static var candidates: [AEADBackend] {
        stitched == nil || ctun_aead_has_avx512() ? all : [sodium, stitched].compactMap(\.self)
    }

    /// The fastest back end that passes its self-test and that the options allow.
    ///
    /// Takes a few milliseconds: call it once.
    public static func select(_ options: PathOptions) -> AEADBackend {
        guard options.wideAEAD else { return sodium }
        var best = (backend: sodium, time: UInt64.max)
        for backend in candidates where backend.passesSelfTest {
            let time = backend.nanosecondsPerPacket()
            if time > 0 && time < best.time { best = (backend, time) }
        }
        return best.backend
    }
}

/// A 256-bit key that is zeroed when it goes away.
public struct AEADKey: ~Copyable, Sendable {
    fileprivate var words: SIMD4<UInt64>

    /// The key as four little-endian words, in the order of its bytes.
    public init(words: SIMD4<UInt64>) { self.words = words }

    deinit {
        var copy = words
        unsafe withUnsafeMutableBytes(of: &copy) { bytes in
            if let base = bytes.baseAddress { unsafe ctun_zero(base, bytes.count) }
        }
    }
}

/// One thread's state of a back end, with room for the key in use.
@safe
struct AEAD: ~Copyable {
    private let table: UnsafePointer<ctun_aead_backend>
    private let state: UnsafeMutableRawPointer
    private let key: UnsafeMutablePointer<SIMD4<UInt64>>
    private typealias Function =
        @convention(c) (
            UnsafeMutableRawPointer, UnsafePointer<UInt8>, UnsafeMutablePointer<ctun_aead_job>, Int
        ) -> Void
    private let sealFunction: Function
    private let openFunction: Function

    init(_ backend: AEADBackend) throws(PathError) {
        unsafe table = backend.table
        guard let made = unsafe table.pointee.create() else {
            throw PathError("the cipher back end \(backend.name) cannot start", advice: "switch it off")
        }
        unsafe state = made
        unsafe key = .allocate(capacity: 1)
        unsafe key.initialize(to: .zero)
        unsafe sealFunction = table.pointee.seal
        unsafe openFunction = table.pointee.open
    }

    deinit {
        unsafe ctun_zero(key, 32)
        unsafe key.deallocate()
        unsafe table.pointee.destroy(state)
    }

    /// Uses this key for the calls that follow, until the next one.
    @inline(always)
    func use(_ key: borrowing AEADKey) { unsafe self.key.pointee = key.words }

    @inline(always)
    private func withKey(_ body: (UnsafePointer<UInt8>) -> Void) {
        unsafe body(UnsafeRawPointer(key).assumingMemoryBound(to: UInt8.self))
    }

    @inline(always)
    private func bytes(_ view: ByteView, _ offset: Int, _ length: Int) -> UnsafeMutablePointer<UInt8> {
        unsafe view.pointer(offset, length).assumingMemoryBound(to: UInt8.self)
    }

    /// Seals `length` bytes into `length` + 16; the ranges must not overlap.
    @inline(always)
    func seal(_ input: ByteView, _ offset: Int, _ length: Int, into output: ByteView, _ target: Int, counter: UInt64) {
        var job = unsafe ctun_aead_job(
            input: bytes(input, offset, length), output: bytes(output, target, length + 16), counter: counter,
            length: UInt32(truncatingIfNeeded: length), authentic: 0)
        unsafe withKey { unsafe sealFunction(state, $0, &job, 1) }
    }

    /// Opens `length` + 16 bytes into `length`; on false the output's bytes are undefined.
    @inline(always)
    func open(
        _ input: ByteView, _ offset: Int, _ length: Int, into output: ByteView, _ target: Int, counter: UInt64
    ) -> Bool {
        var job = unsafe ctun_aead_job(
            input: bytes(input, offset, length + 16), output: bytes(output, target, length), counter: counter,
            length: UInt32(truncatingIfNeeded: length), authentic: 0)
        unsafe withKey { unsafe openFunction(state, $0, &job, 1) }
        return unsafe job.authentic != 0
    }
}
