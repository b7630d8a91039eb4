import Foundation

/// The process's environment, in which every setting has a name.
enum Environment {
    /// The value of a variable; nil when it is unset or empty.
    static func text(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value of a variable, read as what the setting is.
    /// - Throws: `CommandError.invalidSetting` when it cannot be.
    static func value<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type) throws -> Value?
    {
        guard let text = text(name) else { return nil }
        guard let value = Value(text) else { throw CommandError.invalidSetting(name) }
        return value
    }
}
