import Codes
import Formats
import Foundation

/// Parts that several pages share.
extension HTMLWriter {
    /// A table that scrolls on its own if it is wider than the screen.
    /// - Parameter columns: the headings.
    mutating func table(
        _ caption: String, columns: [String], rows: (inout HTMLWriter) -> Void
    ) {
        element(.div, .class("scroll"), .role("region"), .ariaLabel(caption), .tabindex(0)) { div in
            div.element(.table) { table in
                table.element(.caption, text: caption)
                table.element(.thead) { head in
                    head.element(.tr) { row in
                        for column in columns { row.element(.th, .scope("col"), text: column) }
                    }
                }
                table.element(.tbody) { rows(&$0) }
            }
        }
    }

    /// User-supplied text, isolated so that it cannot change the direction of the text around it.
    mutating func name(_ text: String) { element(.bdi, text: text) }

    /// A user-supplied value, cut after 200 characters.
    mutating func value(_ value: JSONValue?) {
        guard let value, value != .null else { return name("nothing") }
        let text = value.stringValue ?? value.text
        name(text.count > 200 ? text.prefix(200) + "…" : text)
    }

    mutating func time(_ date: Date) {
        let text = date.rfc3339
        element(.time, .datetime(text), text: text.replacing("T", with: " ").replacing("Z", with: ""))
    }

    mutating func badge(_ text: String, _ kind: String = "") {
        element(.span, .class(kind.isEmpty ? "badge" : "badge \(kind)"), text: text)
    }

    /// A field of a form with its label above it.
    mutating func field(
        _ label: String, name: String, value: String, hint: String? = nil, error: String? = nil,
        inputmode: String? = nil, isRequired: Bool = true
    ) {
        labelled(label, name: name, hint: hint, error: error) { div, described in
            div.void(
                .input, .id(name), .name(name), .type("text"), .value(value), .autocomplete("off"),
                .spellcheck(false), inputmode.map { .inputmode($0) }, isRequired ? .required : nil,
                error == nil ? nil : .ariaInvalid, described)
        }
    }

    /// An input with its label above it, and its hint and its error below.
    /// - Parameter input: writes the input with the attribute that refers to hint and error.
    mutating func labelled(
        _ label: String, name: String, hint: String?, error: String?,
        _ input: (inout HTMLWriter, HTMLAttribute?) -> Void
    ) {
        let described = [hint.map { _ in "\(name)-hint" }, error.map { _ in "\(name)-error" }].compactMap(
            \.self)
        element(.div, .class("field")) { div in
            div.element(.label, .for(name), text: label)
            input(&div, described.isEmpty ? nil : .ariaDescribedby(described.joined(separator: " ")))
            if let hint { div.element(.p, .id("\(name)-hint"), .class("hint"), text: hint) }
            if let error { div.element(.p, .id("\(name)-error"), .class("error"), text: error) }
        }
    }

    /// The errors of a form's fields, for the top of the page. Each error also stands beside its field.
    mutating func errors(_ errors: [(field: String, error: String?)]) {
        guard errors.contains(where: { $0.error != nil }) else { return }
        element(.div, .class("error"), .role("alert")) { div in
            div.element(.p, text: "Correct these fields:")
            div.element(.ul) { list in
                for case (let field, let error?) in errors { list.element(.li, text: "\(field): \(error)") }
            }
        }
    }

    /// A list of names and values.
    mutating func facts(_ facts: [(String, (inout HTMLWriter) -> Void)]) {
        element(.dl, .class("facts")) { list in
            for (name, body) in facts {
                list.element(.dt, text: name)
                list.element(.dd) { body(&$0) }
            }
        }
    }

    /// A check box with its label.
    mutating func tick(_ label: String, name: String, isOn: Bool = false) {
        element(.label, .class("check")) { tick in
            tick.void(.input, .type("checkbox"), .name(name), .value("1"), isOn ? .checked : nil)
            tick.text(label)
        }
    }

    /// One line of text. If scripts run, a button copies it.
    mutating func copyable(_ text: String) {
        element(.div, .class("command")) { div in
            div.element(.code) { $0.name(text) }
            div.element(
                .button, .class("plain copy"), .type("button"), .data("copy", text), .hidden, text: "Copy")
        }
    }

    /// A secret that the console shows once.
    mutating func secret(_ text: String, _ explanation: String) {
        element(.section, .class("commands"), .ariaLabel("Shown once")) { box in
            box.copyable(text)
            box.element(.p, .class("hint"), text: explanation)
        }
    }

    /// A unique number, so that the console accepts the form only once.
    mutating func formNumber() { hiddenField(SubmittedForms.field, UUID().uuidString) }

    /// Replaces forms in read-only sessions.
    mutating func readOnlyHint() {
        element(.p, .class("hint"), text: "This session is read-only.")
    }

    mutating func hiddenField(_ name: String, _ value: String) {
        void(.input, .type("hidden"), .name(name), .value(value))
    }

    /// A URL's QR code, always on white. Writes nothing if the URL is too long for a QR code.
    mutating func qrCode(_ url: String) {
        guard let symbol = try? QRSymbol(url) else { return }
        element(
            .svg, .class("qr"), .role("img"), .ariaLabel("QR code of \(url)"),
            .viewBox(width: symbol.outerSize, height: symbol.outerSize), .shapeRendering("crispEdges")
        ) { svg in
            svg.element(.rect, .width(symbol.outerSize), .height(symbol.outerSize), .fill("#fff"))
            svg.element(.path, .d(symbol.path))
        }
    }
}

extension String {
    /// Quoted as one argument for a shell.
    var shellQuoted: String {
        let isPlain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./:,@%+=".utf8.contains(byte)
            }
        }
        return isPlain && !isEmpty ? self : "'" + replacing("'", with: #"'\''"#) + "'"
    }
}

extension Int {
    /// With a comma between thousands.
    var grouped: String {
        var text = String(magnitude)
        var end = text.endIndex
        while let comma = text.index(end, offsetBy: -3, limitedBy: text.startIndex), comma > text.startIndex {
            text.insert(",", at: comma)
            end = comma
        }
        return self < 0 ? "-" + text : text
    }
}
