internal import CTun

/// The memory of this process.
public enum ProcessMemory {
    /// Has the system take back each piece of 128 KiB and more as soon as it is given up.
    ///
    /// For a process that replaces large values by others now and then: by itself the allocator would keep such pieces from the
    /// first one on that it was given back.
    public static func giveLargePiecesBack() { ctun_give_large_memory_back() }
}
