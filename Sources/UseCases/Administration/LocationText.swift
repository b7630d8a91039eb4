import Foundation
import Geodesy
public import Invocation
public import Lookups

/// The text of a search for locations: a prefix of an identifier or a part of a name, without case.
public struct LocationText: Sendable {
    private let bytes: [UInt8]
    /// In small letters.
    private let small: [UInt8]
    private let isASCII: Bool
    /// In small letters, without accents.
    private let unaccented: [UInt8]

    public init(_ text: String) {
        bytes = Array(text.utf8)
        small = Array(text.lowercased().utf8)
        isASCII = bytes.allSatisfy { $0 < 0x80 }
        unaccented = Array(text.withoutAccents.utf8)
    }

    /// - Parameters: in UTF-8.
    public func finds(_ identifier: Span<UInt8>, _ name: Span<UInt8>) -> Bool {
        if identifier.count >= bytes.count, bytes.indices.allSatisfy({ identifier[$0] == bytes[$0] }) {
            return true
        }
        var isOfASCII = isASCII
        if isOfASCII {
            for index in name.indices where name[index] >= 0x80 { isOfASCII = false }
        }
        return isOfASCII ? isIn(name) : isIn(String(lowercasing: name).utf8.span)
    }

    /// Whether a name contains the text. Capital ASCII letters match small ones.
    private func isIn(_ name: Span<UInt8>) -> Bool {
        guard let first = small.first else { return true }
        var start = 0
        while start + small.count <= name.count {
            if name[start].lowercased == first {
                var length = 1
                while length < small.count, name[start + length].lowercased == small[length] { length += 1 }
                if length == small.count { return true }
            }
            start += 1
        }
        return false
    }

    /// The shortest text with a tolerated typo. [ours]
    private static let shortestWithTypo = 4

    /// Whether the text, with one wrong, missing, surplus or exchanged letter, begins at a word of the name. Case and accents do not
    /// count. False for texts of less than 4 letters.
    /// - Parameter name: in UTF-8.
    public func nearlyFinds(_ name: Span<UInt8>) -> Bool {
        guard small.count >= Self.shortestWithTypo else { return false }
        // Letters with accents have several bytes, so a byte is not a letter of such a name.
        guard isASCII, name.indices.allSatisfy({ name[$0] < 0x80 }) else {
            return String(copyingBytes: name).withoutAccents.utf8.span.nearlyContains(unaccented.span)
        }
        return name.nearlyContains(small.span)
    }

    /// The first locations of a table whose names ``nearlyFinds(_:)`` finds, sorted by identifier.
    public func similarPlaces(in table: TenantTable, limit: Int) -> [ListedLocation] {
        var (places, examined) = (SmallestLocations(limit: limit), 0)
        table.forEachLocation { region, identifier, name in
            examined += 1
            guard examined <= Self.mostExamined, places.takes(identifier), nearlyFinds(name),
                let place = ListedLocation(region, identifier, name)
            else { return }
            places.insert(place)
        }
        return places.places
    }

    /// The maximum number of locations that a search for typos examines. [ours]
    public static let mostExamined = 200_000

    /// The first matching locations of a table, sorted by identifier, after a given one; and the number of all matching ones.
    public func places(
        in table: TenantTable, after: LocationIdentifier?, limit: Int
    ) -> (first: [ListedLocation], count: Int) {
        var (places, count) = (SmallestLocations(limit: limit), 0)
        let after = after.map { Array($0.text.utf8) }
        table.forEachLocation { region, identifier, name in
            guard finds(identifier, name) else { return }
            count += 1
            guard after.map({ !identifier.precedes($0.span) && !identifier.equals($0.span) }) ?? true,
                places.takes(identifier), let place = ListedLocation(region, identifier, name)
            else { return }
            places.insert(place)
        }
        return (places.places, count)
    }
}

/// Collects the locations with the smallest identifiers, by their bytes.
struct SmallestLocations {
    private let limit: Int
    /// More locations than needed, unsorted. To sort them now and then is faster than to keep them sorted.
    private var gathered: [ListedLocation] = []
    /// Greater identifiers are not needed.
    private var last: LocationIdentifier?

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether a location with this identifier may be among the smallest.
    func takes(_ identifier: Span<UInt8>) -> Bool {
        last.map { identifier.precedes($0.text.utf8.span) } ?? true
    }

    mutating func insert(_ place: ListedLocation) {
        gathered.append(place)
        guard gathered.count >= 2 * limit + 1_000 else { return }
        gathered = places
        last = gathered.last?.identifier
    }

    /// Sorted by identifier.
    var places: [ListedLocation] {
        Array(
            gathered.sorted {
                $0.identifier.text.utf8.lexicographicallyPrecedes($1.identifier.text.utf8)
            }.prefix(limit))
    }
}

extension ListedLocation {
    /// Nil if the bytes are not valid for a location.
    init?(_ region: CircularRegion, _ identifier: Span<UInt8>, _ name: Span<UInt8>) {
        guard let identifier = try? LocationIdentifier(String(copyingBytes: identifier)),
            let name = try? DisplayName(stored: String(copyingBytes: name))
        else { return nil }
        self.init(identifier: identifier, name: name, region: region, lastConfirmationDay: nil)
    }
}

extension Span<UInt8> {
    /// Whether a text, with at most one edit, begins at a word of this one. An edit replaces, inserts or deletes a byte, or exchanges
    /// two bytes. Capital ASCII letters match small ones.
    fileprivate func nearlyContains(_ text: Span<UInt8>) -> Bool {
        var isWordStart = true
        for start in indices {
            let isLetter = self[start].isLetterOrDigit
            if isWordStart, isLetter, extracting(start..<count).nearlyBegins(with: text) { return true }
            isWordStart = !isLetter
        }
        return false
    }

    private func nearlyBegins(with text: Span<UInt8>) -> Bool {
        var common = 0
        while common < text.count, common < count, self[common].lowercased == text[common] { common += 1 }
        /// Whether the rest of the text, after some bytes, is at a position after the common part.
        func goesOn(after skipped: Int, at position: Int) -> Bool {
            let rest = text.count - common - skipped
            guard rest > 0 else { return true }
            guard common + position + rest <= count else { return false }
            return (0..<rest).allSatisfy {
                self[common + position + $0].lowercased == text[common + skipped + $0]
            }
        }
        if goesOn(after: 1, at: 1) || goesOn(after: 1, at: 0) || goesOn(after: 0, at: 1) { return true }
        return common + 1 < text.count && common + 1 < count
            && self[common].lowercased == text[common + 1] && self[common + 1].lowercased == text[common]
            && goesOn(after: 2, at: 2)
    }

    fileprivate func precedes(_ other: Span<UInt8>) -> Bool {
        for index in 0..<Swift.min(count, other.count) where self[index] != other[index] {
            return self[index] < other[index]
        }
        return count < other.count
    }

    fileprivate func equals(_ other: Span<UInt8>) -> Bool {
        count == other.count && !(0..<count).contains { self[$0] != other[$0] }
    }
}

extension String {
    /// - Parameter bytes: in UTF-8.
    public init(copyingBytes bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// In small letters, without accents.
    fileprivate var withoutAccents: String {
        folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    fileprivate init(lowercasing bytes: Span<UInt8>) {
        self = String(copyingBytes: bytes).lowercased()
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter or digit, or a part of another character.
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: false
        }
    }

    /// The small letter of a capital ASCII letter.
    fileprivate var lowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }
}
