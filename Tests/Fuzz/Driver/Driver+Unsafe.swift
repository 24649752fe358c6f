import Glibc

/// The target that `FUZZ_TARGET` names.
private let target: FuzzTarget = {
    let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        print("FUZZ_TARGET is '\(name)'; expected one of \(names)")
        exit(2)
    }
    return target
}()

/// The entry that libFuzzer calls with each input.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // SAFETY: libFuzzer lends `count` bytes for the call, and they are copied.
    target.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
