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

    /// How much more work an input nine times longer than it was adds, where the work that an input once longer adds is 1.
    ///
    /// Linear work gives 9, and work with the square of the input 33, whatever both take at any size. What an input adds that
    /// is lost in the rest counts as a twentieth of the work on the smallest.
    ///
    /// Each is done once before it is counted, so that what is made ready once is not counted.
    /// - Parameter limit: Counting ends where the growth is surely above it.
    /// - Parameter work: makes an input of a size, and gives what is to be done with it.
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
