import Formats

/// A form that was sent after its session ended. The sign-in page carries it, and shows it after the sign-in to be sent again.
struct KeptForm {
    /// The path to which the form was sent.
    let action: HTMLLink
    /// The fields as they were sent (`application/x-www-form-urlencoded`).
    let fields: String

    /// The maximum length of the fields in bytes. A longer form, such as pasted rows, is not kept. [ours]
    static let maximumLength = 65_536
    /// The number of characters of a value that the page shows. [ours]
    private static let shownLength = 200
    private static let (actionField, fieldsField) = ("kept-action", "kept-fields")

    /// - Parameter path: The path of the request.
    init?(sentTo path: String, fields: String) {
        guard let action = HTMLLink(path: path), !fields.isEmpty, fields.utf8.count <= Self.maximumLength
        else {
            return nil
        }
        self.action = action
        self.fields = fields
    }

    /// Reads the form from the fields of the sign-in page.
    init?(in fields: FormFields) {
        guard let path = fields[Self.actionField], let kept = fields[Self.fieldsField] else { return nil }
        self.init(sentTo: path, fields: kept)
    }

    /// Adds the form to a form of the sign-in page.
    func write(into form: inout HTMLWriter) {
        form.hiddenField(Self.actionField, action.text)
        form.hiddenField(Self.fieldsField, fields)
    }

    /// The page after the sign-in. Only a person sends the form again: another person may have filled it.
    var page: Page {
        let values = FormFields(fields).all.sorted { $0.key < $1.key }
        return Page(title: "Send your form again?") { main in
            main.element(.p) { p in
                p.text("Your session had ended when you sent the form, so nothing was done. It was sent to ")
                p.element(.code, text: action.text)
                p.text(".")
            }
            main.table("Fields of the form", columns: ["Field", "Value"]) { rows in
                for (name, value) in values
                where name != SubmittedForms.field && !name.hasPrefix(FormInput.seenPrefix) {
                    rows.element(.tr) { row in
                        row.element(.th, .scope("row"), text: name)
                        row.element(.td) { $0.name(String(value.prefix(Self.shownLength))) }
                    }
                }
            }
            main.element(.form, .id("kept"), .post, .action(action)) { form in
                for (name, value) in values { form.hiddenField(name, value) }
                form.element(.p) { $0.element(.button, .class("main"), text: "Send it again") }
            }
            main.element(.p) { $0.element(.a, .href(.home), text: "Discard it") }
        }
    }
}
