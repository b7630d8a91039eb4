import ArgumentParser
import Foundation

/// A setting, declared once: its flag, environment variable, default, help and parser.
///
/// The option of a command and the row in `doorstep settings`, which is the guide's table, are made from it. `Default` is `Value`,
/// or `Void` for a setting that may have no value.
struct Setting<Value: Sendable, Default: Sendable>: Sendable {
    let description: SettingDescription
    private let standard: Default
    private let parse: @Sendable (String) -> Value?

    /// Reads the text of a flag or the variable.
    @Sendable func read(_ text: String) throws(ValidationError) -> Value {
        guard let value = parse(text) else {
            throw ValidationError(description.range.map { "it must be \($0)" } ?? "it cannot be read")
        }
        return value
    }

    /// The flag's value, otherwise the variable's. An empty variable counts as unset.
    private func given(_ flag: Value?) throws(CommandError) -> Value? {
        if let flag { return flag }
        guard let variable = description.variable, let text = try description.textInEnvironment() else {
            return nil
        }
        do throws(ValidationError) {
            return try read(text)
        } catch {
            throw .invalidSetting(variable, error.message)
        }
    }
}

extension Setting where Default == Value {
    /// - Parameters:
    ///   - flag: Without its dashes.
    ///   - placeholder: The name of the value in the help.
    ///   - range: The allowed values, for people.
    ///   - help: Without a period, because the range follows.
    init(
        _ flag: String, _ variable: String, default standard: Value, value placeholder: String? = nil,
        range: String? = nil, _ help: String, show: (Value) -> String = { "\($0)" },
        parse: @escaping @Sendable (String) -> Value?
    ) {
        description = SettingDescription(
            flag: flag, placeholder: placeholder, variable: variable, standard: show(standard), range: range,
            help: help)
        self.standard = standard
        self.parse = parse
    }

    init(
        _ flag: String, _ variable: String, default standard: Value, value placeholder: String? = nil,
        range: String? = nil, _ help: String
    ) where Value: ExpressibleByArgument {
        self.init(
            flag, variable, default: standard, value: placeholder, range: range, help,
            show: \.defaultValueDescription, parse: { Value(argument: $0) })
    }

    init(
        _ flag: String, _ variable: String, default standard: Int, in range: ClosedRange<Int>, _ help: String
    ) where Value == Int {
        self.init(
            flag, variable, default: standard, range: range.words, help,
            parse: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } })
    }

    /// The flag's value, otherwise the variable's, otherwise the default.
    func value(_ flag: Value?) throws(CommandError) -> Value { try given(flag) ?? standard }
}

extension Setting where Default == Void {
    /// - Parameters:
    ///   - flag: Nil for a setting that only the environment can set, where `ps` does not show it.
    ///   - variable: Nil for a setting without a variable.
    ///   - otherwise: The effect without a value, for people.
    ///   - isSecret: Whether a file can have the value. The variable with the suffix `_FILE` names the file.
    init(
        _ flag: String?, _ variable: String?, value placeholder: String? = nil, otherwise: String? = nil,
        range: String? = nil, isSecret: Bool = false, _ help: String
    ) where Value: ExpressibleByArgument {
        description = SettingDescription(
            flag: flag, placeholder: placeholder, variable: variable, standard: otherwise, range: range,
            isSecret: isSecret, help: help)
        standard = ()
        parse = { Value(argument: $0) }
    }

    /// The flag's value, otherwise the variable's, otherwise nil.
    func value(_ flag: Value? = nil) throws(CommandError) -> Value? { try given(flag) }
}

extension Setting<Int, Void> {
    /// - Parameter otherwise: The effect without a value, for people.
    init(
        _ flag: String, _ variable: String, in range: ClosedRange<Int>, otherwise: String? = nil,
        _ help: String
    ) {
        description = SettingDescription(
            flag: flag, placeholder: nil, variable: variable, standard: otherwise, range: range.words,
            help: help)
        standard = ()
        parse = { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }
    }
}

extension Setting<String, Void> {
    /// Secrets that are separated by commas; nil without a value.
    func secrets() throws(CommandError) -> [String]? {
        try value()?.split(separator: ",").map(String.init)
    }
}

extension Option {
    init<T, Default>(_ setting: Setting<T, Default>, visibility: ArgumentVisibility = .default)
    where Value == T? {
        self.init(
            name: setting.description.name, help: setting.description.argumentHelp(visibility),
            completion: setting.description.completion, transform: setting.read)
    }

    /// A setting that can be repeated.
    init<T, Default>(wrappedValue: [T], _ setting: Setting<T, Default>) where Value == [T] {
        self.init(
            wrappedValue: wrappedValue, name: setting.description.name,
            help: setting.description.argumentHelp(.default), completion: setting.description.completion,
            transform: setting.read)
    }
}

/// The description of a setting for people.
struct SettingDescription: Sendable {
    let flag: String?
    let placeholder: String?
    let variable: String?
    /// The default.
    let standard: String?
    let range: String?
    var isSecret = false
    fileprivate let help: String

    /// Help, file and range, as one text.
    var text: String {
        let file = fileVariable.map { ". \($0) names a file with the value" } ?? ""
        return "\(help)\(range.map { " (\($0))" } ?? "")\(file)."
    }

    /// The variable that names a file with the value of a secret.
    var fileVariable: String? { isSecret ? variable.map { $0 + "_FILE" } : nil }

    /// All variables that can set the value.
    var variables: [String] { [variable, fileVariable].compactMap(\.self) }

    /// The value in the environment, or in the file that the environment names. An empty value counts as unset.
    ///
    /// The line break at the end of a file is not a part of the value.
    fileprivate func textInEnvironment() throws(CommandError) -> String? {
        let environment = ProcessInfo.processInfo.environment
        let text = variable.flatMap { environment[$0] }.flatMap { $0.isEmpty ? nil : $0 }
        guard let fileVariable, let path = environment[fileVariable], !path.isEmpty else { return text }
        guard text == nil else {
            throw .invalidSetting(fileVariable, "it and \(variable ?? "") exclude each other")
        }
        let content = String(decoding: try SecretFile(path: path).bytes(), as: UTF8.self)
        return content.hasSuffix("\n") ? String(content.dropLast()) : content
    }

    fileprivate var name: NameSpecification { flag.map { .customLong($0) } ?? .long }

    /// The completion of the value in shells.
    fileprivate var completion: CompletionKind? {
        switch placeholder {
        case "file": .file()
        case "dir": .directory
        default: nil
        }
    }

    fileprivate func argumentHelp(_ visibility: ArgumentVisibility) -> ArgumentHelp {
        let places = [variable.map { "environment: \($0)" }, standard.map { "default: \($0)" }].compactMap(
            \.self)
        return ArgumentHelp(
            "\(text)\(places.isEmpty ? "" : " (\(places.joined(separator: ", ")))")", valueName: placeholder,
            visibility: visibility)
    }
}

extension ClosedRange<Int> {
    fileprivate var words: String { "\(lowerBound) to \(upperBound)" }
}
