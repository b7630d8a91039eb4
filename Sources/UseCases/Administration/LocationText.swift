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
    private let letters: [Unicode.Scalar]

    public init(_ text: String) {
        bytes = Array(text.utf8)
        small = Array(text.lowercased().utf8)
        isASCII = bytes.allSatisfy { $0 < 0x80 }
        letters = Array(text.withoutAccents.unicodeScalars)
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
        guard letters.count >= Self.shortestWithTypo else { return false }
        let isASCII = name.indices.allSatisfy { name[$0] < 0x80 }
        return Letters(
            isASCII
                ? name.indices.map { Unicode.Scalar(name[$0].lowercased) }
                : Array(String(copyingBytes: name).withoutAccents.unicodeScalars)
        ).nearlyContain(letters)
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

/// The letters of a name, in small letters.
private struct Letters {
    private let all: [Unicode.Scalar]

    init(_ all: [Unicode.Scalar]) {
        self.all = all
    }

    /// Whether a text, with at most one edit, begins at a word of the name. An edit replaces, inserts or deletes a letter, or exchanges
    /// two letters.
    func nearlyContain(_ text: [Unicode.Scalar]) -> Bool {
        var isWordStart = true
        for start in all.indices {
            let isLetter = all[start].properties.isAlphabetic || all[start].properties.numericType != nil
            if isWordStart, isLetter, Self.begins(all[start...], with: text) { return true }
            isWordStart = !isLetter
        }
        return false
    }

    private static func begins(_ name: ArraySlice<Unicode.Scalar>, with text: [Unicode.Scalar]) -> Bool {
        var common = 0
        while common < text.count, common < name.count, name[name.startIndex + common] == text[common] {
            common += 1
        }
        let (rest, others) = (name.dropFirst(common), text.dropFirst(common))
        /// Whether the rest of the text begins the rest of the name, each without its first letters.
        func goesOn(without ofText: Int, _ ofName: Int) -> Bool {
            rest.count >= ofName && rest.dropFirst(ofName).starts(with: others.dropFirst(ofText))
        }
        if others.isEmpty || goesOn(without: 1, 1) || goesOn(without: 1, 0) || goesOn(without: 0, 1) {
            return true
        }
        return rest.count > 1 && others.count > 1 && rest.prefix(2).elementsEqual(others.prefix(2).reversed())
            && goesOn(without: 2, 2)
    }
}

extension Span<UInt8> {
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
    /// The small letter of a capital ASCII letter.
    fileprivate var lowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }
}
