import Administration
import Formats
import Lookups

/// The form that names the columns of a file whose first line an import does not accept.
struct ImportColumns {
    let conversion: CSVConversion
    /// The texts of the form, by the names of inputs.
    private var texts: [String: String] = [:]
    private(set) var errors: [String: String] = [:]

    /// The columns that each row must have.
    private static let fields = LocationRecord.fields.filter { $0.isCell && $0.isRequired }
    /// In these columns, a decimal comma becomes a point.
    private static let numbers = Set(
        fields.filter { if case .number = $0.type { true } else { false } }.map(\.cell))
    /// Usual names of the columns, with small letters and digits only. [ours]
    private static let usualNames: [String: [String]] = [
        "identifier": [
            "identifier", "id", "storeid", "shopid", "locationid", "storenumber", "number", "code",
        ],
        "name": ["name", "storename", "shopname", "locationname", "store", "shop", "title"],
        "latitude": ["latitude", "lat", "y"], "longitude": ["longitude", "lng", "lon", "long", "x"],
        "radius": ["radius", "radiusm", "radiusmeters", "radiusmetres", "radiusinmetres"],
    ]
    /// The radius if the file has no column for it, in metres. [ours]
    private static let usualRadius = "100"

    /// How many characters of a column's name the page shows. [ours]
    private static let maximumTitleLength = 100
    /// The maximum length of a radius for all locations, in bytes. [ours]
    private static let maximumConstantLength = 32

    /// The form with a guess for each column; nil if the file is not a table.
    init?(_ file: [UInt8]) {
        guard let conversion = CSVConversion(file) else { return nil }
        self.conversion = conversion
        let names = conversion.columns.map { String($0.lowercased().filter { $0.isLetter || $0.isNumber }) }
        for field in Self.fields {
            let guess = Self.usualNames[field.cell]?.lazy.compactMap { names.firstIndex(of: $0) }.first
            texts[Self.input(field)] = guess.map { "\($0)" } ?? ""
        }
        texts["constant.radius"] = texts["column.radius"] == "" ? Self.usualRadius : ""
    }

    private static func input(_ field: Field<LocationRecord>) -> String { "column.\(field.cell)" }

    /// The file with the columns that the form chooses. If the choice is not complete, sets ``errors`` and returns nil.
    mutating func convert(_ form: FormFields) async -> [UInt8]? {
        errors = [:]
        let radius = form["constant.radius"] ?? ""
        texts["constant.radius"] = String(radius.prefix(Self.maximumConstantLength))
        var sources: [(column: String, source: CSVConversion.Source)] = []
        for field in Self.fields {
            let input = Self.input(field)
            texts[input] = form[input] ?? ""
            if let index = form[input].flatMap({ Int($0) }), conversion.columns.indices.contains(index) {
                sources.append((field.cell, .column(index)))
            } else if field.cell == "radius", !radius.isEmpty {
                sources.append((field.cell, .constant(radius)))
                let number = Double(decimal: radius.withDecimalPoint(unlessLarge: true)) ?? 0
                if !(number > 0 && number <= 500) || radius.utf8.count > Self.maximumConstantLength {
                    errors["constant.radius"] = "Enter metres above 0 and at most 500."
                }
            } else {
                errors[input] = "Choose a column."
            }
        }
        guard errors.isEmpty else { return nil }
        do {
            return try await conversion.converted(
                sources, numbers: Self.numbers, large: ["radius"], maximumLength: HeldFiles.maximumLength)
        } catch {
            errors[""] = "\(error)".capitalizedSentence + "."
            return nil
        }
    }

    /// The columns as the page names them: each has a name of its own.
    private var titles: [String] {
        let names = conversion.columns
        return names.indices.map { index in
            let name = String(names[index].prefix(Self.maximumTitleLength))
            if name.allSatisfy(\.isWhitespace) { return "column \(index + 1)" }
            return names.count { $0 == names[index] } > 1 ? "\(name) (column \(index + 1))" : name
        }
    }

    /// - Parameter hidden: further fields of the form.
    func write(into html: inout HTMLWriter, action: HTMLLink, hidden: [(String, String?)]) {
        html.errors(
            Self.fields.map { ($0.name.memberLabel, errors[Self.input($0)]) } + [
                ("Radius of all locations", errors["constant.radius"]), ("File", errors[""]),
            ])
        html.element(
            .p,
            text:
                "Choose the column of the file for each field. The other columns keep their names: details.NAME and card.PATH are fields of the location, all others are metadata."
        )
        let titles = titles
        html.table("The first rows of the file", columns: titles) { rows in
            for row in conversion.rows {
                rows.element(.tr) { tr in
                    for text in row.prefix(conversion.columns.count) { tr.element(.td) { $0.name(text) } }
                }
            }
        }
        html.element(.form, .class("stack"), .post, .action(action)) { form in
            for (name, value) in hidden { if let value { form.hiddenField(name, value) } }
            for field in Self.fields {
                let name = Self.input(field)
                let choices =
                    [
                        FormInput.Choice(
                            value: "", title: field.cell == "radius" ? "the same for all" : "choose")
                    ]
                    + titles.enumerated().map { FormInput.Choice(value: "\($0)", title: $1) }
                form.input(
                    FormInput(name: name, label: field.name.memberLabel, kind: .choice(choices)),
                    value: texts[name] ?? "", error: errors[name])
            }
            form.field(
                "Radius of all locations in metres", name: "constant.radius",
                value: texts["constant.radius"] ?? "", hint: "Only if the file has no column for it.",
                error: errors["constant.radius"], inputmode: "decimal", isRequired: false)
            form.element(.p) { $0.element(.button, .class("main"), text: "Review rows") }
        }
    }
}
