/// The size of a symbol, 1 to 13, and its capacity at error correction level M.
///
/// Version 13 is the largest that is supported here: 69 modules can still be read well from a table's tent
/// card, and no printed URL is longer. [ours]
/// Source: ISO/IEC 18004:2015, tables 1, 7 and 9.
public struct QRVersion: Sendable, Hashable {
    /// From 1 to 13.
    public let number: Int

    /// The number of data codewords of each block, in the blocks' order.
    let dataLengths: [Int]

    /// The number of error correction codewords of each block.
    let correctionLength: Int

    private init(_ number: Int, _ correctionLength: Int, _ blocks: [(count: Int, length: Int)]) {
        self.number = number
        self.correctionLength = correctionLength
        dataLengths = blocks.flatMap { Array(repeating: $0.length, count: $0.count) }
    }

    /// Every version, the smallest first.
    public static let all = [
        QRVersion(1, 10, [(1, 16)]),
        QRVersion(2, 16, [(1, 28)]),
        QRVersion(3, 26, [(1, 44)]),
        QRVersion(4, 18, [(2, 32)]),
        QRVersion(5, 24, [(2, 43)]),
        QRVersion(6, 16, [(4, 27)]),
        QRVersion(7, 18, [(4, 31)]),
        QRVersion(8, 22, [(2, 38), (2, 39)]),
        QRVersion(9, 22, [(3, 36), (2, 37)]),
        QRVersion(10, 26, [(4, 43), (1, 44)]),
        QRVersion(11, 30, [(1, 50), (4, 51)]),
        QRVersion(12, 22, [(6, 36), (2, 37)]),
        QRVersion(13, 22, [(8, 37), (1, 38)]),
    ]

    static let largest = all[all.count - 1]

    /// Returns the smallest version that holds this number of bytes.
    static func smallest(for bytes: Int) throws(QRCodeError) -> QRVersion {
        guard let version = all.first(where: { $0.capacity >= bytes }) else {
            throw .tooLong(bytes: bytes)
        }
        return version
    }

    /// Modules of a side, without the quiet zone.
    public var size: Int { 17 + 4 * number }

    /// The maximum number of bytes that it holds.
    public var capacity: Int { (8 * dataLength - Self.modeLength - countLength) / 8 }

    /// Codewords of data in all blocks.
    var dataLength: Int { dataLengths.reduce(0, +) }

    /// In bits, of the indicator of byte mode.
    static let modeLength = 4

    /// In bits, of the number of bytes (table 3).
    var countLength: Int { number < 10 ? 8 : 16 }

    /// The centres of alignment patterns, on either axis (annex E), without those that would overlap a
    /// finder pattern.
    var alignment: [Int] {
        switch number {
        case 1: []
        case 2...6: [6, size - 7]
        default: [6, (size - 1) / 2, size - 7]
        }
    }
}
