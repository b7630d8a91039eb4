import Administration
import Cards
import Formats
import Foundation

/// The texts of a form that creates or edits an item. The inputs follow from the fields of the item.
struct ItemDraft<Item: EditableItem>: Sendable {
    /// By the names of inputs. A field whose value a form cannot show exactly has no input, and keeps its value.
    private(set) var texts: [String: String]
    /// By the names of inputs; "" for an error of the whole item.
    private(set) var errors: [String: String] = [:]
    /// The texts of the current item; empty for a new one.
    private let current: [String: String]
    private let isNew: Bool
    /// The members of an earlier state that a new item gets besides the form's.
    private var kept: JSONObject = [:]
    /// The labels of the fields that have a value, but no input.
    let hiddenFields: [String]

    // MARK: Reading

    /// The draft of a new item, filled with the form's fields.
    init(_ form: FormFields) {
        isNew = true
        current = [:]
        hiddenFields = []
        texts = Self.inputs(isNew: true).reduce(into: [:]) { texts, input in
            texts[input.name] = form.line(input.name) ?? Self.usualText(of: input) ?? ""
        }
        Item.correct(&texts)
    }

    /// With the values of an example where a required text is missing.
    func completed(by example: JSONObject) -> ItemDraft {
        var completed = self
        for input in inputs where input.isRequired && self[input.name].isEmpty {
            completed.texts[input.name] = example[input.name].map(Self.text)
        }
        return completed
    }

    /// The draft of a change. An input keeps the item's text if the form does not have it, or if the person did not change it.
    /// - Parameter isExact: Whether the form has exact texts, as the review sends them. Otherwise a person entered them: white
    ///   space at an edge, and the order of lines, are no change.
    init(_ item: Item, _ form: FormFields = FormFields(""), isExact: Bool = false) {
        isNew = false
        current = Self.texts(of: item)
        hiddenFields = Self.hiddenFields(of: item, besides: current, isNew: false)
        texts = current
        for (name, old) in current where form.has(name) {
            // The item may have changed since the person saw it.
            let base = form.exact(FormInput.seenPrefix + name) ?? old
            if isExact {
                let new = form.exact(name) ?? ""
                if !new.hasBytes(of: base) { texts[name] = new }
            } else {
                let new = form.line(name) ?? ""
                if !Self.isSame(new, as: base, in: name) { texts[name] = new }
            }
        }
        Item.correct(&texts)
    }

    /// The draft that gives an item the values of an earlier state, or makes a deleted item again.
    /// - Parameter form: what the person entered in the form of a deleted item.
    init(restoring earlier: Item, in item: Item?, _ form: FormFields = FormFields("")) {
        isNew = item == nil
        let now = item.map { Self.texts(of: $0) } ?? [:]
        current = now
        let restored = Self.texts(of: earlier, isNew: item == nil)
        texts = item == nil ? restored : restored.filter { now[$0.key] != nil }
        if let item {
            let (old, new) = (earlier.json, item.json)
            hiddenFields = Self.fields(besides: texts, isNew: false) { old[$0.name] != new[$0.name] }
        } else {
            hiddenFields = Self.hiddenFields(of: earlier, besides: texts, isNew: true)
            kept = earlier.patchable
        }
        for (name, old) in texts where form.has(name) {
            let new = form.line(name) ?? ""
            if !Self.isSame(new, as: old, in: name) { texts[name] = new }
        }
        Item.correct(&texts)
    }

    /// Whether a text that a person entered is the same value.
    private static func isSame(_ text: String, as old: String, in name: String) -> Bool {
        let isOfLines = inputs(isNew: true).contains { input in
            if case .lines = input.kind { input.name == name } else { false }
        }
        guard isOfLines else { return text.hasBytes(of: old.trimmingCharacters(in: .whitespacesAndNewlines)) }
        guard let texts = try? TextLines.texts(in: text), let lines = TextLines.text(of: texts) else {
            return false
        }
        return lines.hasBytes(of: old)
    }

    private static func fields(
        besides texts: [String: String], isNew: Bool, where isMeant: (Field<Item>) -> Bool
    ) -> [String] {
        Item.fields.filter { field in
            field.kind != .readOnly && (isNew || field.kind != .key)
                && !inputs(of: field).contains { texts[$0.name] != nil } && isMeant(field)
        }.map(\.name.memberLabel)
    }

    private static func hiddenFields(
        of item: Item, besides texts: [String: String], isNew: Bool
    ) -> [String] {
        fields(besides: texts, isNew: isNew) { $0.value(of: item) != nil }
    }

    private static func text(_ value: JSONValue) -> String { value.stringValue ?? value.text }

    private static func isCell(_ input: FormInput) -> Bool { Item.field(named: input.name)?.isCell == true }

    /// The text of an input whose field has a default value.
    private static func usualText(of input: FormInput) -> String? {
        isCell(input) ? Item.field(named: input.name)?.defaultValue.map(text) : nil
    }

    private static func texts(of item: Item, isNew: Bool = false) -> [String: String] {
        var texts: [String: String] = [:]
        for field in Item.fields where isShown(field, isNew: isNew) {
            switch field.type {
            case .texts:
                let members = item.json[field.name]?.objectValue ?? [:]
                var values: [String: String] = [:]
                for (name, value) in members { values[name] = value.stringValue }
                if values.count == members.count { texts[field.name] = TextLines.text(of: values) }
            case .card:
                texts.merge(cardTexts(of: item)) { $1 }
            default:
                texts[field.name] = field.cell(of: item) ?? ""
            }
        }
        return texts
    }

    // MARK: Inputs

    static func inputs(isNew: Bool) -> [FormInput] {
        Item.fields.filter { isShown($0, isNew: isNew) }.flatMap(inputs(of:))
    }

    /// The inputs of this draft.
    var inputs: [FormInput] { Self.inputs(isNew: isNew).filter { texts[$0.name] != nil } }

    private static func isShown(_ field: Field<Item>, isNew: Bool) -> Bool {
        if field.kind == .key { return isNew }
        if field.isCell { return true }
        return switch field.type {
        case .texts, .card: field.kind != .readOnly
        default: false
        }
    }

    private static func inputs(of field: Field<Item>) -> [FormInput] {
        var input = FormInput(
            name: field.name, label: field.name.memberLabel,
            hint: Item.hints[field.name] ?? field.documentation, kind: .text, isRequired: field.isRequired)
        switch field.type {
        case .number(let range): input.kind = .number(minimum: range.lowerBound)
        case .choice(let values): input.kind = .choice(values.map { FormInput.Choice(value: $0, title: $0) })
        case .flag:
            input.kind = .choice([
                FormInput.Choice(value: "false", title: "no"), FormInput.Choice(value: "true", title: "yes"),
            ])
        case .texts: input.kind = .lines
        case .card: return cardInputs
        default: break
        }
        return [input]
    }

    subscript(name: String) -> String { texts[name] ?? "" }

    /// The texts of the current item, by the names of the inputs. Forms send them back as what the person saw.
    var seen: [(String, String)] { isNew ? [] : inputs.map { ($0.name, current[$0.name] ?? "") } }

    /// The names and texts of all inputs.
    var values: [(String, String)] { inputs.map { ($0.name, self[$0.name]) } }

    /// The inputs whose text differs from the current item's.
    var changes: [(input: FormInput, old: String, new: String)] {
        inputs.compactMap { input in
            let (old, new) = (current[input.name] ?? "", self[input.name])
            return old.hasBytes(of: new) ? nil : (input, old, new)
        }
    }

    // MARK: The item

    /// The item with the draft's values. If a value is invalid, sets ``errors`` and returns nil.
    /// - Parameter item: the current item; nil for a new one.
    mutating func made(from item: Item?) -> Item? {
        errors = [:]
        let kept = item?.patchable ?? kept
        var members = kept
        for field in Item.fields where Self.isShown(field, isNew: isNew) {
            guard Self.inputs(of: field).contains(where: { texts[$0.name] != nil }) else { continue }
            do {
                members[field.name] = try value(of: field) ?? .null
            } catch {
                refuse(error, in: field.name)
                members[field.name] = kept[field.name] ?? .null
            }
        }
        while true {
            do {
                let made = try Item.read(members, as: item?.key)
                return errors.isEmpty ? made : nil
            } catch {
                let name = refuse(error, in: "")
                // Looks for errors of the other fields.
                guard let old = kept[name] ?? (Item.field(named: name)?.isRequired == false ? .null : nil),
                    members[name] != old
                else { return nil }
                members[name] = old
            }
        }
    }

    /// Sets the error of an input, unless it has one.
    /// - Returns: The name of the field.
    @discardableResult
    mutating func refuse(_ error: any Error, in field: String) -> String {
        let (path, detail) =
            switch error {
            case let error as RowRefusal: (error.column, error.detail)
            case let error as JSONFieldError: (error.path, error.reason)
            default: (field, "\(error)")
            }
        let name = path.prefix { $0 != "." }
        let found = Item.fields.first { $0.name == name || $0.cell == name }?.name
        let input = inputs.first { $0.name == path } ?? inputs.first { $0.name == found }
        if errors[input?.name ?? ""] == nil {
            let text = input.flatMap { Item.errors[$0.name] } ?? detail.capitalizedSentence
            errors[input?.name ?? ""] = text.hasSuffix(".") ? text : text + "."
        }
        return found ?? ""
    }

    /// The value of a field's inputs; nil for none.
    private func value(of field: Field<Item>) throws -> JSONValue? {
        let text = self[field.name]
        switch field.type {
        case .texts:
            var members: JSONObject = [:]
            // In the order of the keys, an addition takes no longer with many members.
            let texts = try TextLines.texts(in: text).sorted {
                $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
            }
            for (name, text) in texts { members[name] = .string(text) }
            return .object(members)
        case .card:
            let card = try card()
            return card.isEmpty ? nil : .object(card.json)
        default:
            guard !text.isEmpty else {
                guard field.isRequired else { return nil }
                throw RowRefusal(field.name, "enter a value")
            }
        }
        switch field.type {
        case .number:
            guard let number = Double(decimal: text), number.isFinite else {
                throw RowRefusal(field.name, "enter a number")
            }
            return JSONValue(finite: number)
        case .flag: return .bool(text == "true")
        default: return .string(text)
        }
    }

    // MARK: Cards

    /// The parts of a card that have an input of their own. The other parts are lines.
    private static var cardInputs: [FormInput] {
        func choice(_ values: [String]) -> FormInput.Kind {
            .choice(
                [FormInput.Choice(value: "", title: "not set")]
                    + values.map {
                        FormInput.Choice(
                            value: $0, title: $0.replacing("_", with: " ").lowercased().capitalizedSentence)
                    })
        }
        return [
            FormInput(
                name: "card.defaultLanguage", label: "Card: default language",
                hint: "The language of the card for people whose own language has no text, such as EN.",
                kind: .text),
            FormInput(
                name: "card.action", label: "Card: button", kind: choice(CardAction.allCases.map(\.rawValue))),
            FormInput(
                name: "card.businessCategory", label: "Card: business category",
                kind: choice(BusinessCategory.allCases.map(\.rawValue))),
            FormInput(
                name: "card.image", label: "Card: image",
                hint: "The SHA-256 of one of the tenant's images.", kind: .text),
            FormInput(
                name: "card", label: "Card: further fields",
                hint:
                    "One on each line: PATH: TEXT, such as texts.EN.title: Order at your table. The paths are those of the columns card.PATH of imports.",
                kind: .lines),
        ]
    }

    private static func cardTexts(of item: Item) -> [String: String] {
        let fields = item.json["card"].flatMap { try? Card(JSONObjectReader($0)) }?.furtherFields ?? [:]
        let inputs = cardInputs.map(\.name)
        var rest: [String: String] = [:]
        for (name, text) in fields where !inputs.contains(name) {
            rest[String(name.dropFirst("card.".count))] = text
        }
        guard let lines = TextLines.text(of: rest) else { return [:] }
        var texts = ["card": lines]
        for name in inputs where name != "card" { texts[name] = fields[name] ?? "" }
        return texts
    }

    private func card() throws -> Card {
        var columns: [(name: String, text: String)] = []
        for input in Self.cardInputs where input.name != "card" && !self[input.name].isEmpty {
            columns.append((input.name, self[input.name]))
        }
        for (path, text) in try TextLines.texts(in: self["card"]) { columns.append(("card.\(path)", text)) }
        return try Card(columns: columns)
    }

    // MARK: Commands

    /// The command that does the same; nil if nothing changes.
    func command(for item: Item?, of slug: String) -> String? {
        let verb = item == nil ? "create" : "update"
        var words = ["doorstep \(Item.commandName) \(verb) --tenant \(slug)"]
        if let item {
            words.append(item.commandArguments)
        } else if let argument = Item.argument {
            words.append(self[argument].shellQuoted)
        }
        var options: [String] = []
        for option in inputs.filter({ $0.name != Item.argument && isSent($0) }).flatMap(options(for:))
        where !options.contains(option) {
            options.append(option)
        }
        guard item == nil || !options.isEmpty else { return nil }
        return (words + options).joined(separator: " ")
    }

    private func isSent(_ input: FormInput) -> Bool {
        self[input.name] != current[input.name] ?? Self.usualText(of: input) ?? ""
    }

    private func options(for input: FormInput) -> [String] {
        let text = self[input.name]
        if input.name.hasPrefix("card") { return ["--card card.json"] }
        switch Item.field(named: input.name)?.type {
        case .flag: return [text == "true" ? "--\(input.name.optionName)" : "--no-\(input.name.optionName)"]
        case .texts:
            let option = input.name == "details" ? "detail" : input.name
            let (old, new) = (
                try? TextLines.texts(in: current[input.name] ?? ""), try? TextLines.texts(in: text)
            )
            let removed = Set((old ?? [:]).keys).subtracting((new ?? [:]).keys).sorted().map { ($0, "") }
            return ((new ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + removed)
                .map { "--\(option) \("\($0)=\($1)".shellQuoted)" }
        default: return ["--\(input.name.optionName) \(text.shellQuoted)"]
        }
    }
}

extension FormFields {
    /// The field without white space around it, with the line breaks of a stored text: browsers send CR LF.
    fileprivate func line(_ name: String) -> String? { self[name]?.replacing("\r\n", with: "\n") }

    fileprivate func exact(_ name: String) -> String? { all[name]?.replacing("\r\n", with: "\n") }
}

extension String {
    /// Compares bytes: two `String`s are equal if one has the composed and the other the decomposed form of a character.
    fileprivate func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
