import Formats

/// One input of a form that creates or edits an item.
struct FormInput: Sendable {
    enum Kind: Sendable {
        case text
        /// A number with its smallest value, which decides about the keyboard of a phone.
        case number(minimum: Double)
        case choice([Choice])
        /// Texts by name, one on each line; see ``TextLines``.
        case lines
    }

    struct Choice: Sendable, Hashable {
        let value: String
        let title: String
    }

    /// Precedes the name of an input whose text a form sends as the person saw it.
    static let seenPrefix = "seen."

    /// The form's field.
    let name: String
    let label: String
    var hint: String?
    var kind: Kind
    var isRequired = false
}

extension FormInput {
    /// What the form shows for a value.
    func title(of value: String) -> String {
        guard case .choice(let choices) = kind else { return value }
        return choices.first { $0.value == value }?.title ?? value
    }
}

extension HTMLWriter {
    /// An input with its label above it.
    mutating func input(_ input: FormInput, value: String, error: String?) {
        switch input.kind {
        case .text:
            field(
                input.label, name: input.name, value: value, hint: input.hint, error: error,
                isRequired: input.isRequired)
        case .number(let minimum):
            // The keyboards of some phones have no minus sign for decimal numbers.
            field(
                input.label, name: input.name, value: value, hint: input.hint, error: error,
                inputmode: minimum < 0 ? "text" : "decimal", isRequired: input.isRequired)
        case .choice(let choices):
            labelled(input.label, name: input.name, hint: input.hint, error: error) { div, described in
                div.element(
                    .select, .id(input.name), .name(input.name), error.map { _ in .ariaInvalid }, described
                ) {
                    select in
                    for choice in choices {
                        select.element(
                            .option, .value(choice.value), choice.value == value ? .selected : nil,
                            text: choice.title)
                    }
                }
            }
        case .lines:
            labelled(input.label, name: input.name, hint: input.hint, error: error) { div, described in
                div.element(
                    .textarea, .id(input.name), .name(input.name), .rows(4), .spellcheck(false),
                    error.map { _ in .ariaInvalid }, described, text: value)
            }
        }
    }
}
