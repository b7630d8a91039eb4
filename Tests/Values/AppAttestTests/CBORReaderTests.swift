import Formats
import Testing

@testable import AppAttest

@Suite struct CBORReaderTests {
    /// The examples of RFC 8949, Appendix A, that belong to the supported subset.
    @Test(
        arguments: [
            ("00", .integer(0)), ("17", .integer(23)), ("1818", .integer(24)), ("1903e8", .integer(1_000)),
            ("1a000f4240", .integer(1_000_000)), ("1b000000e8d4a51000", .integer(1_000_000_000_000)),
            ("20", .integer(-1)), ("3863", .integer(-100)), ("3903e7", .integer(-1_000)),
            ("3b7fffffffffffffff", .integer(.min)), ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])),
            ("60", .text("")), ("6449455446", .text("IETF")), ("62c3bc", .text("ü")), ("80", .array([])),
            ("83010203", .array([.integer(1), .integer(2), .integer(3)])), ("a0", .map([:])),
            ("a201020304", .map([1: .integer(2), 3: .integer(4)])),
            ("a26161016162820203", .map(["a": .integer(1), "b": .array([.integer(2), .integer(3)])])),
        ] as [(String, CBORValue)])
    func rfc8949ExampleIsDecoded(_ text: String, _ value: CBORValue) throws {
        #expect(try CBORReader.value(#require(Base16.bytes(text))) == value)
    }

    @Test func mapKeysAreAcceptedInAnyOrder() throws {
        let one = try CBORReader.value(#require(Base16.bytes("a2616101616202")))
        #expect(try CBORReader.value(#require(Base16.bytes("a2616202616101"))) == one)
    }

    @Test func nonMinimalLengthIsAccepted() throws {
        #expect(try CBORReader.value([0x5B, 0, 0, 0, 0, 0, 0, 0, 1, 9]) == .bytes([9]))
    }

    @Test(
        arguments: [
            ("", .truncated), ("18", .truncated), ("1900", .truncated), ("1a000000", .truncated),
            ("1b00000000000000", .truncated), ("41", .truncated),
            ("6261", .truncated),
            ("5bffffffffffffffff", .truncated), ("5b7fffffffffffffff00", .truncated),
            ("7bffffffffffffffff61", .truncated), ("5affffffff00", .truncated), ("0000", .trailingBytes),
            ("a000", .trailingBytes), ("8101f6", .trailingBytes), ("82", .truncated), ("8201", .truncated),
            ("a1", .truncated), ("a101", .truncated), ("9bffffffffffffffff", .tooManyEntries),
            ("bbffffffffffffffff", .tooManyEntries), ("91", .tooManyEntries), ("b1", .tooManyEntries),
            ("98110000000000000000000000000000000000", .tooManyEntries), ("5f4101ff", .indefiniteLength),
            ("7f6161ff", .indefiniteLength), ("9f01ff", .indefiniteLength), ("bf0102ff", .indefiniteLength),
            ("1f", .indefiniteLength), ("1c", .unsupportedType), ("1d", .unsupportedType),
            ("1e", .unsupportedType),
            ("5c", .unsupportedType), ("c100", .unsupportedType), ("d818456449455446", .unsupportedType),
            ("f4", .unsupportedType), ("f6", .unsupportedType), ("f90000", .unsupportedType),
            ("fb3ff0000000000000", .unsupportedType), ("ff", .unsupportedType), ("81f6", .unsupportedType),
            ("8181818100", .tooDeep), ("a101a101a101a10101", .tooDeep), ("a201000100", .duplicateKey),
            ("a20100180100", .duplicateKey), ("a2616100616100", .duplicateKey), ("a1410000", .keyType),
            ("a1800000", .keyType), ("a1a00000", .keyType), ("61ff", .invalidText), ("62c080", .invalidText),
            ("63eda080", .invalidText), ("1b8000000000000000", .integerTooLarge),
            ("3bffffffffffffffff", .integerTooLarge),
        ] as [(String, AttestationRefusal.Format)])
    func invalidInputIsRejected(_ text: String, _ detail: AttestationRefusal.Format) {
        #expect(throws: AttestationRefusal.format(detail)) {
            try CBORReader.value(#require(Base16.bytes(text)))
        }
    }

    /// The most expensive inputs of a size: a long string, keys that differ only in their last byte, and many levels.
    private static func costly(_ size: Int) -> [[UInt8]] {
        func head(_ initial: UInt8, _ length: Int) -> [UInt8] {
            [initial, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        }
        var keys: [UInt8] = [0xB0]
        for index in 0..<16 as Range<UInt8> {
            keys += head(0x79, size / 16) + [UInt8](repeating: 0x61, count: size / 16 - 1)
            keys += [0x61 + index, 0]
        }
        let text = head(0x79, size) + [UInt8](repeating: 0x61, count: size)
        return [text, keys, [UInt8](repeating: 0x90, count: size)]
    }

    @Test(arguments: [256, 1_024, 4_096, 16_384]) func readerVisitsEachByteOnce(_ size: Int) {
        for bytes in Self.costly(size) {
            var reader = CBORReader(bytes)
            _ = try? reader.item()
            #expect(reader.steps + reader.rest.count == bytes.count)
        }
    }

    @Test(arguments: [0x1B, 0x3B, 0x5B, 0x7B, 0x9B, 0xBB] as [UInt8])
    func declaredLengthIsNotTrusted(_ initial: UInt8) {
        var reader = CBORReader([initial] + [UInt8](repeating: 0xFF, count: 16))
        #expect(throws: AttestationRefusal.self) { try reader.item() }
        #expect(reader.steps == 9)
    }
}
