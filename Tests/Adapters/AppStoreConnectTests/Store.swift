import AppStoreConnect
import AppStoreConnectSimulator
import AppStoreSync
import Cards
import Crypto
import Formats
import Foundation
import Geodesy
import OutboundHTTP
import StoreSupport
import Tracing

/// A simulator and its client.
struct Store {
    let simulator: AppStoreConnectSimulator
    let client: AppStoreConnectClient

    /// Runs the closure with a simulator and a client.
    static func lend<Result: Sendable>(
        isIndividual: Bool = false, readsOnly: Bool = false, tracer: (any Tracer)? = nil,
        _ change: (inout AppStoreConnectSimulator.Options) -> Void = { _ in },
        _ body: @Sendable (Store) async throws -> Result
    ) async throws -> Result {
        var options = StoreFixture.options
        change(&options)
        return try await AppStoreConnectSimulator.withSimulator(options) { simulator in
            try await client(
                of: simulator.host, isIndividual: isIndividual, readsOnly: readsOnly, tracer: tracer,
                now: options.now
            ) { client in
                try await body(Store(simulator: simulator, client: client))
            }
        }
    }

    static func client<Result: Sendable>(
        of server: String, isIndividual: Bool = false, readsOnly: Bool = false,
        tracer: (any Tracer)? = nil, now: @escaping @Sendable () -> Date = { Date() },
        _ body: @Sendable (AppStoreConnectClient) async throws -> Result
    ) async throws -> Result {
        let key = try key(isIndividual: isIndividual)
        var allowed = OutboundClient.Settings(allowed: ["127.0.0.0/8"].compactMap { AddressRange($0) })
        allowed.tracer = tracer
        return try await OutboundClient.withClient(allowed) { http in
            var settings = AppStoreConnectClient.Settings()
            settings.server = server
            settings.readsOnly = readsOnly
            return try await body(AppStoreConnectClient(key, http, settings, now: now))
        }
    }

    static func key(isIndividual: Bool = false) throws -> AppStoreConnectKey {
        try AppStoreConnectKey(
            id: isIndividual ? StoreFixture.individualKeyID : StoreFixture.keyID,
            issuer: isIndividual ? nil : StoreFixture.issuer, pem: StoreFixture.key.pemRepresentation)
    }

    /// Uploads an image completely.
    func image(seed: Int = 0) async throws -> (id: String, digest: ImageDigest) {
        let file = HeaderPicture.png(seed: seed)
        let header = try HeaderImage(file)
        let reservation = try await client.reserveImage(fileName: "header.png", byteCount: file.count)
        for operation in reservation.operations { try await client.upload(file, operation) }
        _ = try await client.commitImage(reservation.id, md5: header.md5)
        simulator.advance(by: .seconds(10))
        return (reservation.id, header.digest)
    }

    static func card(_ title: String, image: ImageDigest?) throws -> Card {
        Card(
            defaultLanguage: .english, action: .open, image: image,
            texts: [.english: try CardText(title: title, subtitle: "Order at the table")])
    }

    /// A card with all members.
    static func fullCard(image: ImageDigest?) throws -> Card {
        var place = Place()
        place.names = ["Café \"Zwölf\"", "Cafe"]
        place.address = Place.Address()
        place.address?.full = "1 Road, Town"
        place.address?.street = ["1 Road"]
        place.address?.countryCode = "GB"
        place.point = Place.DisplayPoint(
            try Coordinate(latitude: 51.5, longitude: -0.125), source: .manuallyPlaced)
        place.mapAction = .restaurantOrderFood
        place.relationship = .authorized
        place.phone = Place.PhoneNumber("+44 20 7946 0000", type: .landline, intent: "orders")
        place.homePage = "https://example.com"
        place.categories = ["cafe"]
        return Card(
            defaultLanguage: .english, action: .view, businessCategory: .foodAndDrink, image: image,
            texts: [
                .english: try CardText(title: "Twelve", subtitle: "Order"),
                .japanese: try CardText(title: "十二"), .french: try CardText(subtitle: "Commander"),
            ], place: place)
    }

    func create(
        _ link: String, _ card: Card, image: String
    ) async throws(AppStoreConnectError) -> String {
        try await client.createExperience(
            at: link, ExperienceContent(card), clip: StoreFixture.clipID, image: image)
    }
}
