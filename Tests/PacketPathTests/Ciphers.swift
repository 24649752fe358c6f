import CSodium

@testable import PacketPath

let testKeyBytes: [UInt8] = (0..<32).map { UInt8($0 * 7 + 1) }

func makeKey(_ bytes: [UInt8]) -> AEADKey {
    var words = SIMD4<UInt64>.zero
    for index in 0..<32 { words[index / 8] |= UInt64(bytes[index]) << UInt64(index % 8 * 8) }
    return AEADKey(words: words)
}

func testKey() -> AEADKey { makeKey(testKeyBytes) }

extension [UInt8] {
    /// The bytes of a span.
    init(copying span: RawSpan) {
        self = unsafe span.withUnsafeBytes { unsafe Array($0) }
    }
}

/// libsodium's answer, independent of the code under test.
func sodiumSeal(_ plain: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    var out = [UInt8](repeating: 0, count: plain.count + 16)
    unsafe _ = crypto_aead_chacha20poly1305_ietf_encrypt(&out, nil, plain, UInt64(plain.count), nil, 0, nil, nonce, key)
    return out
}

func nonce(_ counter: UInt64) -> [UInt8] {
    [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64($0 * 8)) }
}

func sodiumOpen(_ sealed: [UInt8], key: [UInt8], counter: UInt64) -> [UInt8]? {
    guard sealed.count >= 16 else { return nil }
    var out = [UInt8](repeating: 0, count: max(1, sealed.count - 16))
    let result = unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
        &out, nil, nil, sealed, UInt64(sealed.count), nil, 0, nonce(counter), key)
    return result == 0 ? Array(out.prefix(sealed.count - 16)) : nil
}

/// A datagram in counter framing, by libsodium.
func datagram(_ packet: [UInt8], counter: UInt64, prefix: UInt64 = 4, padTo: Int = 16, key: [UInt8] = testKeyBytes)
    -> [UInt8]
{
    var plain = packet
    while plain.count % padTo != 0 { plain.append(0) }
    return (0..<8).map { UInt8(truncatingIfNeeded: prefix >> UInt64($0 * 8)) } + nonce(counter)[4...]
        + sodiumSeal(plain, key: key, nonce: nonce(counter))
}

extension TransmitPath {
    /// Takes a virtio header and a packet.
    mutating func take(_ bytes: [UInt8]) -> ReadOutcome { unsafe loadSuperPacket(bytes.span.bytes) }
}

extension ReceivePath {
    /// Takes datagrams as one train.
    mutating func take(_ bytes: [UInt8], stride: Int, trafficClass: UInt8 = 0) -> ReceivedTrain {
        unsafe load(
            bytes.span.bytes, stride: stride, from: PeerAddress(address: .v4(1), port: 1), trafficClass: trafficClass)
    }
}
