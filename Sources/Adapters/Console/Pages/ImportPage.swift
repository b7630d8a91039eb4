import Administration
import Formats
import Foundation
import HTTPTypes
import Lookups
import Persistence
import Tenancy

/// Imports a file of locations: reviews the changes first, then applies the same file, all rows or none.
struct ImportPage: Sendable {
    private let held: HeldFiles
    private let files: WorkInProgress<HeldFiles.Owner>
    private let findings: FindingsCache
    private let table: LiveLookupIndex

    init(
        _ held: HeldFiles, _ files: WorkInProgress<HeldFiles.Owner>, _ findings: FindingsCache,
        table: LiveLookupIndex
    ) {
        self.held = held
        self.files = files
        self.findings = findings
        self.table = table
    }

    /// The options of an import in forms and URLs.
    private struct Choice {
        let prunes: Bool
        /// The maximum number of removals, as typed.
        let allowed: String?

        init(_ fields: FormFields) {
            prunes = fields["prune"] == "1"
            allowed = fields["allow"]
        }

        var query: [(String, String?)] { [("prune", prunes ? "1" : nil), ("allow", prunes ? allowed : nil)] }

        /// - Parameter state: the reviewed state; nil for a dry run.
        func options(at state: String? = nil) -> ImportOptions {
            ImportOptions(
                prunes: prunes, isDryRun: state == nil,
                allowedRemovals: prunes ? allowed.flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 } : nil,
                expectedState: state)
        }

        var arguments: String {
            guard prunes else { return "" }
            return " --prune"
                + (options().allowedRemovals.map { " --allow-removals \($0)" } ?? "")
        }
    }

    // MARK: Taking a file

    @Sendable func form(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        return .page(formPage(request, tenant, notice: Self.notice(request.query)))
    }

    @Sendable func paste(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        try request.requireChange()
        guard let rows = request.form["rows"] else {
            var page = formPage(request, tenant, error: "Paste rows first.")
            page.status = .unprocessableContent
            return .page(page)
        }
        let digest = await held.hold(
            Array(rows.utf8), of: tenant.id, by: HeldFiles.Owner(request.session), at: request.now)
        return .seeOther(Self.link(tenant, digest, Choice(request.form)))
    }

    @Sendable func upload(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let digest = await held.hold(
            request.file, of: tenant.id, by: HeldFiles.Owner(request.session), at: request.now)
        let next = Self.link(tenant, digest, Choice(request.query))
        return .json(JSONValue.object(["next": .string(next.text)]).serialized())
    }

    private static func link(_ tenant: Tenant, _ digest: String, _ choice: Choice) -> HTMLLink {
        HTMLLink(to: "t", tenant.slug.text, "import", digest, query: choice.query)
    }

    private static func notice(_ query: FormFields) -> String? {
        let names = ["added", "changed", "removed", "unchanged"]
        let counts = names.compactMap { name in
            query[name].flatMap { Int($0) }.map { "\($0.grouped) \(name)" }
        }
        return counts.count == names.count
            ? "Imported: \(counts.joined(separator: ", ")). Lookups follow within a second." : nil
    }

    /// A file with the names of all columns, and an example.
    @Sendable func template(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        _ = try await request.tenant()
        let fields = LocationRecord.fields.filter(\.isCell)
        var bytes: [UInt8] = []
        var writer = CSVWriter { bytes += $0 }
        try writer.append(fields.map(\.cell))
        try writer.append(
            fields.map { LocationRecord.example[$0.name].map { $0.stringValue ?? $0.text } ?? "" })
        try writer.finish()
        return .file(bytes, type: "text/csv; charset=utf-8", name: "locations.csv")
    }

    // MARK: The plan

    @Sendable func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let (digest, file) = try await file(request, tenant)
        let choice = Choice(request.query)
        return .page(try await review(request, tenant, digest, file, choice))
    }

    private func file(_ request: ConsoleRequest, _ tenant: Tenant) async throws -> (String, [UInt8]) {
        let digest = request.path["sha256"] ?? ""
        guard
            let file = await held.file(
                digest, of: tenant.id, by: HeldFiles.Owner(request.session), at: request.now)
        else {
            throw ConsoleRefusal(
                status: .notFound, title: "No such file",
                text:
                    "The console keeps an uploaded file for \(Int(HeldFiles.lifetime / 60)) minutes. Nothing was done. Upload the file again."
            )
        }
        return (digest, file)
    }

    private func outcome(
        _ request: ConsoleRequest, _ tenant: Tenant, _ file: [UInt8], _ options: ImportOptions
    ) async throws -> ImportOutcome {
        try await files.with(HeldFiles.Owner(request.session)) {
            try await request.stores.administration.importLocations(
                of: tenant.id, FileRows(FilePieces(bytes: file), TableReader()), options)
        }
    }

    private func review(
        _ request: ConsoleRequest, _ tenant: Tenant, _ digest: String, _ file: [UInt8], _ choice: Choice,
        isOther: Bool = false
    ) async throws -> Page {
        let outcome: ImportOutcome
        do {
            outcome = try await self.outcome(request, tenant, file, choice.options())
        } catch let error as AdministrationError {
            if case .invalidHeader = error, let columns = ImportColumns(file) {
                return columnsPage(tenant, digest, choice, columns, reason: "\(error).".capitalizedSentence)
            }
            var page = formPage(request, tenant, error: "\(error). Nothing was changed.".capitalizedSentence)
            page.status = .unprocessableContent
            return page
        }
        let moved = try await MovedLocations(in: file, from: request.table(table, of: tenant))
        var page = Page(
            title: "Review the import", tenant: tenant, section: .import,
            commands: [
                "doorstep location import --tenant \(tenant.slug) locations.csv --dry-run\(choice.arguments)",
                "doorstep location import --tenant \(tenant.slug) locations.csv\(choice.arguments)",
            ]
        ) { main in
            if isOther {
                main.element(
                    .p, .class("error"), .role("alert"),
                    text:
                        "Locations have changed since you reviewed the import. Nothing was done. Review it again."
                )
            }
            main.element(.dl, .class("facts")) { list in
                list.fact("SHA-256 of the file") { $0.element(.code, text: digest) }
                list.fact("Bytes") { $0.text(file.count.grouped) }
            }
            switch outcome {
            case .planned(let plan):
                main.diff(plan, moved, prunes: choice.prunes)
                if request.mayChange { Self.confirm(tenant, digest, choice, plan, &main) }
            case .refused(let problems):
                main.refused(problems)
            case .done:
                break
            }
            main.element(.p) { p in
                p.element(.a, .href(HTMLLink(.import, of: tenant)), text: "Upload another file")
            }
        }
        if case .refused = outcome { page.status = .unprocessableContent }
        return page
    }

    // MARK: Columns

    /// Converts a file by the columns that a person chose, and holds the result instead.
    @Sendable func nameColumns(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        try request.requireChange()
        let (digest, file) = try await file(request, tenant)
        let (choice, owner) = (Choice(request.form), HeldFiles.Owner(request.session))
        guard var columns = ImportColumns(file) else {
            throw ConsoleRefusal.malformed("The file is not a table. Nothing was done.")
        }
        let form = request.form
        let converted = try await files.with(owner) { await columns.convert(form) }
        guard let converted else { return .page(columnsPage(tenant, digest, choice, columns)) }
        let new = await held.hold(converted, of: tenant.id, by: owner, at: request.now)
        return .seeOther(Self.link(tenant, new, choice))
    }

    private func columnsPage(
        _ tenant: Tenant, _ digest: String, _ choice: Choice, _ columns: ImportColumns, reason: String? = nil
    ) -> Page {
        Page(
            title: "Columns of the file", tenant: tenant, section: .import, status: .unprocessableContent,
            commands: ["doorstep location import --tenant \(tenant.slug) locations.csv --dry-run"]
        ) { main in
            if let reason { main.element(.p, .class("error"), .role("alert"), text: reason) }
            columns.write(
                into: &main, action: HTMLLink(to: "t", tenant.slug.text, "import", digest, "columns"),
                hidden: choice.query)
        }
    }

    private static func confirm(
        _ tenant: Tenant, _ digest: String, _ choice: Choice, _ plan: ImportPlan, _ html: inout HTMLWriter
    ) {
        guard plan.removalsAreAllowed, plan.inUse.count == 0, !plan.quotas.contains(where: \.isExceeded)
        else {
            return
        }
        guard plan.counts.added + plan.counts.changed + plan.counts.removed > 0 else {
            return html.element(.p, text: "No changes.")
        }
        html.element(
            .form, .class("stack"), .post, .action(HTMLLink(to: "t", tenant.slug.text, "import", digest))
        ) { form in
            for (name, value) in choice.query { if let value { form.hiddenField(name, value) } }
            form.hiddenField("state", plan.state)
            form.element(.button, .class("main"), text: "Import this file")
        }
    }

    // MARK: Doing it

    @Sendable func apply(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        try request.requireChange()
        let (digest, file) = try await file(request, tenant)
        let choice = Choice(request.form)
        guard let state = request.form["state"] else {
            throw ConsoleRefusal.malformed("The form is incomplete. Nothing was done.")
        }
        // If the catalogue has changed since the review, the user reviews it again.
        let counts: ImportCounts
        do {
            guard case .done(let done) = try await outcome(request, tenant, file, choice.options(at: state))
            else { throw AdministrationError.conflict }
            counts = done
        } catch let error as AdministrationError where error == .conflict {
            var page = try await review(request, tenant, digest, file, choice, isOther: true)
            page.status = .conflict
            return .page(page)
        }
        await held.drop(digest, of: tenant.id, by: HeldFiles.Owner(request.session))
        await findings.forget(tenant.id)
        return .seeOther(
            HTMLLink(
                .import, of: tenant,
                query: [
                    ("added", "\(counts.added)"), ("changed", "\(counts.changed)"),
                    ("removed", "\(counts.removed)"), ("unchanged", "\(counts.unchanged)"),
                ]))
    }

    // MARK: The form

    private func formPage(
        _ request: ConsoleRequest, _ tenant: Tenant, notice: String? = nil, error: String? = nil
    ) -> Page {
        Page(
            title: "Import locations", tenant: tenant, section: .import,
            commands: [
                "doorstep location import --tenant \(tenant.slug) locations.csv --dry-run",
                "doorstep location import --tenant \(tenant.slug) locations.csv",
            ], notice: notice
        ) { main in
            if let error { main.element(.p, .class("error"), .role("alert"), text: error) }
            main.element(.p, text: "An import adds all rows or none. The first line names the columns:")
            main.element(.pre, .tabindex(0)) {
                $0.element(.code, text: LocationRecord.requiredColumns.joined(separator: ","))
            }
            main.element(.p) { p in
                p.element(
                    .a, .href(HTMLLink(to: "t", tenant.slug.text, "import", "template.csv")),
                    text: "Download a template")
                p.text(". If your file has other names, you choose the columns in the next step.")
            }
            let optionalColumns = LocationRecord.fields.filter { $0.isCell && !$0.isRequired }.map {
                "\($0.cell), "
            }.joined()
            main.element(
                .p, .class("hint"),
                text:
                    "Optional columns: \(optionalColumns)details.NAME for values in lookup responses, card.PATH for Apple's card. All other columns are metadata. You review the changes before the import."
            )
            guard request.mayChange else { return main.readOnlyHint() }
            main.element(.h2, text: "Upload a file")
            main.upload(
                to: HTMLLink(to: "t", tenant.slug.text, "import.csv"), types: ["text/csv"],
                button: "Review file",
                otherwise:
                    "Uploads need JavaScript. Without it, paste the rows below, or use the command."
            ) { Self.choices("file", &$0) }
            main.element(.h2, text: "Paste rows")
            main.element(.form, .class("stack"), .post, .action(HTMLLink(.import, of: tenant))) { form in
                form.element(.div, .class("field")) { div in
                    div.element(
                        .label, .for("rows"), text: "Rows, with the header line")
                    div.element(
                        .textarea, .id("rows"), .name("rows"), .rows(8), .required, .spellcheck(false),
                        .autocomplete("off"), .ariaDescribedby("rows-hint"))
                    div.element(
                        .p, .id("rows-hint"), .class("hint"),
                        text:
                            "Up to 1 MB (commas and accented letters count threefold). For more rows, upload a file."
                    )
                }
                Self.choices("rows", &form)
                form.element(.p) { $0.element(.button, .class("main"), text: "Review rows") }
            }
        }
    }

    private static func choices(_ prefix: String, _ html: inout HTMLWriter) {
        html.element(.label, .class("check")) { label in
            label.void(.input, .type("checkbox"), .name("prune"), .value("1"))
            label.text("Remove locations that are not in the file")
        }
        html.element(.div, .class("field")) { div in
            div.element(
                .label, .for("\(prefix)-allow"),
                text: "Stop if more than this many locations would be removed (default: half)")
            div.void(
                .input, .id("\(prefix)-allow"), .name("allow"), .type("text"), .inputmode("numeric"),
                .autocomplete("off"), .maxlength(9))
        }
    }
}
