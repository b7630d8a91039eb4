/// The positions of the parts of a symbol of some version (ISO/IEC 18004:2015, 6.3, 7.7, 7.9, 7.10).
struct QRLayout {
    let version: QRVersion

    /// The patterns that are the same in every symbol of the version: finders, timing, alignment.
    private(set) var patterns: ModuleGrid

    /// The modules without data: those of the patterns, and of format and version information.
    private(set) var reserved: ModuleGrid

    init(_ version: QRVersion) {
        self.version = version
        patterns = ModuleGrid(size: version.size)
        reserved = patterns
        for index in 8..<(size - 8) {
            draw(index, 6, isDark: index.isMultiple(of: 2))
            draw(6, index, isDark: index.isMultiple(of: 2))
        }
        let far = size - 4
        for (x, y) in [(3, 3), (far, 3), (3, far)] {
            drawSquares(x, y, radius: 4) { $0 != 2 && $0 != 4 }
        }
        let middles = version.alignment
        for x in middles {
            for y in middles where !(isNearFinder(x, y)) {
                drawSquares(x, y, radius: 2) { $0 != 1 }
            }
        }
        for place in (0..<15).flatMap(formatPlaces) + (0..<18).flatMap(versionPlaces) + [darkPlace] {
            reserved[place.x, place.y] = true
        }
    }

    private var size: Int { version.size }

    private mutating func draw(_ x: Int, _ y: Int, isDark: Bool) {
        patterns[x, y] = isDark
        reserved[x, y] = true
    }

    /// Draws squares around a module, as far as they lie within the symbol, each of one colour.
    private mutating func drawSquares(
        _ x: Int, _ y: Int, radius: Int, isDark: (_ distance: Int) -> Bool
    ) {
        for row in max(0, y - radius)...min(size - 1, y + radius) {
            for column in max(0, x - radius)...min(size - 1, x + radius) {
                draw(column, row, isDark: isDark(max(abs(column - x), abs(row - y))))
            }
        }
    }

    private func isNearFinder(_ x: Int, _ y: Int) -> Bool {
        let last = size - 7
        return (x, y) == (6, 6) || (x, y) == (6, last) || (x, y) == (last, 6)
    }

    /// The two positions of a bit of the format information, the last being bit 0.
    func formatPlaces(_ bit: Int) -> [(x: Int, y: Int)] {
        // Both go around the timing patterns' row and column, 6.
        let first =
            switch bit {
            case 0...5: (x: 8, y: bit)
            case 6...7: (x: 8, y: bit + 1)
            case 8: (x: 7, y: 8)
            default: (x: 14 - bit, y: 8)
            }
        return [first, bit < 8 ? (x: size - 1 - bit, y: 8) : (x: 8, y: size - 15 + bit)]
    }

    /// Beside the format information: always dark.
    var darkPlace: (x: Int, y: Int) { (x: 8, y: size - 8) }

    /// The two positions of a bit of the version information, the last being bit 0, from version 7 on.
    func versionPlaces(_ bit: Int) -> [(x: Int, y: Int)] {
        guard version.number >= 7 else { return [] }
        let (far, near) = (size - 11 + bit % 3, bit / 3)
        return [(x: far, y: near), (x: near, y: far)]
    }

    /// The modules for data in the order of the codewords' bits: by pairs of columns from the right, up and down by turns.
    func forEachDataPlace(_ body: (_ x: Int, _ y: Int) -> Void) {
        var isUpwards = true
        for pair in stride(from: size - 1, to: 0, by: -2) {
            // The column of the timing pattern belongs to no pair.
            let right = pair > 6 ? pair : pair - 1
            for step in 0..<size {
                let y = isUpwards ? size - 1 - step : step
                if !reserved[right, y] { body(right, y) }
                if !reserved[right - 1, y] { body(right - 1, y) }
            }
            isUpwards.toggle()
        }
    }
}
