import Formats

/// Reads the chunks of a PNG. Source: Portable Network Graphics, third edition (W3C), chapters 5 and 11.
struct PNGReader {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private var reader: ByteReader
    private var colourType: UInt8 = 0
    private var bitDepth: UInt8 = 0
    private var hasPalette = false
    private var data = Stage.before

    /// The chunks of pixels follow each other.
    private enum Stage { case before, within, after }

    init(_ reader: ByteReader) {
        self.reader = reader
    }

    mutating func check() throws(HeaderImageError) {
        _ = try reader.bytes(Self.signature.count)
        let (name, content) = try chunk()
        guard name == "IHDR" else { throw .malformed }
        try readHeader(content)
        while true {
            let (name, content) = try chunk()
            if name != "IDAT", data == .within { data = .after }
            switch name {
            case "IDAT":
                guard data != .after else { throw .malformed }
                if colourType == 3, !hasPalette { throw .missingPalette }
                if data == .before, content.isEmpty { continue }
                data = .within
            case "PLTE": try readPalette(content)
            case "tRNS": throw .alpha
            case "IHDR": throw .malformed
            case "IEND":
                guard content.isEmpty else { throw .malformed }
                guard data == .after else { throw .missingData }
                guard reader.isAtEnd else { throw .trailingBytes }
                return
            default:
                // A capital first letter marks a chunk that readers must not ignore.
                if let first = name.utf8.first, first & 0x20 == 0 { throw .unsupported }
            }
        }
    }

    private mutating func chunk() throws(HeaderImageError) -> (name: String, content: ArraySlice<UInt8>) {
        let length = try reader.number(4)
        guard length < 1 << 31 else { throw .malformed }
        let named = try reader.bytes(length + 4)
        guard CRC32.checksum(named) == UInt32(truncatingIfNeeded: try reader.number(4)) else {
            throw .wrongChecksum
        }
        let name = named.prefix(4)
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard name.allSatisfy({ letters.contains($0 | 0x20) && $0 >= 0x41 }) else { throw .malformed }
        return (String(decoding: name, as: UTF8.self), named.dropFirst(4))
    }

    private mutating func readHeader(_ content: ArraySlice<UInt8>) throws(HeaderImageError) {
        guard content.count == 13 else { throw .malformed }
        var fields = ByteReader(Array(content))
        let (width, height) = (try fields.number(4), try fields.number(4))
        (bitDepth, colourType) = (try fields.byte(), try fields.byte())
        let depths: [UInt8: [UInt8]] = [
            0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
        ]
        let (compression, filter, interlace) = (try fields.byte(), try fields.byte(), try fields.byte())
        guard depths[colourType]?.contains(bitDepth) == true, compression == 0, filter == 0, interlace <= 1
        else { throw .malformed }
        switch colourType {
        case 4, 6: throw .alpha
        case 0: throw .notRGB
        default: try HeaderImage.checkDimensions(width: width, height: height)
        }
    }

    private mutating func readPalette(_ content: ArraySlice<UInt8>) throws(HeaderImageError) {
        let entries = content.count / 3
        guard content.count.isMultiple(of: 3), data == .before, !hasPalette,
            (1...(colourType == 3 ? 1 << bitDepth : 256)).contains(entries)
        else { throw .malformed }
        hasPalette = true
    }
}
