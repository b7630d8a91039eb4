import PropertyTesting
import Testing

@testable import Codes

struct QRSymbolTests {
    private static func text(_ length: Int) -> String { String(repeating: "a", count: length) }

    @Test(arguments: zip(1...13, [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331]))
    func versionHasStandardCapacity(number: Int, capacity: Int) throws {
        #expect(try QRSymbol(Self.text(capacity)).version.number == number)
        if number < 13 { #expect(try QRSymbol(Self.text(capacity + 1)).version.number == number + 1) }
        #expect(try QRSymbol(Self.text(capacity)).size == 17 + 4 * number)
    }

    @Test func overlongOrNonASCIITextIsRejected() {
        #expect(throws: QRCodeError.tooLong(bytes: 332)) { try QRSymbol(Self.text(332)) }
        #expect(throws: QRCodeError.notASCII) { try QRSymbol("https://example.com/é") }
        #expect(
            "\(QRCodeError.tooLong(bytes: 332))" == "the text has 332 bytes; a QR code has at most 331")
    }

    /// ISO/IEC 18004:2015, table C.1, level M.
    @Test(
        arguments: zip(
            0...7, [0x5412, 0x5125, 0x5E7C, 0x5B4B, 0x45F9, 0x40CE, 0x4F97, 0x4AA0]))
    func formatInformationMatchesStandard(mask: Int, bits: Int) throws {
        #expect(QRSymbol.formatInformation(QRMask.all[mask]) == bits)
        let symbol = try QRSymbol("a", mask: QRMask.all[mask])
        let last = symbol.size - 1
        // Both are read from the most significant bit on, around the upper left finder, and beside the two others.
        let around = [0, 1, 2, 3, 4, 5, 7, 8].map { ($0, 8) } + [7, 5, 4, 3, 2, 1, 0].map { (8, $0) }
        let beside = (0..<7).map { (8, last - $0) } + (0..<8).map { (last - 7 + $0, 8) }
        for places in [around, beside] {
            #expect(places.reduce(0) { $0 << 1 | (symbol.isDark($1.0, $1.1) ? 1 : 0) } == bits)
        }
    }

    /// ISO/IEC 18004:2015, table D.1.
    @Test(arguments: zip(7...13, [0x07C94, 0x085BC, 0x09A99, 0x0A4D3, 0x0BBF6, 0x0C762, 0x0D847]))
    func versionInformationMatchesStandard(number: Int, bits: Int) throws {
        let version = QRVersion.all[number - 1]
        #expect(QRSymbol.versionInformation(version) == bits)
        let symbol = try QRSymbol(Self.text(version.capacity))
        var (below, beside) = (0, 0)
        for long in (0..<6).reversed() {
            for short in (0..<3).reversed() {
                let far = symbol.size - 11 + short
                below = below << 1 | (symbol.isDark(long, far) ? 1 : 0)
                beside = beside << 1 | (symbol.isDark(far, long) ? 1 : 0)
            }
        }
        #expect(below == bits && beside == bits)
    }

    /// ISO/IEC 18004:2015, annex I: the codewords of "01234567" in version 1-M.
    @Test func errorCorrectionMatchesStandard() {
        let data: [UInt8] = [
            0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11,
        ]
        #expect(
            ReedSolomon(length: 10).correction(for: data)
                == [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55])
    }

    @Test(arguments: QRVersion.all)
    func functionPatternsAreAtStandardPositions(version: QRVersion) throws {
        let symbol = try QRSymbol(Self.text(version.capacity))
        let far = symbol.size - 7
        let finder = ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"]
        for (left, top) in [(0, 0), (far, 0), (0, far)] {
            #expect(Self.picture(of: symbol, left, top, 7) == finder)
        }
        for index in 8..<(symbol.size - 8) {
            #expect(symbol.isDark(index, 6) == index.isMultiple(of: 2))
            #expect(symbol.isDark(6, index) == index.isMultiple(of: 2))
        }
        for index in 0..<8 {
            #expect(!symbol.isDark(7, index) && !symbol.isDark(index, 7))
            #expect(!symbol.isDark(far - 1, index) && !symbol.isDark(index, far - 1))
        }
        #expect(symbol.isDark(8, 4 * version.number + 9))
        let alignment = ["#####", "#...#", "#.#.#", "#...#", "#####"]
        if version.number >= 2 {
            #expect(Self.picture(of: symbol, far - 2, far - 2, 5) == alignment)
        }
        if version.number >= 7 {
            let middle = symbol.size / 2
            for (x, y) in [(middle, 6), (6, middle), (middle, middle), (middle, far), (far, middle)] {
                #expect(Self.picture(of: symbol, x - 2, y - 2, 5) == alignment)
            }
        }
    }

    private static func picture(of symbol: QRSymbol, _ left: Int, _ top: Int, _ size: Int) -> [String] {
        (top..<top + size).map { y in
            String((left..<left + size).map { symbol.isDark($0, y) ? "#" as Character : "." })
        }
    }

    /// Reads symbols as a reader does, from the modules, and looks for errors in each block.
    @Test func encodedTextIsReadBack() throws {
        var generator = SplitMix64(seed: 18_004)
        for _ in 0..<200 {
            let length = generator.below(332)
            let text = String(
                decoding: (0..<length).map { _ in UInt8(generator.below(0x80)) }, as: UTF8.self)
            let symbol = try QRSymbol(text, mask: generator.oneIn(2) ? nil : generator.pick(QRMask.all))
            #expect(try Self.read(symbol) == text)
        }
    }

    private static func read(_ symbol: QRSymbol) throws -> String {
        let layout = QRLayout(symbol.version)
        var bits: [Bool] = []
        layout.forEachDataPlace { x, y in
            bits.append(symbol.isDark(x, y) != (symbol.mask.row(y) >> x & 1 == 1))
        }
        let codewords = stride(from: 0, through: bits.count - 8, by: 8).map { start in
            bits[start..<start + 8].reduce(0 as UInt8) { $0 << 1 | ($1 ? 1 : 0) }
        }
        let lengths = symbol.version.dataLengths
        var (blocks, next) = (lengths.map { _ in [UInt8]() }, 0)
        for index in 0..<(lengths.max() ?? 0) {
            for block in blocks.indices where index < lengths[block] {
                blocks[block].append(codewords[next])
                next += 1
            }
        }
        let data = blocks.flatMap { $0 }
        for _ in 0..<symbol.version.correctionLength {
            for block in blocks.indices {
                blocks[block].append(codewords[next])
                next += 1
            }
        }
        #expect(next == codewords.count)
        for block in blocks {
            for root in 0..<symbol.version.correctionLength {
                let power = ReedSolomon.power(root)
                #expect(block.reduce(0) { ReedSolomon.product($0, power) ^ $1 } == 0)
            }
        }
        #expect(data[0] >> 4 == 0b0100)
        let bytes = zip(data, data.dropFirst()).map { $0 << 4 | $1 >> 4 }
        let isShort = symbol.version.number < 10
        let start = isShort ? 1 : 2
        let count = isShort ? Int(bytes[0]) : Int(bytes[0]) << 8 | Int(bytes[1])
        return String(decoding: bytes[start..<start + count], as: UTF8.self)
    }

    @Test func maskWithLowestPenaltyIsChosen() throws {
        for length in [1, 40, 200] {
            let text = Self.text(length)
            let chosen = try QRSymbol(text)
            let layout = QRLayout(chosen.version)
            // Without format and version information, which follow the choice.
            let points = try QRMask.all.map { mask in
                var grid = try QRSymbol(text, mask: mask).grid
                let later =
                    (0..<15).flatMap(layout.formatPlaces) + (0..<18).flatMap(layout.versionPlaces)
                    + [layout.darkPlace]
                for place in later { grid[place.x, place.y] = false }
                return PlainPenalty.points(of: grid)
            }
            #expect(points[chosen.mask.number] == points.min())
        }
    }

    @Test func penaltyMatchesPlainImplementation() {
        var generator = SplitMix64(seed: 11)
        for _ in 0..<200 {
            var grid = ModuleGrid(size: generator.pick(QRVersion.all).size)
            let share = 1 + generator.below(5)
            for y in 0..<grid.size {
                for x in 0..<grid.size { grid[x, y] = generator.oneIn(share) }
            }
            // Some that look like a finder's, also at the edges and over each other.
            for _ in 0..<20 {
                let (start, y) = (generator.below(grid.size - 10), generator.below(grid.size))
                let dark = [0, 2, 3, 4, 6, 8, 9, 10]
                for step in 0..<11 {
                    grid[start + step, y] = dark.contains(step)
                    grid[y, start + step] = dark.contains(step)
                }
            }
            #expect(grid.penalty == PlainPenalty.points(of: grid))
        }
    }

    @Test func svgDrawsDarkModulesAsOnePathInQuietZone() throws {
        let symbol = try QRSymbol("https://a.example")
        #expect(
            symbol.svg.hasPrefix(
                """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 33 33" shape-rendering="crispEdges">\
                <rect width="33" height="33" fill="#fff"/><path d="M4 4h7v1h-7z
                """))
        #expect(symbol.svg.hasSuffix("z\"/></svg>\n"))
        let runs = symbol.path.matches(of: /M(\d+) (\d+)h(\d+)v1h-(\d+)z/)
        #expect(runs.map { String($0.output.0) }.joined() == symbol.path)
        var drawn: Set<[Int]> = []
        for run in runs {
            let (x, y, width) = (Int(run.output.1) ?? 0, Int(run.output.2) ?? 0, Int(run.output.3) ?? 0)
            #expect(run.output.3 == run.output.4)
            for step in 0..<width { drawn.insert([x + step - 4, y - 4]) }
        }
        let dark = (0..<symbol.size).flatMap { y in
            (0..<symbol.size).filter { symbol.isDark($0, y) }.map { [$0, y] }
        }
        #expect(drawn == Set(dark))
    }
}
