import Administration
import Formats
import Foundation
import Invocation
import Tenancy

/// The form fields of a new key.
struct KeyDraft {
    var name = ""
    var kind = KeyKind.publishable
    var scopes = Scopes()
    var locations = ""
    var lifetime = ""
    var errors: [String: String] = [:]

    init() {}

    init(_ fields: FormFields) {
        name = fields["name"]?.trimmingCharacters(in: .whitespaces) ?? ""
        kind = fields["kind"].flatMap(KeyKind.init(rawValue:)) ?? .publishable
        scopes = Scopes(Scope.allCases.filter { fields.has("scope.\($0.rawValue)") }.map(Scopes.init))
        locations = fields["locations"] ?? ""
        lifetime = fields["days"] ?? ""
    }

    private var texts: [String] {
        locations.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    /// Nil for a key that is not restricted to locations.
    var identifiers: Set<LocationIdentifier>? {
        let identifiers = texts.compactMap { text in try? LocationIdentifier(text) }
        return identifiers.isEmpty ? nil : Set(identifiers)
    }

    /// Nil for a key without a name.
    var displayName: DisplayName? { try? DisplayName(name) }

    /// Nil for a key that does not expire.
    var days: Double? { Double(decimal: lifetime) }

    /// The key's scopes, empty for the defaults. If a field is invalid, sets ``errors`` and returns nil.
    mutating func checked() -> Scopes? {
        if !name.isEmpty, displayName == nil { errors["name"] = DisplayName.hint }
        if !kind.scopes.isSuperset(of: scopes) {
            let allowed = kind.scopes.list.map(\.rawValue).joined(separator: ", ")
            errors["scopes"] = "A \(kind.rawValue) key can have only these scopes: \(allowed)."
        }
        let counts = KeyRecord.locationCounts
        if !texts.isEmpty {
            if identifiers?.count != texts.count || !counts.contains(texts.count) {
                errors["locations"] =
                    "Enter \(counts.lowerBound) to \(counts.upperBound) location identifiers, each once."
            } else if kind != .secret {
                errors["locations"] = "A \(kind.rawValue) key cannot be restricted to locations."
            } else if !kind.scopesAtLocations.isSuperset(of: scopes) {
                let allowed = kind.scopesAtLocations.list.map(\.rawValue).joined(separator: ", ")
                errors["scopes"] =
                    "A key that is restricted to locations can have only these scopes: \(allowed)."
            }
        }
        if !lifetime.isEmpty, !(days.map { $0 > 0 && APIKey.lifetimes.contains($0) } ?? false) {
            errors["days"] = "Enter a number above 0 and at most 36500, or leave the field empty."
        }
        return errors.isEmpty ? scopes : nil
    }

    /// The options of the equivalent command.
    var arguments: String {
        let parts =
            ["--kind \(kind.rawValue)"] + (name.isEmpty ? [] : ["--name \(name.shellQuoted)"])
            + scopes.list.map { "--scope \($0.rawValue)" }
            + texts.map { "--location \($0.shellQuoted)" }
            + (lifetime.isEmpty ? [] : ["--expires-in-days \(lifetime.shellQuoted)"])
        return parts.joined(separator: " ")
    }
}

extension DisplayName {
    /// What a form says about an invalid name.
    static let hint =
        "Enter at most 128 characters, none of them a control character, and at least one visible."
}

extension FormFields {
    /// The name that a form sets, without blanks at its edges. An empty field removes the name.
    func displayName() throws(ConsoleRefusal) -> DisplayName? {
        let text = self["name"]?.trimmingCharacters(in: .whitespaces) ?? ""
        guard !text.isEmpty else { return nil }
        do {
            return try DisplayName(text)
        } catch {
            throw .malformed("\(DisplayName.hint) Nothing was changed.")
        }
    }
}
