import Geodesy

/// A cube of space. The cube around the Earth is divided into halves repeatedly, in each direction.
///
/// A 63-bit code names one of the smallest cubes, with three bits for each division. The codes of a larger cube are a range.
/// range of codes.
struct LocationCell {
    /// The number of divisions.
    let level: Int
    /// The cube's position among the cubes of this level.
    private let x: UInt64
    private let y: UInt64
    private let z: UInt64

    /// The smallest cubes have sides of 8 m.
    static let lastLevel = 21
    /// Half the side of the largest cube, in metres: larger than the Earth, and a power of two, so that
    /// sides are exact.
    private static let extent = 8_388_608.0

    /// The largest cube, which contains the Earth.
    static let whole = LocationCell(level: 0, x: 0, y: 0, z: 0)

    private init(level: Int, x: UInt64, y: UInt64, z: UInt64) {
        self.level = level
        self.x = x
        self.y = y
        self.z = z
    }

    /// The smallest cube that contains a position.
    init(of position: GeocentricPosition) {
        let side = Self.side(atLevel: Self.lastLevel)
        self.init(
            level: Self.lastLevel, x: UInt64((position.x + Self.extent) / side),
            y: UInt64((position.y + Self.extent) / side), z: UInt64((position.z + Self.extent) / side))
    }

    private static func side(atLevel level: Int) -> Double { 2 * extent / Double(1 << level) }

    /// The codes of the locations in the cube.
    var codes: ClosedRange<UInt64> {
        let shift = UInt64(3 * (Self.lastLevel - level))
        let first = (x.spreadThreefold << 2 | y.spreadThreefold << 1 | z.spreadThreefold) << shift
        return first...(first + (1 << shift) - 1)
    }

    /// Passes each of the eight parts to the closure; none at the last level.
    func forEachPart(_ body: (LocationCell) -> Void) {
        guard level < Self.lastLevel else { return }
        for part in 0..<8 as Range<UInt64> {
            body(
                LocationCell(
                    level: level + 1, x: x << 1 | part >> 2, y: y << 1 | part >> 1 & 1, z: z << 1 | part & 1))
        }
    }

    /// The length of the straight line from a position to the nearest point of the cube, in metres.
    func chord(from position: GeocentricPosition) -> Double {
        let side = Self.side(atLevel: level)
        func gap(_ number: UInt64, _ value: Double) -> Double {
            let lower = Double(number) * side - Self.extent
            return max(0, lower - value, value - lower - side)
        }
        let (x, y, z) = (gap(x, position.x), gap(y, position.y), gap(z, position.z))
        return (x * x + y * y + z * z).squareRoot()
    }
}

extension UInt64 {
    /// The lower 21 bits, spread so that each takes the space of three.
    fileprivate var spreadThreefold: UInt64 {
        var bits = self & 0x1F_FFFF
        bits = (bits | bits << 32) & 0x001F_0000_0000_FFFF
        bits = (bits | bits << 16) & 0x001F_0000_FF00_00FF
        bits = (bits | bits << 8) & 0x100F_00F0_0F00_F00F
        bits = (bits | bits << 4) & 0x10C3_0C30_C30C_30C3
        bits = (bits | bits << 2) & 0x1249_2492_4924_9249
        return bits
    }
}
