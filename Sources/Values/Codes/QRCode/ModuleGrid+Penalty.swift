extension ModuleGrid {
    /// The penalty for readability: the fewer points, the better (ISO/IEC 18004:2015, 7.8.3.1, table 11).
    var penalty: Int {
        let lines = rows + columns
        let dark = rows.reduce(0) { $0 + $1.nonzeroBitCount }
        return lines.reduce(0) { $0 + runs(in: $1) + finders(in: $1) } + blocks
            + abs(100 * dark - 50 * size * size) / (5 * size * size) * 10
    }

    /// Three points for each run of five modules of a colour, and one for each module more.
    private func runs(in line: UInt128) -> Int {
        let same = ~(line ^ line >> 1) & ones(size - 1)
        let fours = same & same >> 1 & same >> 2 & same >> 3
        let starts = fours & ~(fours << 1)
        return fours.nonzeroBitCount + 2 * starts.nonzeroBitCount
    }

    /// Three points for each square of four modules of a colour.
    private var blocks: Int {
        zip(rows, rows.dropFirst()).reduce(0) { points, pair in
            let (upper, lower) = pair
            let same = ~(upper ^ lower) & ~(upper ^ upper >> 1) & ~(lower ^ lower >> 1)
            return points + 3 * (same & ones(size - 1)).nonzeroBitCount
        }
    }

    /// Forty points for each pattern that looks like a finder's, with four light modules on one side.
    ///
    /// The quiet zone is light, and a module is part of one pattern at most. [ours]
    private func finders(in line: UInt128) -> Int {
        // Four light modules come before the line, and four after it.
        let padded = line << 4
        let light = ~padded
        let dark = padded & padded >> 2 & padded >> 3 & padded >> 4 & padded >> 6
        let fourLight = light & light >> 1 & light >> 2 & light >> 3
        var found = dark & light >> 1 & light >> 5 & (fourLight << 4 | fourLight >> 7)
        var points = 0
        while found != 0 {
            points += 40
            found &= ~ones(found.trailingZeroBitCount + 7)
        }
        return points
    }

    private func ones(_ count: Int) -> UInt128 { UInt128.max >> (UInt128.bitWidth - count) }
}
