import Administration
import Cards
import Formats
import HTTPTypes
import Persistence
import Tenancy

/// The images of cards, and the cards that use them.
enum ImagesPage {
    /// Images per page. Each image may have 10 MiB. [ours]
    private static let pageLength = 12

    static let types = HeaderImage.Format.allCases.map(\.rawValue)

    @Sendable static func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let after = try request.query["after"].map { text in
            guard let digest = try? ImageDigest(text) else {
                throw ConsoleRefusal.malformed(
                    "The page cursor in the URL is not valid. Open the list again.")
            }
            return digest
        }
        let images = try await request.stores.administration.items.images.items(
            of: tenant.id, after: after, limit: pageLength + 1, where: [:])
        return .page(page(request, tenant, images, isFirst: after == nil))
    }

    private static func page(
        _ request: ConsoleRequest, _ tenant: Tenant, _ images: [CardImage], isFirst: Bool
    ) -> Page {
        Page(
            title: "Images", tenant: tenant, section: .images,
            commands: [
                "doorstep image list --tenant \(tenant.slug)",
                "doorstep image add --tenant \(tenant.slug) header.png",
            ]
        ) { main in
            if images.isEmpty {
                main.element(.p, text: "No images yet.")
            } else {
                main.element(.ul, .class("images")) { list in
                    for image in images.prefix(pageLength) { item(tenant, image, &list) }
                }
                main.element(.p, .class("paging")) { p in
                    if !isFirst { p.element(.a, .href(HTMLLink(.images, of: tenant)), text: "First page") }
                    if images.count > pageLength {
                        let last = images[pageLength - 1].key.description
                        p.element(
                            .a, .href(HTMLLink(.images, of: tenant, query: [("after", last)])),
                            text: "Next \(pageLength)")
                    }
                }
            }
            main.element(.h2, text: "Add an image")
            main.element(
                .p, .class("hint"),
                text:
                    "PNG or JPEG, 1800 × 1200 pixels, RGB without transparency, at most 10 MiB."
            )
            guard request.mayChange else { return main.readOnlyHint() }
            main.upload(
                to: HTMLLink(.images, of: tenant), types: types, button: "Add",
                otherwise:
                    "Uploads need JavaScript. Without it, use the command below."
            )
        }
    }

    private static func item(_ tenant: Tenant, _ image: CardImage, _ html: inout HTMLWriter) {
        html.element(.li) { item in
            item.element(.a, .href(HTMLLink(image: image.key, of: tenant))) { a in
                a.void(
                    .img, .src(HTMLLink(image: image.key, of: tenant, "file")),
                    .alt("Image \(image.key.description.prefix(12))"), .width(180), .height(120))
                a.element(.code, text: "\(image.key.description.prefix(12))…")
            }
            item.element(.p, .class("hint")) { p in
                p.text("\(image.format.rawValue), \(image.byteCount.grouped) bytes, ")
                p.time(image.addedAt)
            }
        }
    }

    // MARK: One

    @Sendable static func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let image = try await image(request, tenant)
        let dependents = try await request.stores.administration.dependents(of: image.key, of: tenant.id)
        return .page(
            Page(
                title: "Image", tenant: tenant, section: .images,
                commands: ["doorstep image show --tenant \(tenant.slug) \(image.key)"],
                notice: request.query["added"] == nil ? nil : "Image added. Cards can use it."
            ) { main in
                main.void(
                    .img, .class("image"), .src(HTMLLink(image: image.key, of: tenant, "file")),
                    .alt("Card image"), .width(1_800), .height(1_200))
                main.element(.dl, .class("facts")) { list in
                    list.fact("SHA-256") { $0.element(.code, text: image.key.description) }
                    list.fact("Type") { $0.text(image.format.rawValue) }
                    list.fact("Bytes") { $0.text(image.byteCount.grouped) }
                    list.fact("Added") { $0.time(image.addedAt) }
                }
                main.element(.h2, text: "Used by")
                guard !dependents.isEmpty else { return main.element(.p, text: "No card uses it.") }
                main.element(.ul) { list in
                    for referent in dependents { list.element(.li) { $0.name(referent.description) } }
                }
            })
    }

    @Sendable static func file(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let image = try await image(request, tenant)
        guard
            let file = try await request.stores.administration.imageFiles.bytes(
                0..<image.byteCount, of: image.key, of: tenant.id)
        else { throw ConsoleRefusal.notFound }
        return .image(file, type: image.format.rawValue)
    }

    private static func image(_ request: ConsoleRequest, _ tenant: Tenant) async throws -> CardImage {
        guard let digest = request.path["sha256"].flatMap({ try? ImageDigest($0) }),
            let image = try await request.stores.administration.items.images.item(digest, of: tenant.id)
        else { throw ConsoleRefusal.notFound }
        return image
    }

    // MARK: Adding

    @Sendable static func add(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let tenant = try await request.tenant()
        let image = try CardImage(file: request.file, addedAt: request.now)
        let kept = try await request.stores.administration.items.images.change(
            image.key, of: tenant.id, by: request.session.access.actor
        ) { $0 ?? image }.after
        let next = HTMLLink(image: kept.key, of: tenant, query: [("added", "1")])
        return .json(JSONValue.object(["next": .string(next.text)]).serialized())
    }
}

extension HTMLLink {
    init(
        image: ImageDigest, of tenant: Tenant, _ further: String..., query: [(String, String?)] = []
    ) {
        switch further.first {
        case let last?:
            self = HTMLLink(to: "t", tenant.slug.text, "images", image.description, last, query: query)
        case nil: self = HTMLLink(to: "t", tenant.slug.text, "images", image.description, query: query)
        }
    }
}

extension HTMLWriter {
    /// A form whose file the console's script sends unchanged, and a hint for browsers without scripts.
    /// - Parameter fields: further fields of the request.
    mutating func upload(
        to link: HTMLLink, types: [String], button: String, otherwise: String,
        fields: (inout HTMLWriter) -> Void = { _ in }
    ) {
        element(.p, .class("without-scripts"), text: otherwise)
        element(
            .form, .class("stack"), .data("upload", link.text), .data("types", types.joined(separator: " ")),
            .hidden
        ) { form in
            form.element(.div, .class("field")) { div in
                div.element(.label, .for("file"), text: "File")
                div.void(
                    .input, .id("file"), .type("file"), .accept(types.joined(separator: ",")), .required)
            }
            fields(&form)
            form.element(.p) { $0.element(.button, .class("main"), text: button) }
            form.element(.p, .role("status"))
        }
    }
}
