import Administration
import Cards
import Foundation
import HTML
import HTTPSyntax
import HTTPTypes
import Hummingbird
import IPAddresses
import JSON
import Logging
import Lookups
import NIOCore
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

    func router() -> Router<ConsoleContext> {
        let router = Router(context: ConsoleContext.self, options: [.autoGenerateHeadEndpoints])
        router.add(
            middleware: GuardMiddleware(
                names: ConsoleNames(origins: settings.origins),
                proxies: TrustedProxies(settings.proxies),
                proxySignIn: settings.proxySignIn))
        router.add(middleware: FailureMiddleware(layout: layout, logger: logger))
        router.get("/assets/:bundle/:name") { request, context in
            try assets.response(context.parameters, acceptEncoding: request.headers[.acceptEncoding])
        }
        // A signed-in user may sign in as another one. A redirect would forward the link's secret.
        router.get("/login") { _, _ in html(LoginPage.page()) }
        router.post("/login") { request, context in try await signIn(request, context) }
        router.post("/logout") { request, context in try await signOut(request, context) }

        let find = FindPage(table: dependencies.table)
        get("/", router, find.index)
        get("/help", router, HelpPage.response)
        get("/sessions", router, SessionsPage(dependencies.sessions).index)
        post("/sessions/end", router, SessionsPage(dependencies.sessions).end)
        get("/tenants", router, TenantsPage.index)
        get("/tenants/:slug", router, TenantPage.show)
        post("/tenants/:slug/limits", router, TenantPage.setLimits)
        post("/tenants/:slug/quotas", router, TenantQuotasForm.set)
        post("/tenants/:slug/suspension", router, TenantPage.setSuspended)
        get("/status", router, StatusPage(dependencies, detours: settings.apnsDetours).response)
        get("/t/:slug", router) { .seeOther(HTMLLink(to: "t", try await $0.tenant().slug.text, "places")) }
        get("/t/:slug/find", router, find.withinTenant)
        let locations = LocationsPage(
            findings, table: dependencies.table, hasMap: assets.leaflet != nil)
        get("/t/:slug/places", router, locations.list)
        get("/t/:slug/places.cells", router, locations.cells)
        let location = LocationPage(findings, table: dependencies.table, hasMap: assets.leaflet != nil)
        get("/t/:slug/places/:id", router, location.show)
        post("/t/:slug/places/:id/try", router, location.tryPoint)
        let edit = LocationEditor(findings, table: dependencies.table, hasMap: assets.leaflet != nil)
        get("/t/:slug/places/:id/edit", router, edit.form)
        post("/t/:slug/places/:id/edit", router, edit.save)
        let diagnosis = DiagnosePage(dependencies, checks)
        get("/t/:slug/diagnose", router, diagnosis.show)
        post("/t/:slug/diagnose", router, diagnosis.askSite)
        get("/t/:slug/problems", router, ProblemsPage(findings).response)
        let webhooks = WebhooksPage(forms)
        get("/t/:slug/webhooks", router, webhooks.index)
        post("/t/:slug/webhooks", router, webhooks.create)
        let webhook = WebhookPage(webhooks, forms)
        get("/t/:slug/webhooks/:id", router, webhook.show)
        post("/t/:slug/webhooks/:id/change", router, webhook.change)
        post("/t/:slug/webhooks/:id/rotate", router, webhook.rotate)
        post("/t/:slug/webhooks/:id/test", router, webhook.test)
        post("/t/:slug/webhooks/:id/replay", router, webhook.replay)
        let keys = KeysPage(forms)
        get("/t/:slug/keys", router, keys.index)
        post("/t/:slug/keys", router, keys.create)
        let key = KeyPage(keys, forms)
        get("/t/:slug/keys/:id", router, key.show)
        post("/t/:slug/keys/:id/rotate", router, key.rotate)
        post("/t/:slug/keys/:id/revoke", router, key.revoke)
        get("/t/:slug/urls", router, URLsPage(findings, table: dependencies.table).response)
        get(
            "/t/:slug/urls/:id", router,
            ExperiencePage(dependencies.sites, table: dependencies.table).response)
        let domains = DomainsPage(findings)
        get("/t/:slug/domains", router, domains.index)
        post("/t/:slug/domains", router, domains.claim)
        let domain = DomainPage(dependencies.sites, findings, checks, table: dependencies.table)
        get("/t/:slug/domains/:host", router, domain.show)
        post("/t/:slug/domains/:host/verify", router, domain.verify)
        post("/t/:slug/domains/:host/check", router, domain.check)
        post("/t/:slug/domains/:host/pages", router, domain.setPages)
        get("/t/:slug/audit", router, AuditPage.response)
        get("/t/:slug/confirmations", router, ConfirmationsPage(FinishedDays()).response)
        get("/t/:slug/deliveries", router, DeliveriesPage.list)
        get("/t/:slug/deliveries/:id", router, DeliveryTracePage.show)
        post("/t/:slug/deliveries/:id/retry", router, DeliveryTracePage.retry)
        get("/t/:slug/retry", router, RetryPage.review)
        post("/t/:slug/retry", router, RetryPage.retry)
        get("/t/:slug/images", router, ImagesPage.list)
        get("/t/:slug/images/:sha256", router, ImagesPage.show)
        get("/t/:slug/images/:sha256/file", router, ImagesPage.file)
        upload(
            "/t/:slug/images", ImagesPage.types, router, limit: HeaderImage.maximumByteCount, ImagesPage.add)
        let imports = ImportPage(held, files, findings, table: dependencies.table)
        get("/t/:slug/import", router, imports.form)
        post("/t/:slug/import", router, imports.paste)
        upload("/t/:slug/import.csv", ["text/csv"], router, limit: HeldFiles.maximumLength, imports.upload)
        get("/t/:slug/import/:sha256", router, imports.show)
        post("/t/:slug/import/:sha256", router, imports.apply)
        get("/t/:slug/appstore", router, AppStorePage.response)
        get("/t/:slug/appstore/:clip", router, AppStorePlanPage.response)
        return router
    }

    private func get(_ path: RouterPath, _ router: Router<ConsoleContext>, _ handler: @escaping Handler) {
        router.get(path) { request, context in
            try await response(request, context, by: handler)
        }
    }

    private func post(_ path: RouterPath, _ router: Router<ConsoleContext>, _ handler: @escaping Handler) {
        router.post(path) { request, context in
            try await response(request, context, by: handler) { $0.form = try await form(of: request) }
        }
    }

    /// Receives a file from the console's own script. The JSON response contains the next address or the error.
    private func upload(
        _ path: RouterPath, _ types: [String], _ router: Router<ConsoleContext>, limit: Int,
        _ handler: @escaping Handler
    ) {
        router.post(path) { request, context in
            do {
                return try await response(request, context, by: handler) { asked in
                    // Checked before the file is read.
                    try asked.requireChange()
                    _ = try await asked.tenant()
                    asked.file = try await files.with(HeldFiles.Owner(asked.session)) {
                        try await file(of: request, types, limit: limit)
                    }
                }
            } catch {
                let failures = FailureMiddleware(layout: layout, logger: logger)
                let refusal = failures.refusal(for: error, request)
                return Response(
                    status: refusal.status, headers: [.contentType: "application/json"],
                    body: ResponseBody(
                        byteBuffer: ByteBuffer(
                            bytes: JSONValue.object(["error": .string(refusal.text)]).serialized())))
            }
        }
    }

    private func file(of request: Request, _ types: [String], limit: Int) async throws -> [UInt8] {
        guard let type = request.headers[.contentType], types.contains(type) else {
            throw ConsoleRefusal(
                status: .unsupportedMediaType, title: "Wrong file type",
                text: "The file must have the type \(types.joined(separator: " or ")). Nothing was done.")
        }
        var request = request
        do {
            return Array(buffer: try await request.collectBody(upTo: limit))
        } catch is NIOTooManyBytesError {
            throw ConsoleRefusal(
                status: .contentTooLarge, title: "File too large",
                text: "The file may have at most \(limit.grouped) bytes. Nothing was done.")
        }
    }

    /// - Parameter read: reads the body of a signed-in user's request.
    private func response(
        _ request: Request, _ context: ConsoleContext, by handler: Handler,
        reading read: (inout ConsoleRequest) async throws -> Void = { _ in }
    ) async throws -> Response {
        guard let session = try await person(of: request, context) else {
            return ConsoleResponse.redirect(to: HTMLLink("/login"))
        }
        var path: [String: String] = [:]
        for (name, value) in context.parameters {
            guard let value = String(value).removingPercentEncoding else { throw ConsoleRefusal.notFound }
            path[String(name)] = value
        }
        var asked = ConsoleRequest(
            path: path, query: FormFields(request.uri.query ?? ""), session: session,
            stores: dependencies.stores(session.access), now: Date())
        try await read(&asked)
        switch try await handler(asked) {
        case .page(let page):
            return html(page, for: session)
        case .seeOther(let link):
            return ConsoleResponse.redirect(to: link)
        case .image(let bytes, let type):
            return Response(
                status: .ok,
                headers: [.contentType: type, .cacheControl: "private, max-age=86400, immutable"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        case .json(let bytes):
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
    }

    private func html(_ page: Page, for session: ConsoleSession? = nil) -> Response {
        let asOf = session.flatMap { _ in dependencies.table.current?.asOf }
        return ConsoleResponse.html(
            layout.html(page, for: session, tableAge: asOf.map { Date().timeIntervalSince($0) } ?? 0),
            page.status, hasMap: page.hasMap, tiles: page.hasMap ? assets.tiles : nil)
    }

    private func person(of request: Request, _ context: ConsoleContext) async throws -> ConsoleSession? {
        if let session = try await personByProxy(of: request, context) { return session }
        guard let secret = Entrance.secret(of: request, isSecure: context.isSecure) else { return nil }
        return try await dependencies.sessions.session(secret, at: Date())
    }

    /// The guard has refused user and group fields from all other clients.
    private func personByProxy(
        of request: Request, _ context: ConsoleContext
    ) async throws -> ConsoleSession? {
        guard context.isBehindProxy, let (name, group) = try settings.proxySignIn?.person(of: request) else {
            return nil
        }
        var access = ConsoleAccess(name: name, isReadOnly: group.isReadOnly)
        if let slug = group.tenant {
            do {
                let tenant = try await dependencies.stores(access).tenants.tenant(slug)
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

    private func form(of request: Request) async throws -> FormFields {
        guard request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true else {
            throw ConsoleRefusal.unreadableForm
        }
        var request = request
        return FormFields(String(buffer: try await request.collectBody(upTo: FormFields.maximumLength)))
    }

    // MARK: Sign in and out

    private func signIn(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        let form = try await form(of: request)
        let now = Date()
        guard let link = try await entrance.link(form["token"], from: context.client) else {
            return html(LoginPage.page(hasFailed: true))
        }
        if form[LoginPage.confirmation] == nil, let current = try await person(of: request, context),
            let next = try await dependencies.sessions.access(by: link, at: now), next != current.access
        {
            guard !current.isByProxy else { throw ConsoleRefusal.signedInByProxy(current.access.name) }
            return html(LoginPage.question(current.access, next, link))
        }
        guard
            let (session, cookie) = try await entrance.signIn(
                by: link, insteadOf: Entrance.secret(of: request, isSecure: context.isSecure),
                isSecure: context.isSecure, at: now)
        else { return html(LoginPage.page(hasFailed: true)) }
        logger.notice("signed in", metadata: ["name": "\(session.access.name)"])
        var response = ConsoleResponse.redirect(to: HTMLLink("/"))
        response.setCookie(cookie)
        return response
    }

    private func signOut(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        if let session = try await person(of: request, context), !session.isByProxy {
            try await dependencies.sessions.end(session.id, by: session.access.name)
        }
        var response = ConsoleResponse.redirect(to: HTMLLink("/login"))
        response.setCookie(Entrance.noCookie(isSecure: context.isSecure))
        return response
    }
}
