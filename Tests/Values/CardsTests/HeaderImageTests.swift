import Cards
import Formats
import PropertyTesting
import Testing

struct HeaderImageTests {
    private static func be(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The checksum, bit by bit, as the annex of the PNG specification describes it.
    private static func crc(_ bytes: [UInt8]) -> Int {
        var register: UInt32 = .max
        for byte in bytes {
            for bit in 0..<8 {
                let carry = (register ^ UInt32(byte >> bit)) & 1
                register = register >> 1 ^ (carry == 1 ? 0xEDB8_8320 : 0)
            }
        }
        return Int(~register)
    }

    private static func chunk(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
        let named = Array(name.utf8) + content
        return be(content.count, 4) + named + be(crc(named), 4)
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let pixels = chunk("IDAT", [0x78, 0x01])
    private static let end = chunk("IEND")

    private static func header(
        _ width: Int = 1_800, _ height: Int = 1_200, depth: UInt8 = 8, colour: UInt8 = 2,
        rest: [UInt8] = [0, 0, 0]
    ) -> [UInt8] {
        chunk("IHDR", be(width, 4) + be(height, 4) + [depth, colour] + rest)
    }

    private static func png(_ chunks: [UInt8]...) -> [UInt8] { signature + chunks.flatMap { $0 } }

    private static let good = png(header(), pixels, end)

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker] + be(content.count + 2, 2) + content
    }

    private static func frame(
        _ width: Int = 1_800, _ height: Int = 1_200, marker: UInt8 = 0xC0, components: Int = 3,
        precision: UInt8 = 8
    ) -> [UInt8] {
        segment(
            marker,
            [precision] + be(height, 2) + be(width, 2) + [UInt8(components)]
                + (0..<components).flatMap { [UInt8($0 + 1), 0x11, 0] })
    }

    private static let scan =
        segment(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]) + [0x12, 0xFF, 0x00, 0xFF, 0xD0, 0x34]

    private static func jpeg(_ parts: [UInt8]...) -> [UInt8] {
        [0xFF, 0xD8] + segment(0xE0, Array("JFIF\0".utf8)) + parts.flatMap { $0 } + [0xFF, 0xD9]
    }

    private static let goodJPEG = jpeg(frame(), scan)

    @Test func imagesThatAppleAcceptsAreAccepted() throws {
        let palette = Self.chunk("PLTE", [1, 2, 3])
        let pngs = [
            Self.good, Self.png(Self.header(depth: 16), Self.pixels, Self.pixels, Self.end),
            Self.png(Self.header(depth: 1, colour: 3), palette, Self.pixels, Self.end),
            Self.png(
                Self.header(), Self.chunk("tEXt", [1]), palette, Self.pixels, Self.chunk("tIME"), Self.end),
        ]
        for bytes in pngs { #expect(try HeaderImage(bytes).format == .png) }
        let jpegs = [
            Self.goodJPEG, Self.jpeg(Self.frame(marker: 0xC2), Self.scan, Self.segment(0xC4, []), Self.scan),
            Self.jpeg([0xFF, 0xFF], Self.segment(0xFE, []), Self.frame(), Self.scan),
        ]
        for bytes in jpegs { #expect(try HeaderImage(bytes).format == .jpeg) }
        #expect(try HeaderImage(Self.goodJPEG).byteCount == Self.goodJPEG.count)
    }

    static let refused: [(String, [UInt8], HeaderImageError)] = [
        ("nothing", [], .unknownFormat),
        ("a GIF", Array("GIF89a".utf8), .unknownFormat),
        ("a signature alone", signature, .truncated),
        ("no header", png(pixels, end), .malformed),
        ("two headers", png(header(), header(), pixels, end), .malformed),
        ("a short header", png(chunk("IHDR", [0])), .malformed),
        ("an impossible depth", png(header(depth: 4), pixels, end), .malformed),
        ("an unknown colour type", png(header(colour: 5), pixels, end), .malformed),
        ("an unknown interlacing", png(header(rest: [0, 0, 2]), pixels, end), .malformed),
        ("grey", png(header(colour: 0), pixels, end), .notRGB),
        ("grey with alpha", png(header(colour: 4), pixels, end), .alpha),
        ("colour with alpha", png(header(colour: 6), pixels, end), .alpha),
        ("a transparent colour", png(header(), chunk("tRNS", [0, 0, 0, 0, 0, 0]), pixels, end), .alpha),
        ("upright", png(header(1_200, 1_800), pixels, end), .wrongDimensions),
        ("the size of 2020", png(header(3_000, 2_000), pixels, end), .wrongDimensions),
        ("no palette", png(header(colour: 3), pixels, end), .missingPalette),
        (
            "a palette of 4 bytes", png(header(colour: 3), chunk("PLTE", [1, 2, 3, 4]), pixels, end),
            .malformed
        ),
        (
            "3 colours in 1 bit",
            png(header(depth: 1, colour: 3), chunk("PLTE", [UInt8](repeating: 0, count: 9)), pixels, end),
            .malformed
        ),
        ("a late palette", png(header(), pixels, chunk("PLTE", [1, 2, 3]), end), .malformed),
        ("no pixels", png(header(), end), .missingData),
        ("empty pixels", png(header(), chunk("IDAT"), end), .missingData),
        ("pixels in two places", png(header(), pixels, chunk("tEXt"), pixels, end), .malformed),
        ("no end", png(header(), pixels), .truncated),
        ("an end with content", png(header(), pixels, chunk("IEND", [1])), .malformed),
        ("bytes after the end", good + [0], .trailingBytes),
        ("an unknown critical chunk", png(header(), chunk("ABCD"), pixels, end), .unsupported),
        ("a chunk's name with a digit", png(header(), chunk("tE1t"), pixels, end), .malformed),
        ("a wrong checksum", good.dropLast() + [0], .wrongChecksum),
        ("a chunk of 4 GiB", png(header(), be(0xFFFF_FFFF, 4), Array("IDAT".utf8)), .malformed),
        ("a chunk of 2 GiB", png(header(), be(0x7FFF_FFFF, 4), Array("IDAT".utf8)), .truncated),
        ("a grey JPEG", jpeg(frame(components: 1), scan), .notRGB),
        ("a CMYK JPEG", jpeg(frame(components: 4), scan), .notRGB),
        ("a small JPEG", jpeg(frame(900, 600), scan), .wrongDimensions),
        ("a lossless JPEG", jpeg(frame(marker: 0xC3), scan), .unsupported),
        ("an arithmetic JPEG", jpeg(frame(marker: 0xC9), scan), .unsupported),
        ("12 bits", jpeg(frame(precision: 12), scan), .unsupported),
        ("two frames", jpeg(frame(), frame(), scan), .malformed),
        ("a scan without frame", jpeg(scan), .malformed),
        ("a frame without scan", jpeg(frame()), .missingData),
        ("a segment without length", [0xFF, 0xD8, 0xFF, 0xE0, 0, 1], .malformed),
        ("a cut JPEG", goodJPEG.dropLast(), .truncated),
        ("a JPEG with a tail", goodJPEG + [0xFF], .trailingBytes),
        ("no marker", [0xFF, 0xD8, 0xFF, 0xE0, 0, 2, 0], .malformed),
        ("too much", good + [UInt8](repeating: 0, count: HeaderImage.maximumByteCount), .tooLarge),
    ]

    @Test(arguments: refused.indices) func invalidImageIsRejectedWithItsReason(index: Int) {
        let (name, bytes, expected) = Self.refused[index]
        #expect(throws: expected, "\(name)") { try HeaderImage(bytes) }
    }

    @Test func everyErrorCaseIsTested() {
        #expect(Set(Self.refused.map(\.2)) == Set(HeaderImageError.allCases))
    }

    /// A checksum finds every change of one byte, so that a PNG with one is never taken.
    @Test func pngWithFlippedBitIsRejected() {
        for index in Self.good.indices {
            for bit in 0..<8 {
                var bytes = Self.good
                bytes[index] ^= 1 << bit
                #expect(throws: HeaderImageError.self) { try HeaderImage(bytes) }
            }
        }
    }

    @Test func truncatedImageIsRejected() {
        for whole in [Self.good, Self.goodJPEG] {
            for count in whole.indices {
                #expect(throws: HeaderImageError.self) { try HeaderImage(Array(whole.prefix(count))) }
            }
        }
    }

    @Test(arguments: 0..<50) func randomlyChangedImageDoesNotTrap(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for whole in [Self.good, Self.goodJPEG] {
            for _ in 0..<200 {
                var bytes = whole
                for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
                if let image = try? HeaderImage(bytes) { #expect(image.byteCount == bytes.count) }
            }
        }
    }

    /// By coreutils' `sha256sum` and `md5sum`.
    @Test func digestsMatchReferenceTools() throws {
        let image = try HeaderImage(Self.good)
        #expect(Base16.text(Self.good) == Self.goodText)
        #expect(
            image.digest.description == "5c7a4b855ac7b11f340907133386dc4ad00e2c5bc4ad7779326d3a8be85bb215")
        #expect(image.md5 == "27135bd28bca1b30a36a656bd33e6dde")
        #expect(try ImageDigest(image.digest.description.uppercased()) == image.digest)
    }

    /// By Python's `struct` and `zlib.crc32`.
    private static let goodText =
        "89504e470d0a1a0a0000000d4948445200000708000004b008020000006080895400000002494441547801ec1a"
        + "7ed20000000049454e44ae426082"
}
