/// One of the eight patterns by which the modules of data are inverted, so that no symbol looks like its own finder patterns.
///
/// Source: ISO/IEC 18004:2015, 7.8.2, table 10.
public struct QRMask: Sendable, Hashable {
    /// From 0 to 7, as the standard's reference.
    public let number: Int

    /// Its rows, and since each repeats after twelve modules, the first twelve of them.
    private let rows: [UInt128]
    private let columns: [UInt128]

    /// Every mask, by number.
    public static let all = (0..<8).map(QRMask.init)

    private init(_ number: Int) {
        self.number = number
        let inverts = { Self.inverts(number, row: $0, column: $1) }
        rows = (0..<Self.period).map { row in Self.line { inverts(row, $0) } }
        columns = (0..<Self.period).map { column in Self.line { inverts($0, column) } }
    }

    private static let period = 12

    /// The modules that are inverted, in a row and in a column.
    func row(_ index: Int) -> UInt128 { rows[index % Self.period] }
    func column(_ index: Int) -> UInt128 { columns[index % Self.period] }

    private static func line(_ isInverted: (Int) -> Bool) -> UInt128 {
        (0..<UInt128.bitWidth).reduce(0) { $0 | (isInverted($1) ? 1 << $1 : 0) }
    }

    private static func inverts(_ number: Int, row i: Int, column j: Int) -> Bool {
        switch number {
        case 0: (i + j) % 2 == 0
        case 1: i % 2 == 0
        case 2: j % 3 == 0
        case 3: (i + j) % 3 == 0
        case 4: (i / 2 + j / 3) % 2 == 0
        case 5: i * j % 2 + i * j % 3 == 0
        case 6: (i * j % 2 + i * j % 3) % 2 == 0
        default: ((i + j) % 2 + i * j % 3) % 2 == 0
        }
    }

    public static func == (one: QRMask, other: QRMask) -> Bool { one.number == other.number }
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
