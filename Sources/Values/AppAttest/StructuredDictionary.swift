import Foundation

/// A reader for dictionaries of RFC 9651, which uses only their byte sequences.
struct StructuredDictionary {
    private let bytes: [UInt8]
    private var position = 0

    /// Returns the members: their bytes if they are byte sequences, nil for other types. Nil if the text is
    /// no dictionary.
    static func byteSequences(in text: String) -> [String: [UInt8]?]? {
        var reader = StructuredDictionary(bytes: Array(text.utf8))
        return reader.readDictionary()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// RFC 9651 §4.2 and §4.2.2.
    private mutating func readDictionary() -> [String: [UInt8]?]? {
        var members: [String: [UInt8]?] = [:]
        skip(" ")
        while next != nil {
            guard let key = readKey() else { return nil }
            var value: [UInt8]?
            if take("=") {
                guard let item = next == UInt8(ascii: "(") ? readInnerList() : readBareItem() else {
                    return nil
                }
                value = item.bytes
            }
            guard readParameters() else { return nil }
            members.updateValue(value, forKey: key)
            skip(" ", "\t")
            guard next != nil else { return members }
            guard take(",") else { return nil }
            skip(" ", "\t")
            guard next != nil else { return nil }
        }
        return members
    }

    /// A parsed item, of which only byte sequences keep their value.
    private struct Item {
        var bytes: [UInt8]?
    }

    /// RFC 9651 §4.2.1.2.
    private mutating func readInnerList() -> Item? {
        guard take("(") else { return nil }
        while true {
            skip(" ")
            if take(")") { return Item() }
            guard readBareItem() != nil, readParameters() else { return nil }
            guard next == UInt8(ascii: " ") || next == UInt8(ascii: ")") else { return nil }
        }
    }

    /// RFC 9651 §4.2.3.2.
    private mutating func readParameters() -> Bool {
        while take(";") {
            skip(" ")
            guard readKey() != nil else { return false }
            if take("=") {
                guard readBareItem() != nil else { return false }
            }
        }
        return true
    }

    /// RFC 9651 §4.2.3.3.
    private mutating func readKey() -> String? {
        guard let first = next, first == UInt8(ascii: "*") || Self.isLowercase(first) else { return nil }
        let key = readWhile { byte in
            Self.isLowercase(byte) || Self.isDigit(byte) || Array("_-.*".utf8).contains(byte)
        }
        return String(decoding: key, as: UTF8.self)
    }

    /// RFC 9651 §4.2.3.1.
    private mutating func readBareItem() -> Item? {
        guard let first = next else { return nil }
        switch first {
        case UInt8(ascii: ":"): return readByteSequence().map { Item(bytes: $0) }
        case UInt8(ascii: "\""): return readString() ? Item() : nil
        case UInt8(ascii: "?"):
            position += 1
            return take("0") || take("1") ? Item() : nil
        case UInt8(ascii: "@"):
            position += 1
            return readNumber(allowsFraction: false) ? Item() : nil
        case UInt8(ascii: "%"): return readDisplayString() ? Item() : nil
        case UInt8(ascii: "-"): return readNumber(allowsFraction: true) ? Item() : nil
        case _ where Self.isDigit(first): return readNumber(allowsFraction: true) ? Item() : nil
        case _ where first == UInt8(ascii: "*") || Self.isLetter(first):
            _ = readWhile { byte in
                Self.isLetter(byte) || Self.isDigit(byte) || Array("!#$%&'*+-.^_`|~:/".utf8).contains(byte)
            }
            return Item()
        default: return nil
        }
    }

    /// RFC 9651 §4.2.7, but strictly in the form of §4.1.8: padded, and unused bits zero. [ours]
    private mutating func readByteSequence() -> [UInt8]? {
        guard take(":") else { return nil }
        let text = readWhile { $0 != UInt8(ascii: ":") }
        guard take(":"), let data = Data(base64Encoded: Data(text)), data.base64EncodedData() == Data(text)
        else { return nil }
        return Array(data)
    }

    /// RFC 9651 §4.2.4: fifteen digits, or twelve with up to three after a point.
    private mutating func readNumber(allowsFraction: Bool) -> Bool {
        _ = take("-")
        let whole = readWhile(Self.isDigit).count
        guard allowsFraction, next == UInt8(ascii: ".") else { return (1...15).contains(whole) }
        position += 1
        return (1...12).contains(whole) && (1...3).contains(readWhile(Self.isDigit).count)
    }

    /// RFC 9651 §4.2.5.
    private mutating func readString() -> Bool {
        guard take("\"") else { return false }
        while let byte = next, (0x20...0x7E).contains(byte) {
            position += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\"), !take("\""), !take("\\") { return false }
        }
        return false
    }

    /// RFC 9651 §4.2.10.
    private mutating func readDisplayString() -> Bool {
        guard take("%"), take("\"") else { return false }
        var text: [UInt8] = []
        while let byte = next, (0x20...0x7E).contains(byte) {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self) != nil
            case UInt8(ascii: "%"):
                guard let high = readLowercaseHexDigit(), let low = readLowercaseHexDigit() else {
                    return false
                }
                text.append(high << 4 | low)
            default: text.append(byte)
            }
        }
        return false
    }

    private mutating func readLowercaseHexDigit() -> UInt8? {
        guard let byte = next, let digit = Array("0123456789abcdef".utf8).firstIndex(of: byte) else {
            return nil
        }
        position += 1
        return UInt8(digit)
    }
}

extension StructuredDictionary {
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skip(_ characters: Unicode.Scalar...) {
        while let next, characters.contains(Unicode.Scalar(next)) { position += 1 }
    }

    private mutating func readWhile(_ isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while let next, isWanted(next) { position += 1 }
        return bytes[start..<position]
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isLowercase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { isLowercase(byte | 0x20) }
}
