import CSteps

/// Counts the processor's instructions.
enum Steps {
    /// False on processors other than x86-64.
    static var canBeCounted: Bool { steps_can_be_counted() }

    /// - Parameter limit: The count at which counting stops.
    static func count(upTo limit: UInt64 = .max, of work: () -> Void) -> UInt64 {
        withoutActuallyEscaping(work) { work in
            var work = work
            return withUnsafeMutablePointer(to: &work) { pointer in
                steps_of({ $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, pointer, limit)
            }
        }
    }

    /// The growth of work between a small input and inputs of two and of ten times its size: the added work of the largest, divided
    /// by the added work of the middle one.
    ///
    /// Linear work gives 9, and quadratic work 33, with any constant overhead. Added work of less than a twentieth of the work on
    /// the smallest input counts as a twentieth.
    ///
    /// Each work runs once before it is counted, so that one-time preparations are not counted.
    /// - Parameter limit: Counting stops when the growth is certainly above this.
    /// - Parameter work: Makes an input of a size, and returns the work on it.
    static func growth(
        from size: Int, upTo limit: UInt64, _ work: (Int) throws -> () -> Void
    ) rethrows -> Double {
        let works = try [size, 2 * size, 10 * size].map(work)
        for work in works { work() }
        let (first, second) = (count(of: works[0]), count(of: works[1]))
        let added = max(second, first) - first
        let unit = max(added, first / 20, 1)
        let last = count(upTo: first + (limit + 1) * unit, of: works[2])
        return Double(max(last, first) - first) / Double(unit)
    }
}
