import CSteps

/// How many of the processor's instructions something takes.
enum Steps {
    /// False on processors other than x86-64.
    static var canBeCounted: Bool { steps_can_be_counted() }

    /// - Parameter limit: Where counting ends.
    static func count(upTo limit: UInt64 = .max, of work: () -> Void) -> UInt64 {
        withoutActuallyEscaping(work) { work in
            var work = work
            return withUnsafeMutablePointer(to: &work) { pointer in
                steps_of({ $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer, limit)
            }
        }
    }

    /// How much more the work on ten times as large an input takes; more than `limit` times as much is not looked at closer.
    ///
    /// Each is done once before it is counted, so that what is made ready once is not counted.
    /// - Parameter work: makes an input of a size, and gives what is to be done with it.
    static func growth(
        from size: Int, upTo limit: UInt64, _ work: (Int) throws -> () -> Void
    ) rethrows -> Double {
        let (small, large) = (try work(size), try work(10 * size))
        small()
        large()
        let count = count(of: small)
        return Double(Self.count(upTo: limit * count, of: large)) / Double(count)
    }
}
