/// Reads the segments of a JPEG. Source: ITU-T T.81, annex B.
struct JPEGReader {
    private var reader: ByteReader
    private var hasFrame = false
    private var hasScan = false

    init(_ reader: ByteReader) {
        self.reader = reader
    }

    mutating func check() throws(HeaderImageError) {
        _ = try reader.bytes(2)
        var marker = try nextMarker()
        while true {
            switch marker {
            case 0xD9:
                guard hasFrame, hasScan else { throw .missingData }
                guard reader.isAtEnd else { throw .trailingBytes }
                return
            case 0xC0, 0xC1, 0xC2: try readFrame(try segment())
            // Lossless, hierarchical or arithmetic.
            case 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: throw .unsupported
            // These markers have no content and must be inside coded data, or they are reserved.
            case 0x00...0xBF, 0xC8, 0xD0...0xD8, 0xDC: throw .malformed
            case 0xDA:
                guard hasFrame else { throw .malformed }
                _ = try segment()
                hasScan = true
                marker = try markerAfterScan()
                continue
            default: _ = try segment()
            }
            marker = try nextMarker()
        }
    }

    /// Reads a marker, which any number of 0xFF may precede.
    private mutating func nextMarker() throws(HeaderImageError) -> UInt8 {
        guard try reader.byte() == 0xFF else { throw .malformed }
        var marker = try reader.byte()
        while marker == 0xFF { marker = try reader.byte() }
        return marker
    }

    private mutating func segment() throws(HeaderImageError) -> ArraySlice<UInt8> {
        let length = try reader.number(2)
        guard length >= 2 else { throw .malformed }
        return try reader.bytes(length - 2)
    }

    private mutating func readFrame(_ content: ArraySlice<UInt8>) throws(HeaderImageError) {
        guard !hasFrame, content.count >= 6 else { throw .malformed }
        var fields = ByteReader(Array(content))
        let precision = try fields.byte()
        let (height, width) = (try fields.number(2), try fields.number(2))
        let components = Int(try fields.byte())
        guard content.count == 6 + 3 * components else { throw .malformed }
        guard precision == 8 else { throw .unsupported }
        guard components == 3 else { throw .notRGB }
        try HeaderImage.checkDimensions(width: width, height: height)
        hasFrame = true
    }

    /// Skips coded pixels, in which 0xFF is followed by a zero or by the number of a restart.
    private mutating func markerAfterScan() throws(HeaderImageError) -> UInt8 {
        while true {
            guard try reader.byte() == 0xFF else { continue }
            var marker = try reader.byte()
            while marker == 0xFF { marker = try reader.byte() }
            if marker != 0x00, !(0xD0...0xD7).contains(marker) { return marker }
        }
    }
}
