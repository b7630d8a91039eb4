extension QRSymbol {
    /// The codewords of a text in the order in which they are placed: data and error correction, of all blocks by turns
    /// (ISO/IEC 18004:2015, 7.4.5, 7.4.10, 7.5, 7.6).
    static func codewords(of text: [UInt8], _ version: QRVersion) -> [UInt8] {
        let data = dataCodewords(of: text, version)
        let code = ReedSolomon(length: version.correctionLength)
        var rest = data[...]
        let blocks = version.dataLengths.map { length in
            defer { rest = rest.dropFirst(length) }
            return rest.prefix(length)
        }
        return byTurns(blocks) + byTurns(blocks.map { code.correction(for: $0)[...] })
    }

    /// Byte mode: its indicator, the number of bytes, the bytes; then zeros to the end of a codeword, then padding.
    private static func dataCodewords(of text: [UInt8], _ version: QRVersion) -> [UInt8] {
        var codewords: [UInt8] = []
        codewords.reserveCapacity(version.dataLength)
        // Four bits precede all bytes: each byte is split into halves.
        var half: UInt8 = 0b0100
        let count =
            version.countLength == 8
            ? [UInt8(text.count)] : [UInt8(text.count >> 8), UInt8(text.count & 0xFF)]
        for byte in count + text {
            codewords.append(half << 4 | byte >> 4)
            half = byte & 0x0F
        }
        codewords.append(half << 4)
        for index in 0..<(version.dataLength - codewords.count) {
            codewords.append(index.isMultiple(of: 2) ? 0b1110_1100 : 0b0001_0001)
        }
        return codewords
    }

    /// The first of each block, then the second of each; a shorter block has no last one.
    private static func byTurns(_ blocks: [ArraySlice<UInt8>]) -> [UInt8] {
        let longest = blocks.map(\.count).max() ?? 0
        return (0..<longest).flatMap { index in
            blocks.compactMap { index < $0.count ? $0[$0.startIndex + index] : nil }
        }
    }
}
