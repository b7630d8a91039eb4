/// Error correction over the field of 256 elements (ISO/IEC 18004:2015, 7.5.2 and annex A).
struct ReedSolomon {
    /// The coefficients of the generator polynomial without the first, which is 1; the highest power first.
    private let generator: [UInt8]

    /// - Parameter length: The number of error correction codewords.
    init(length: Int) {
        var generator: [UInt8] = [1]
        for power in 0..<length {
            // Times (x − α^power); minus is plus here.
            let root = Self.power(power)
            generator = zip(generator + [0], [0] + generator.map { Self.product($0, root) }).map(^)
        }
        self.generator = Array(generator.dropFirst())
    }

    /// Returns the remainder of the data divided by the generator.
    func correction(for data: some Sequence<UInt8>) -> [UInt8] {
        var remainder = Array(repeating: 0 as UInt8, count: generator.count)
        let last = generator.count - 1
        for codeword in data {
            let factor = codeword ^ remainder[0]
            for index in 0..<last {
                remainder[index] = remainder[index + 1] ^ Self.product(generator[index], factor)
            }
            remainder[last] = Self.product(generator[last], factor)
        }
        return remainder
    }

    /// A power of α, from the zeroth.
    static func power(_ exponent: Int) -> UInt8 { powers[exponent % 255] }

    static func product(_ one: UInt8, _ other: UInt8) -> UInt8 {
        guard one != 0, other != 0 else { return 0 }
        return power(logarithms[Int(one)] + logarithms[Int(other)])
    }

    /// Powers of α = 2 modulo x⁸ + x⁴ + x³ + x² + 1.
    private static let powers: [UInt8] = sequence(first: 1 as UInt8) { element in
        element << 1 ^ (element & 0x80 == 0 ? 0 : 0x1D)
    }.prefix(255).map { $0 }

    /// The logarithms by element; 0 has none.
    private static let logarithms: [Int] = {
        var logarithms = Array(repeating: 0, count: 256)
        for (exponent, element) in powers.enumerated() { logarithms[Int(element)] = exponent }
        return logarithms
    }()
}
