/// A QR code: byte mode, error correction level M, versions 1 to 13.
///
/// It is no App Clip Code, which only Apple's generator makes.
/// Source: ISO/IEC 18004:2015.
public struct QRSymbol: Sendable, Hashable {
    public let version: QRVersion
    public let mask: QRMask

    let grid: ModuleGrid

    /// Creates the smallest symbol that holds a text.
    ///
    /// - Parameters:
    ///   - text: ASCII, at most 331 bytes.
    ///   - mask: Nil for the mask with the fewest penalty points; of several, the first.
    public init(_ text: String, mask: QRMask? = nil) throws(QRCodeError) {
        let bytes = Array(text.utf8)
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw .notASCII }
        version = try QRVersion.smallest(for: bytes.count)
        let layout = QRLayout(version)
        let unmasked = Self.place(Self.codewords(of: bytes, version), layout)
        // Format and version information come after the choice, as the standard's steps have it (7.1): they are
        // light in it.
        let choices = (mask.map { [$0] } ?? QRMask.all).map { mask in
            let grid = unmasked.masked(by: mask, sparing: layout.reserved)
            return (mask: mask, grid: grid, penalty: grid.penalty)
        }
        let best = choices.dropFirst().reduce(choices[0]) { $1.penalty < $0.penalty ? $1 : $0 }
        self.mask = best.mask
        var grid = best.grid
        Self.write(Self.formatInformation(best.mask), to: &grid, layout.formatPlaces, 15)
        Self.write(Self.versionInformation(version), to: &grid, layout.versionPlaces, 18)
        grid[layout.darkPlace.x, layout.darkPlace.y] = true
        self.grid = grid
    }

    /// Modules of a side, without the quiet zone.
    public var size: Int { version.size }

    /// Light modules that must be around it (6.3.8).
    public static let quietZone = 4

    /// Whether a module is dark.
    /// - Parameters:
    ///   - x: the column, from the left, from 0.
    ///   - y: the row, from the top, from 0.
    public func isDark(_ x: Int, _ y: Int) -> Bool { grid[x, y] }

    /// Bits that remain behind the last codeword are light (7.7.3).
    private static func place(_ codewords: [UInt8], _ layout: QRLayout) -> ModuleGrid {
        var grid = layout.patterns
        var bit = 0
        layout.forEachDataPlace { x, y in
            if bit < 8 * codewords.count, codewords[bit / 8] >> (7 - bit % 8) & 1 == 1 { grid[x, y] = true }
            bit += 1
        }
        return grid
    }

    private static func write(
        _ bits: Int, to grid: inout ModuleGrid, _ places: (Int) -> [(x: Int, y: Int)], _ count: Int
    ) {
        for bit in 0..<count {
            for place in places(bit) { grid[place.x, place.y] = bits >> bit & 1 == 1 }
        }
    }

    /// Level M, which is 00, and the mask: 15 bits by a BCH code (7.9, annex C).
    static func formatInformation(_ mask: QRMask) -> Int {
        (mask.number << 10 | remainder(of: mask.number << 10, by: 0b101_0011_0111)) ^ 0b101_0100_0001_0010
    }

    /// The version's number: 18 bits by a Golay code (7.10, annex D).
    static func versionInformation(_ version: QRVersion) -> Int {
        version.number << 12 | remainder(of: version.number << 12, by: 0b1_1111_0010_0101)
    }

    /// The remainder of a division of polynomials over GF(2).
    private static func remainder(of dividend: Int, by divisor: Int) -> Int {
        let degree = { (polynomial: Int) in Int.bitWidth - polynomial.leadingZeroBitCount }
        var rest = dividend
        while degree(rest) >= degree(divisor) { rest ^= divisor << (degree(rest) - degree(divisor)) }
        return rest
    }
}
