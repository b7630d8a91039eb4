import Administration
import Cards
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Logging
import Lookups
import Persistence
import Tenancy

/// The console's endpoints.
struct ConsoleEndpoints: Sendable {
    let settings: ConsoleServer.Settings
    let dependencies: ConsoleServer.Dependencies
    let assets: Assets
    let layout: Layout
    let findings: FindingsCache
    let entrance: Entrance
    let held = HeldFiles()
    let people = ProxyPeople()
    let forms: SubmittedForms
    /// The maximum number of site checks of one tenant at a time, so that slow sites of a tenant cannot block the console. [ours]
    let checks = WorkInProgress<TenantID>(maximum: 4, otherwise: .tooManyChecks)
    /// The maximum number of one person's files that are received or read at a time. [ours]
    let files = WorkInProgress<HeldFiles.Owner>(maximum: 2, otherwise: .tooManyFiles)
    let logger: Logger

    init(_ settings: ConsoleServer.Settings, _ dependencies: ConsoleServer.Dependencies, logger: Logger) {
        self.settings = settings
        self.dependencies = dependencies
        self.logger = logger
        assets = Assets(leaflet: settings.leaflet, tiles: settings.tiles)
        layout = Layout(assets, apnsDetours: settings.apnsDetours)
        findings = FindingsCache(dependencies.findings, patience: settings.patience)
        entrance = Entrance(dependencies.sessions)
        forms = SubmittedForms(dependencies.sessions)
    }

    typealias Handler = @Sendable (ConsoleRequest) async throws -> ConsoleResponse

    /// All endpoints.
    var list: [ConsoleEndpoint] {
        session + installation + catalogue + webhooksKeysAndDomains + usage + imports
    }

    private var find: FindPage { FindPage(table: dependencies.table) }

    private var session: [ConsoleEndpoint] {
        let sessions = SessionsPage(dependencies.sessions)
        return [
            ConsoleEndpoint(method: .get, path: "/assets/{bundle}/{name}") { request in
                try assets.response(request.parameters, acceptEncoding: request.fields[.acceptEncoding])
            },
            // A signed-in user may sign in as another one. A redirect would forward the link's secret.
            ConsoleEndpoint(method: .get, path: "/login") { request in
                html(LoginPage.page(next: LoginPage.nextPage(of: FormFields(request.query))))
            },
            ConsoleEndpoint(method: .post, path: "/login", respond: signIn),
            ConsoleEndpoint(method: .post, path: "/logout", respond: signOut),
            get("/sessions", sessions.index),
            post("/sessions/end", sessions.end),
        ]
    }

    private var installation: [ConsoleEndpoint] {
        [
            get("/", find.index),
            get("/help", HelpPage.response),
            get("/tenants", TenantsPage.index),
            get("/tenants/{slug}", TenantPage.show),
            post("/tenants/{slug}/limits", TenantPage.setLimits),
            post("/tenants/{slug}/quotas", TenantQuotasForm.set),
            post("/tenants/{slug}/suspension", TenantPage.setSuspended),
            get("/status", StatusPage(dependencies, detours: settings.apnsDetours).response),
        ]
    }

    private var catalogue: [ConsoleEndpoint] {
        let table = dependencies.table
        let hasMap = assets.leaflet != nil
        let locations = LocationsPage(findings, table: table, hasMap: hasMap)
        let location = LocationPage(findings, table: table, hasMap: hasMap)
        let diagnosis = DiagnosePage(dependencies, checks)
        return [
            get("/t/{slug}/places", locations.list),
            get("/t/{slug}/places.cells", locations.cells),
            get("/t/{slug}/places/{id}", location.show),
            post("/t/{slug}/places/{id}/try", location.tryPoint),
            get("/t/{slug}/qr.svg", LocationURLs.code),
            get("/t/{slug}/diagnose", diagnosis.show),
            post("/t/{slug}/diagnose", diagnosis.askSite),
            get("/t/{slug}/problems", ProblemsPage(findings).response),
            get("/t/{slug}/urls", URLsPage(findings, table: table).response),
            get("/t/{slug}/urls/{id}", ExperiencePage(dependencies.sites, table: table).response),
            get("/t/{slug}/images", ImagesPage.list),
            get("/t/{slug}/images/{sha256}", ImagesPage.show),
            get("/t/{slug}/images/{sha256}/file", ImagesPage.file),
            upload(
                "/t/{slug}/images", ImagesPage.types, limit: HeaderImage.maximumByteCount, ImagesPage.add),
            get("/t/{slug}/appstore", AppStorePage.response),
            get("/t/{slug}/appstore/{clip}", AppStorePlanPage.response),
            get("/t/{slug}/clips", ClipsPage.list),
            get("/t/{slug}/clips/{id}", ClipsPage.show),
            get("/t/{slug}/codes", ShortCodesPage.list),
            get("/t/{slug}/codes/{id}", ShortCodesPage.show),
        ] + editing(LocationRecord.self) + editing(ExperienceRecord.self) + editing(Clip.self)
            + editing(ShortCode.self)
    }

    /// The endpoints that create, change and delete items of one kind.
    private func editing<Item: EditableItem>(_: Item.Type) -> [ConsoleEndpoint] {
        let editor = ItemEditor<Item>(findings, table: dependencies.table, hasMap: assets.leaflet != nil)
        let deletion = ItemDeletion<Item>(findings)
        let item = "/t/{slug}/\(Item.section.rawValue)/{id}"
        return [
            get("/t/{slug}/add/\(Item.section.rawValue)", editor.newForm),
            post("/t/{slug}/add/\(Item.section.rawValue)", editor.create),
            get("\(item)/edit", editor.form),
            post("\(item)/edit", editor.submit),
            get("\(item)/delete", deletion.form),
            post("\(item)/delete", deletion.delete),
        ]
    }

    private var webhooksKeysAndDomains: [ConsoleEndpoint] {
        let webhooks = WebhooksPage(forms)
        let webhook = WebhookPage(webhooks, forms, servers: dependencies.servers)
        let keys = KeysPage(forms)
        let key = KeyPage(keys, forms)
        let domains = DomainsPage(findings)
        let domain = DomainPage(dependencies.sites, findings, checks, table: dependencies.table)
        return [
            get("/t/{slug}/webhooks", webhooks.index),
            post("/t/{slug}/webhooks", webhooks.create),
            get("/t/{slug}/webhooks/{id}", webhook.show),
            post("/t/{slug}/webhooks/{id}/change", webhook.change),
            post("/t/{slug}/webhooks/{id}/rotate", webhook.rotate),
            post("/t/{slug}/webhooks/{id}/test", webhook.test),
            post("/t/{slug}/webhooks/{id}/replay", webhook.replay),
            get("/t/{slug}/keys", keys.index),
            post("/t/{slug}/keys", keys.create),
            get("/t/{slug}/keys/{id}", key.show),
            post("/t/{slug}/keys/{id}/name", key.rename),
            post("/t/{slug}/keys/{id}/rotate", key.rotate),
            post("/t/{slug}/keys/{id}/revoke", key.revoke),
            get("/t/{slug}/domains", domains.index),
            post("/t/{slug}/domains", domains.claim),
            get("/t/{slug}/domains/{host}", domain.show),
            post("/t/{slug}/domains/{host}/verify", domain.verify),
            post("/t/{slug}/domains/{host}/check", domain.check),
            post("/t/{slug}/domains/{host}/pages", domain.setPages),
        ]
    }

    private var usage: [ConsoleEndpoint] {
        [
            get("/t/{slug}") { .seeOther(HTMLLink(.overview, of: try await $0.tenant())) },
            get(
                "/t/{slug}/overview",
                OverviewPage(findings, FinishedDays(), servers: dependencies.servers).response),
            get("/t/{slug}/find", find.withinTenant),
            get("/t/{slug}/audit", AuditPage.response),
            get("/t/{slug}/requests", RequestsPage.response),
            get("/t/{slug}/confirmations", ConfirmationsPage(FinishedDays()).response),
            get("/t/{slug}/statistics", StatisticsPage.show),
            get("/t/{slug}/statistics.csv", StatisticsPage.file),
            get("/t/{slug}/deliveries", DeliveriesPage.list),
            get("/t/{slug}/deliveries/{id}", DeliveryTracePage.show),
            post("/t/{slug}/deliveries/{id}/retry", DeliveryTracePage.retry),
            post("/t/{slug}/deliveries/{id}/cancel", DeliveryTracePage.cancel),
            get("/t/{slug}/retry", RetryPage.review),
            post("/t/{slug}/retry", RetryPage.retry),
        ]
    }

    private var imports: [ConsoleEndpoint] {
        let imports = ImportPage(held, files, findings, table: dependencies.table)
        return [
            get("/t/{slug}/import", imports.form),
            post("/t/{slug}/import", imports.paste),
            upload("/t/{slug}/import.csv", ["text/csv"], limit: HeldFiles.maximumLength, imports.upload),
            get("/t/{slug}/import/template.csv", imports.template),
            get("/t/{slug}/import/{sha256}", imports.show),
            post("/t/{slug}/import/{sha256}", imports.apply),
            post("/t/{slug}/import/{sha256}/columns", imports.nameColumns),
        ]
    }

    var failures: FailurePages { FailurePages(layout: layout, logger: logger) }

    private func get(_ path: String, _ handler: @escaping Handler) -> ConsoleEndpoint {
        ConsoleEndpoint(method: .get, path: path) { try await page($0, by: handler) }
    }

    private func post(_ path: String, _ handler: @escaping Handler) -> ConsoleEndpoint {
        ConsoleEndpoint(method: .post, path: path) { request in
            try await page(request, by: handler) { $0.form = try await form(of: request) }
        }
    }

    /// The page of a refusal or an error has the navigation and the search of the session.
    private func page(
        _ request: ReceivedRequest, by handler: Handler,
        reading read: (inout ConsoleRequest) async throws -> Void = { _ in }
    ) async throws -> ServerResponse {
        try await response(request, by: handler, reading: read) { error, asked in
            let refusal = failures.refusal(for: error, request.method)
            // After an unexpected error, the database may be unavailable.
            let tenant = refusal.status.code < 500 ? try? await asked.tenant() : nil
            return failures.page(of: refusal, for: asked.session, tenant: tenant)
        }
    }

    /// The page of a path that does not exist.
    func unknownPath(_ request: ReceivedRequest) async -> ServerResponse {
        let session = try? await person(of: request)
        return failures.page(of: .notFound, for: session)
    }

    /// Receives a file from the console's own script. The JSON response contains the next address or the error.
    private func upload(
        _ path: String, _ types: [String], limit: Int, _ handler: @escaping Handler
    ) -> ConsoleEndpoint {
        ConsoleEndpoint(method: .post, path: path) { request in
            do {
                return try await response(request, by: handler) { asked in
                    // Checked before the file is read.
                    try asked.requireChange()
                    _ = try await asked.tenant()
                    asked.file = try await files.with(HeldFiles.Owner(asked.session)) {
                        try await file(of: request, types, limit: limit)
                    }
                }
            } catch {
                let refusal = failures.refusal(for: error, request.method)
                return ServerResponse(
                    refusal.status, [.contentType: "application/json"],
                    body: .bytes(JSONValue.object(["error": .string(refusal.text)]).serialized()))
            }
        }
    }

    private func file(of request: ReceivedRequest, _ types: [String], limit: Int) async throws -> [UInt8] {
        guard let type = request.fields[.contentType], types.contains(type) else {
            throw ConsoleRefusal(
                status: .unsupportedMediaType, title: "Wrong file type",
                text: "The file must have the type \(types.joined(separator: " or ")). Nothing was done.")
        }
        do {
            return try await request.body.bytes(upTo: limit)
        } catch is ServerRequestBody.TooLong {
            throw ConsoleRefusal(
                status: .contentTooLarge, title: "File too large",
                text: "The file may have at most \(limit.grouped) bytes. Nothing was done.")
        }
    }

    /// - Parameters:
    ///   - read: reads the body of a signed-in user's request.
    ///   - failed: makes the response to an error of a signed-in user's request, or throws the error.
    private func response(
        _ request: ReceivedRequest, by handler: Handler,
        reading read: (inout ConsoleRequest) async throws -> Void,
        failed: (any Error, ConsoleRequest) async throws -> ServerResponse = { error, _ in throw error }
    ) async throws -> ServerResponse {
        guard let session = try await person(of: request) else {
            guard let kept = await keptForm(of: request) else {
                return ConsoleResponse.redirect(to: LoginPage.link(backTo: request))
            }
            return html(LoginPage.page(keeping: kept))
        }
        var path: [String: String] = [:]
        for (name, value) in request.parameters {
            guard let value = String(value).removingPercentEncoding else { throw ConsoleRefusal.notFound }
            path[String(name)] = value
        }
        var asked = ConsoleRequest(
            path: path, query: FormFields(request.query), session: session,
            stores: dependencies.stores(session.access), now: Date())
        do {
            try await read(&asked)
            switch try await handler(asked) {
            case .page(let page):
                return html(page, for: session)
            case .seeOther(let link):
                return ConsoleResponse.redirect(to: link)
            case .image(let bytes, let type):
                return ServerResponse(
                    .ok, [.contentType: type, .cacheControl: "private, max-age=86400, immutable"],
                    body: .bytes(bytes))
            case .file(let bytes, let type, let name):
                return ServerResponse(
                    .ok,
                    [
                        .contentType: type,
                        .contentDisposition: "attachment; filename=\"\(name)\"",
                    ], body: .bytes(bytes))
            case .json(let bytes):
                return ServerResponse(.ok, [.contentType: "application/json"], body: .bytes(bytes))
            }
        } catch {
            return try await failed(error, asked)
        }
    }

    private func html(_ page: Page, for session: ConsoleSession? = nil) -> ServerResponse {
        let asOf = session.flatMap { _ in dependencies.table.current?.asOf }
        return ConsoleResponse.html(
            layout.html(page, for: session, tableAge: asOf.map { Date().timeIntervalSince($0) } ?? 0),
            page.status, hasMap: page.hasMap, tiles: page.hasMap ? assets.tiles : nil)
    }

    private func person(of request: ReceivedRequest) async throws -> ConsoleSession? {
        if let session = try await personByProxy(of: request) { return session }
        guard let secret = Entrance.secret(of: request) else { return nil }
        return try await dependencies.sessions.session(secret, at: Date())
    }

    /// The guard has refused user and group fields from all other clients.
    private func personByProxy(
        of request: ReceivedRequest
    ) async throws -> ConsoleSession? {
        guard request.isBehindProxy, let (name, group) = try settings.proxySignIn?.person(of: request) else {
            return nil
        }
        var access = ConsoleAccess(name: name, isReadOnly: group.isReadOnly)
        if let slug = group.tenant {
            do {
                let tenant = try await dependencies.stores(access).administration.tenant(slug)
                access = ConsoleAccess(name: name, tenant: tenant.id, isReadOnly: group.isReadOnly)
            } catch let error as AdministrationError where error.code == "unknown_tenant" {
                throw ConsoleRefusal.forbidden("Your group has access to no tenant.")
            }
        }
        let now = Date()
        if people.isNew(access, at: now) {
            do {
                try await dependencies.sessions.noteSignIn(of: name)
            } catch {
                people.forget(access)
                throw error
            }
            logger.notice("signed in by a proxy", metadata: ["name": "\(name)"])
        }
        return .byProxy(access, at: now)
    }

    private func form(of request: ReceivedRequest) async throws -> FormFields {
        guard request.isForm else { throw ConsoleRefusal.unreadableForm }
        return FormFields(
            String(decoding: try await request.body.bytes(upTo: FormFields.maximumLength), as: UTF8.self))
    }

    /// A form that was sent without a session; nil if there is none to keep.
    private func keptForm(of request: ReceivedRequest) async -> KeptForm? {
        guard request.method == .post, request.isForm,
            let bytes = try? await request.body.bytes(upTo: KeptForm.maximumLength)
        else { return nil }
        return KeptForm(sentTo: request.path, fields: String(decoding: bytes, as: UTF8.self))
    }

    // MARK: Sign in and out

    private func signIn(_ request: ReceivedRequest) async throws -> ServerResponse {
        let form = try await form(of: request)
        let now = Date()
        let (next, kept) = (LoginPage.nextPage(of: form), KeptForm(in: form))
        if form["token"] == nil, let kept, let session = try await person(of: request) {
            return html(kept.page, for: session)
        }
        guard let link = try await entrance.link(form["token"], from: request.client) else {
            return html(LoginPage.page(next: next, keeping: kept, hasFailed: true))
        }
        if form[LoginPage.confirmation] == nil, let current = try await person(of: request),
            let access = try await dependencies.sessions.access(by: link, at: now), access != current.access
        {
            guard !current.isByProxy else { throw ConsoleRefusal.signedInByProxy(current.access.name) }
            return html(LoginPage.question(current.access, access, link, next: next, keeping: kept))
        }
        guard
            let (session, cookie) = try await entrance.signIn(
                by: link, insteadOf: Entrance.secret(of: request),
                isSecure: request.isSecure, at: now)
        else { return html(LoginPage.page(next: next, keeping: kept, hasFailed: true)) }
        logger.notice("signed in", metadata: ["name": "\(session.access.name)"])
        var response = kept.map { html($0.page, for: session) } ?? ConsoleResponse.redirect(to: next ?? .home)
        response.fields[.setCookie] = cookie
        return response
    }

    private func signOut(_ request: ReceivedRequest) async throws -> ServerResponse {
        if let session = try await person(of: request), !session.isByProxy {
            try await dependencies.sessions.end(session.id, by: session.access.name)
        }
        var response = ConsoleResponse.redirect(to: HTMLLink("/login"))
        response.fields[.setCookie] = Entrance.noCookie(isSecure: request.isSecure)
        return response
    }
}
