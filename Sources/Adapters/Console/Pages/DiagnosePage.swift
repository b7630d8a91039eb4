import Administration
import Formats
import Invocation
import Lookups
import Tenancy

/// The diagnosis of an invocation URL, check by check, as in `doorstep diagnose`.
struct DiagnosePage: Sendable {
    private let dependencies: ConsoleServer.Dependencies
    private let checks: WorkInProgress<TenantID>

    init(_ dependencies: ConsoleServer.Dependencies, _ checks: WorkInProgress<TenantID>) {
        self.dependencies = dependencies
        self.checks = checks
    }

    @Sendable func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let url = request.query["url"] else { return .page(page(tenant, url: nil)) }
        return try await diagnose(url, tenant, asksSite: false)
    }

    /// Also checks the live site. Requires a form, because any other site can make a browser send a GET.
    @Sendable func askSite(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        guard let url = request.form["url"] else {
            throw ConsoleRefusal.malformed("The form has no URL.")
        }
        return try await checks.with(tenant.id) { try await diagnose(url, tenant, asksSite: true) }
    }

    private func diagnose(_ url: String, _ tenant: Tenant, asksSite: Bool) async throws -> ConsoleResponse {
        guard let table = dependencies.table.current?.table(of: tenant.id) else {
            return .page(page(tenant, url: url))
        }
        let diagnosis = try await dependencies.diagnose(url, table, asksSite)
        let location = (try? InvocationURL(url)).flatMap { table.lookUp($0).location }
        return .page(page(tenant, url: url, asksSite: asksSite, diagnosis, location))
    }

    private func page(
        _ tenant: Tenant, url: String?, asksSite: Bool = false, _ diagnosis: JSONObject? = nil,
        _ location: Location? = nil
    ) -> Page {
        let command =
            "doorstep diagnose --tenant \(tenant.slug) \((url ?? "https://example.com/…").shellQuoted)"
        return Page(
            title: "Diagnose", tenant: tenant, section: .diagnose,
            commands: [asksSite ? "\(command) --live" : command]
        ) { main in
            Self.form(tenant, url: url, &main)
            guard let url, let diagnosis else { return }
            Self.verdict(tenant, url, diagnosis, location, &main)
            let checks = (diagnosis["checks"]?.arrayValue ?? []).compactMap(\.objectValue)
            main.table("Checks", columns: ["Check", "Result", "Details"]) { rows in
                for check in checks { Self.row(check, &rows) }
            }
            guard !asksSite else { return }
            main.element(.form, .post, .action(HTMLLink(.diagnose, of: tenant))) { form in
                form.hiddenField("url", url)
                form.element(.p) { $0.element(.button, text: "Check the live site, too") }
            }
        }
    }

    private static func form(_ tenant: Tenant, url: String?, _ html: inout HTMLWriter) {
        html.element(.form, .class("filter"), .action(HTMLLink(.diagnose, of: tenant))) { form in
            form.element(.div, .class("field wide")) { div in
                div.element(.label, .for("url"), text: "Invocation URL, as in a code or tag")
                div.void(
                    .input, .id("url"), .name("url"), .type("text"), .inputmode("url"), .value(url ?? ""),
                    .required,
                    .autocomplete("off"), .spellcheck(false), .maxlength(2_048))
            }
            form.element(.button, .class("main"), text: "Diagnose")
        }
    }

    private static func verdict(
        _ tenant: Tenant, _ url: String, _ diagnosis: JSONObject, _ location: Location?,
        _ html: inout HTMLWriter
    ) {
        html.element(.section, .class("verdict"), .ariaLabel("Verdict")) { section in
            section.qrCode(url)
            section.element(.div) { div in
                let verdict = diagnosis["verdict"]?.objectValue
                let isWell = diagnosis["ok"] == true
                let isUnknown = verdict?["code"] == "launch_unknown"
                div.element(
                    .p, .class(isUnknown ? "outcome unknown" : isWell ? "outcome ok" : "outcome failed")
                ) { p in
                    p.element(.span, .ariaHidden, text: isUnknown ? "? " : isWell ? "✓ " : "✕ ")
                    p.text("The URL ")
                    p.name(verdict?["text"]?.stringValue ?? "")
                    p.text(".")
                }
                div.element(.p) { p in p.element(.code) { $0.name(url) } }
                guard let location, !location.isEncodedInURL else { return }
                div.element(.p) { p in
                    p.text("Location: ")
                    p.element(.a, .href(HTMLLink(location: location.identifier, of: tenant))) {
                        $0.name(location.name ?? location.identifier.text)
                    }
                }
            }
        }
    }

    private static func row(_ check: JSONObject, _ rows: inout HTMLWriter) {
        let status = check["status"]?.stringValue ?? ""
        let name = (check["check"]?.stringValue ?? "").replacing("_", with: " ")
        rows.element(.tr) { row in
            row.element(.th, .scope("row"), text: name)
            row.element(.td) { td in
                td.element(.span, .class("status \(status)")) { span in
                    span.element(.span, .ariaHidden, text: symbol(of: status) + " ")
                    span.text(status)
                }
            }
            row.element(.td) { td in
                if let value = check["value"]?.stringValue {
                    td.element(.code) { $0.name(value) }
                    td.text(" ")
                }
                if let detail = check["detail"]?.stringValue { td.name(detail) }
            }
        }
    }

    private static func symbol(of status: String) -> String {
        switch status {
        case "ok": "✓"
        case "warning": "!"
        case "failed": "✕"
        case "unknown": "?"
        default: "–"
        }
    }
}
