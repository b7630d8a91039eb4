import Formats
import Foundation

/// Files with the valid header of an image. They cannot be decoded.
public enum HeaderPicture {
    /// - Parameters:
    /// - seed: Different seeds make different files of the same size.
    /// - pixelCount: The number of additional bytes.
    public static func png(
        width: Int = 1_800, height: Int = 1_200, hasAlpha: Bool = false, seed: Int = 0, pixelCount: Int = 0
    ) -> [UInt8] {
        let header = number(width) + number(height) + [8, hasAlpha ? 6 : 2, 0, 0, 0]
        let pixels =
            Array("pixels \(seed)".utf8) + (0..<pixelCount).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
            + chunk("IDAT", pixels) + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + content
        return number(content.count) + named + number(Int(CRC32.checksum(named)))
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
