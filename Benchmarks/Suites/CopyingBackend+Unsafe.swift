internal import CTun
internal import Glibc
internal import PacketPath

/// An AEAD back end that copies, writes a zero tag and believes every tag: what is left of a path without its cipher.
///
/// It protects nothing and exists in this executable only; no product can reach it.
enum CopyingBackend {
    static let backend = unsafe AEADBackend(unsafeTable: table)

    // Lives as long as the process, as the table of a back end must.
    private static var table: UnsafePointer<ctun_aead_backend> {
        let table = UnsafeMutablePointer<ctun_aead_backend>.allocate(capacity: 1)
        unsafe table.initialize(
            to: ctun_aead_backend(
                name: UnsafePointer(strdup("copy")),
                create: { unsafe malloc(1) },
                destroy: { unsafe free($0) },
                seal: { _, _, jobs, count in
                    for index in 0..<count {
                        let length = unsafe Int(jobs[index].length)
                        unsafe memcpy(jobs[index].output, jobs[index].input, length)
                        unsafe memset(jobs[index].output + length, 0, Int(CTUN_AEAD_TAG))
                    }
                },
                open: { _, _, jobs, count in
                    for index in 0..<count {
                        unsafe memcpy(jobs[index].output, jobs[index].input, Int(jobs[index].length))
                        unsafe jobs[index].authentic = 1
                    }
                }))
        return unsafe UnsafePointer(table)
    }
}
