public import Cards
public import Formats
public import Foundation
import Invocation

/// The values from which an item is made: a JSON object, a row of CSV or a row of the database.
///
/// An item's initializer reads each of its fields once, by its name in JSON. The error for a wrong value names the
/// field as its source does: the JSON member, the CSV column or the column of the database.
public protocol FieldValues {
    /// The values of fields; nil if the source does not have the field.
    mutating func optionalText(_ field: String) throws -> String?
    mutating func optionalNumber(_ field: String) throws -> Double?
    mutating func optionalInteger(_ field: String) throws -> Int?
    mutating func optionalFlag(_ field: String) throws -> Bool?
    mutating func optionalDate(_ field: String) throws -> Date?
    mutating func optionalMembers(_ field: String) throws -> JSONObject?
    /// Texts in a JSON array. Other sources have no such fields.
    mutating func optionalList(_ field: String) throws -> [String]?
    /// The card; an empty one if the source does not have it.
    mutating func card() throws -> Card

    /// Whether the values come from the database, which may hold values of older versions.
    var isStored: Bool { get }
    /// The field's name in the source.
    func name(of field: String) -> String
    func missing(_ field: String) -> any Error
    /// The error for a text that is not one of a field's choices.
    func invalidChoice(_ field: String, _ choices: [String]) -> any Error
}

extension FieldValues {
    public mutating func optionalList(_ field: String) throws -> [String]? { nil }
    public mutating func text(_ field: String) throws -> String { try present(optionalText(field), field) }
    public mutating func number(_ field: String) throws -> Double {
        try present(optionalNumber(field), field)
    }
    public mutating func integer(_ field: String) throws -> Int { try present(optionalInteger(field), field) }
    public mutating func flag(_ field: String) throws -> Bool { try present(optionalFlag(field), field) }
    public mutating func date(_ field: String) throws -> Date { try present(optionalDate(field), field) }
    public mutating func members(_ field: String) throws -> JSONObject {
        try present(optionalMembers(field), field)
    }

    /// Makes a value of a text.
    /// - Throws: ``RowRefusal``, which names the field, with the error of the closure.
    public mutating func text<Value, Failure: Error & CustomStringConvertible>(
        _ field: String, _ make: (String) throws(Failure) -> Value
    ) throws -> Value {
        let text = try text(field)
        return try naming(field) { () throws(Failure) in try make(text) }
    }

    /// Makes a value of a text that may be absent.
    public mutating func optionalText<Value, Failure: Error & CustomStringConvertible>(
        _ field: String, _ make: (String) throws(Failure) -> Value
    ) throws -> Value? {
        guard let text = try optionalText(field) else { return nil }
        return try naming(field) { () throws(Failure) in try make(text) }
    }

    public mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ field: String, of type: Value.Type
    ) throws -> Value {
        try present(optionalChoice(field, of: type), field)
    }

    public mutating func optionalChoice<Value: RawRepresentable<String> & CaseIterable>(
        _ field: String, of _: Value.Type
    ) throws -> Value? {
        guard let text = try optionalText(field) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw invalidChoice(field, Value.allCases.map(\.rawValue))
        }
        return value
    }

    /// A name for people to read. Stored names from older versions may be blank.
    mutating func optionalDisplayName(_ field: String) throws -> DisplayName? {
        let isStored = isStored
        return try optionalText(field) { text throws(DisplayName.Refusal) in
            isStored ? try DisplayName(stored: text) : try DisplayName(text)
        }
    }

    mutating func displayName(_ field: String) throws -> DisplayName {
        try present(optionalDisplayName(field), field)
    }

    /// Names a field in the error that a closure throws.
    func naming<Value, Failure: Error & CustomStringConvertible>(
        _ field: String, _ body: () throws(Failure) -> Value
    ) throws -> Value {
        try RowRefusal.naming(name(of: field), body)
    }

    /// Names a field in the error that a closure throws.
    /// - Parameter field: Returns the field that an error refers to.
    func naming<Value, Failure: Error & CustomStringConvertible>(
        _ field: (Failure) -> String, _ body: () throws(Failure) -> Value
    ) throws -> Value {
        try RowRefusal.naming({ name(of: field($0)) }, body)
    }

    /// Refuses an identifier that people could confuse with another one. Stored identifiers are accepted.
    func requireVisibleEdges(_ text: String, in field: String) throws {
        if !isStored { try text.requireVisibleEdges(in: name(of: field)) }
    }

    private func present<Value>(_ value: Value?, _ field: String) throws -> Value {
        guard let value else { throw missing(field) }
        return value
    }
}

/// The members of a JSON object as values of fields.
struct JSONFieldValues: FieldValues {
    var reader: JSONObjectReader

    let isStored = false

    mutating func optionalText(_ field: String) throws -> String? { try reader.optionalString(field) }
    mutating func optionalNumber(_ field: String) throws -> Double? { try reader.optionalDouble(field) }
    mutating func optionalInteger(_ field: String) throws -> Int? { try reader.optionalInteger(field) }
    mutating func optionalFlag(_ field: String) throws -> Bool? { try reader.optionalBool(field) }
    mutating func optionalDate(_ field: String) throws -> Date? { try reader.optionalDate(field) }
    mutating func optionalMembers(_ field: String) throws -> JSONObject? { try reader.optionalMembers(field) }
    mutating func optionalList(_ field: String) throws -> [String]? { try reader.optionalTexts(field) }
    mutating func card() throws -> Card { try reader.card() }

    func name(of field: String) -> String { field }
    func missing(_ field: String) -> any Error { JSONFieldError.missing(path: reader.path(of: field)) }
    func invalidChoice(_ field: String, _ choices: [String]) -> any Error {
        JSONFieldError.invalid(
            path: reader.path(of: field), reason: "must be one of \(choices.joined(separator: ", "))")
    }
}
