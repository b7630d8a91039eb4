import APNsPayload
import APNsSimulator
import AppAttestSimulator
import DoorstepClient
import Formats
import Foundation
import Invocation
import Notifications
import Synchronization
import Testing

/// A clip that links DoorstepClient, from the first launch to the end, with the built server.
@Suite struct ClipLifeTests {
    private static let restaurantA = URL(string: MainPathTests.order)!
    private static let restaurantB = URL(string: "https://example.com/restaurants/restaurant_b")!
    private static let token = Data(repeating: 0xC1, count: 32)

    /// Runs the closure with a server, and deletes the shared container of App Clip and full app afterwards.
    private func withServer(
        _ environment: [String: String] = [:],
        preparing prepare: (Installation) async throws -> Void = { _ in },
        _ body: (RunningServer, Installation, SharedDirectory) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        try await Installation.lend { installation in
            var binary = installation.binary
            binary.environment["DOORSTEP_TOKEN_SECRET"] = "a secret of the tests that is long enough too"
            binary.environment.merge(environment) { $1 }
            try await prepare(installation)
            let (_, status) = try await RunningServer.lend(binary) { server in
                try await body(
                    server, installation,
                    SharedDirectory(URL(fileURLWithPath: directory.path("group"), isDirectory: true)))
            }
            #expect(status == 0)
        }
    }

    private func session(
        _ address: String, key: String, _ container: SharedDirectory,
        _ app: ClipConfiguration.RunningApp = .clip, transport: any HTTPTransport = URLSessionTransport(),
        clock: any SessionClock = SystemClock()
    ) throws -> ClipSession {
        ClipSession(
            ClipConfiguration(
                server: try #require(URL(string: address)), publishableKey: key,
                clip: "com.example.MyApp.Clip", runningApp: app),
            container: container, transport: transport, clock: clock)
    }

    /// A clip that requires attestation attests once. The full app continues with its key.
    @Test func genuineClipIsAccepted() async throws {
        let folder = try TemporaryDirectory()
        try await AttestationTests.lend { installation, root in
            let key = installation.publishable
            var binary = installation.binary
            binary.environment["DOORSTEP_TOKEN_SECRET"] = "a secret of the tests that is long enough too"
            _ = try await RunningServer.lend(binary) { server in
                try await installation.binary.succeed(
                    "clip", "attest", "--tenant", Installation.tenant, "com.example.MyApp.Clip", "--confirm",
                    "require_signed", "--lookup", "require", "--register", "require", "--yes")
                #expect(try await server.status(of: MainPathTests.order, key: key, becoming: 403) == 403)

                let container = SharedDirectory(
                    URL(fileURLWithPath: folder.path("group"), isDirectory: true))
                let device = try SoftwareDevice(root)
                func session(
                    _ app: ClipConfiguration.RunningApp, _ device: SoftwareDevice?
                ) throws -> ClipSession {
                    ClipSession(
                        ClipConfiguration(
                            server: try #require(URL(string: server.address)), publishableKey: key,
                            clip: "com.example.MyApp.Clip", runningApp: app),
                        container: container, attester: device)
                }
                await #expect(throws: ClipError.self) {
                    try await session(.clip, nil).lookUp(Self.restaurantA)
                }

                let clip = try session(.clip, device)
                #expect(try await clip.lookUp(Self.restaurantA).location.name == "Restaurant A")
                for _ in 0..<2 {
                    let confirmed = try await clip.confirm(
                        Self.restaurantA, evidence: .device(.inRegion(true)))
                    #expect(confirmed.outcome == .inRegion && confirmed.receipt != nil)
                }
                let first = try await clip.registerLaunch(
                    Self.restaurantA, Reachability(permission: .ephemeral, deviceToken: Self.token))

                let app = try session(.full, device)
                #expect(try await app.attest())
                let second = try await app.registerLaunch(
                    nil, Reachability(permission: .authorized, deviceToken: Self.token))
                #expect(second.id == first.id)
                #expect(device.attestations == 1)
            }
        }
    }

    @Test func instanceContinuesFromFirstLaunchToFullApp() async throws {
        try await withServer { server, installation, container in
            let key = installation.publishable
            let clip = try session(server.address, key: key, container)
            let ephemeral = Reachability(permission: .ephemeral, deviceToken: Self.token)

            // At the first launch nothing is cached, and everything comes from the server.
            var names: [String?] = []
            for try await lookup in clip.lookups(of: Self.restaurantA) { names.append(lookup.location.name) }
            #expect(names == ["Restaurant A"])
            let region = try #require(await clip.keptLookup(of: Self.restaurantA)).location.region
            #expect(region.radius == 100 && region.identifier == "restaurant_a")
            let confirmed = try await clip.confirm(
                Self.restaurantA, evidence: .device(.inRegion(true)), source: .nfc, locationAccess: .allowed)
            #expect(confirmed.outcome == .inRegion && confirmed.location?.identifier == "restaurant_a")
            let denied = try await clip.confirm(Self.restaurantA, evidence: .device(.failed(code: 1)))
            #expect(denied.outcome == .disallowed)
            let first = try await clip.registerLaunch(Self.restaurantA, ephemeral)
            #expect(first.hasToken && first.reachableUntil != nil)
            try await clip.setToken(Self.token, ofActivity: "order-1")
            #expect(try await launches(server, installation, clip) == ["restaurant_a"])

            // The second business is another launch of the same instance.
            _ = try await clip.lookUp(Self.restaurantB)
            let second = try await clip.registerLaunch(Self.restaurantB, ephemeral)
            #expect(second.id == first.id)
            #expect(try await launches(server, installation, clip) == ["restaurant_b", "restaurant_a"])

            // The clip returns without a URL, in a new process. The location is cached and shown without the server.
            let back = try session(server.address, key: key, container)
            let last = try #require(try await back.lastURL())
            #expect(last == Self.restaurantB)
            #expect(await back.keptLookup(of: last)?.location.name == "Restaurant B")
            let third = try await back.registerLaunch(nil, ephemeral)
            #expect(third.id == first.id)
            #expect(try await launches(server, installation, back) == ["restaurant_b", "restaurant_a"])
            // The server responds that nothing has changed. The lookup is the same as the cached one.
            #expect(try await back.lookUp(last) == back.keptLookup(of: last))

            // The full app replaces the clip, with the same instance and location. The evidence is a coordinate.
            let app = try session(server.address, key: key, container, .full)
            #expect(try await app.lastURL() == Self.restaurantB)
            let there = try await app.confirm(
                Self.restaurantB,
                evidence: .coordinate(.init(latitude: 48.858370, longitude: 2.294481, horizontalAccuracy: 9)))
            #expect(there.outcome == .inRegion && there.certain)
            let replaced = try await app.registerLaunch(
                nil, Reachability(permission: .authorized, deviceToken: Self.token))
            #expect(replaced.id == first.id && replaced.reachableUntil == nil)
            let shown = try await instance(server, installation, app)
            #expect(shown["app"] == "full" && shown["clip"] == "com.example.MyApp.Clip")
            #expect(shown["activities"] == ["order-1"])
            try await app.endActivity("order-1")
            try await app.endActivity("order-1")

            // A person can delete the instance.
            try await app.forget()
            let gone = try await server.get("/v1/instances/\(first.id)", key: installation.secret)
            #expect(gone.status == 404)
            #expect(try await app.lastURL() == nil)
        }
    }

    @Test func genericURLOffersNearbyLocations() async throws {
        try await withServer(preparing: { installation in
            try await installation.binary.succeed(
                "experience", "add", "--tenant", Installation.tenant, "--clip", "com.example.MyApp.Clip",
                "--url", "https://example.com/restaurants", "--identifier-rule", "path:1")
        }) { server, installation, container in
            let generic = try #require(URL(string: "https://example.com/restaurants"))
            let clip = try session(server.address, key: installation.publishable, container)
            await #expect(throws: ClipError.refused(ServiceProblem(status: 404, code: .noIdentifier))) {
                try await clip.lookUp(generic)
            }
            let found = try await clip.nearby(
                generic, coordinate: .init(latitude: 37.333, longitude: -122.015), limit: 5)
            #expect(found.map(\.identifier) == ["restaurant_a"])
            let chosen = try #require(found.first.flatMap { URL(string: $0.url) })
            #expect(try await clip.lookUp(chosen).location == found.first?.place)
        }
    }

    @Test func revokedKeyIsReported() async throws {
        try await withServer { server, installation, container in
            let clip = try session(server.address, key: installation.publishable, container)
            _ = try await clip.lookUp(Self.restaurantA)
            let keys = try await installation.binary.succeed(
                "key", "list", "--tenant", Installation.tenant, "--format", "json"
            ).json()
            let id = try #require(
                keys.arrayValue?.compactMap(\.objectValue).first { $0["kind"] == "publishable" }?["id"]?
                    .stringValue)
            try await installation.binary.succeed("key", "revoke", "--tenant", Installation.tenant, id)
            #expect(
                try await server.status(
                    of: Self.restaurantB.absoluteString, key: installation.publishable, becoming: 401) == 401)

            let refused = ClipError.refused(ServiceProblem(status: 401, code: .unauthorized))
            await #expect(throws: refused) { try await clip.lookUp(Self.restaurantA) }
            await #expect(throws: refused) {
                try await clip.confirm(Self.restaurantA, evidence: .device(.inRegion(true)))
            }
            await #expect(throws: refused) {
                try await clip.registerLaunch(Self.restaurantA, Reachability(permission: .ephemeral))
            }
            // The cached location is shown all the same.
            #expect(await clip.keptLookup(of: Self.restaurantA)?.location.name == "Restaurant A")
            #expect(try await clip.lastURL() == Self.restaurantA)
        }
    }

    @Test func launchIsRegisteredAfterServerOutage() async throws {
        try await withServer { server, installation, container in
            let road = Road()
            let clock = WaitingClock { waited in road.isOpen = waited >= .seconds(60) }
            let clip = try session(
                server.address, key: installation.publishable, container, transport: road, clock: clock)
            road.isOpen = true
            _ = try await clip.lookUp(Self.restaurantA)

            // The cached location is shown at once. The server's response does not arrive within the waiting time.
            road.isOpen = false
            var names: [String?] = []
            await #expect(throws: ClipError.notReached) {
                for try await lookup in clip.lookups(of: Self.restaurantA) {
                    names.append(lookup.location.name)
                }
            }
            #expect(names == ["Restaurant A"])
            #expect(clock.waited <= .seconds(6))
            let launched = clock.now
            // The launch is registered in the background, when the server is back after a minute.
            let registered = try await clip.registerLaunch(
                Self.restaurantA, Reachability(permission: .ephemeral, deviceToken: Self.token))
            #expect(clock.waited >= .seconds(60) && road.refused > 3)
            let until = try #require(registered.reachableUntil)
            #expect(abs(until.timeIntervalSince(launched) - 8 * 3_600) < 2)
            #expect(try await launches(server, installation, clip) == ["restaurant_a"])
        }
    }

    @Test func registeredClipReceivesNotification() async throws {
        let directory = try TemporaryDirectory()
        let provider = ProviderKey(in: directory)
        try await APNsSimulator.withSimulator(provider.simulator) { simulator in
            try await withServer(try provider.settings(for: simulator)) { server, installation, container in
                let clip = try session(server.address, key: installation.publishable, container)
                try await clip.registerLaunch(
                    Self.restaurantA, Reachability(permission: .ephemeral, deviceToken: Self.token))
                let sent = try await server.post(
                    "/v1/notifications", key: installation.secret,
                    [
                        "url": .string(MainPathTests.order), "audience": ["business": true],
                        "aps": ["alert": "Ready."],
                    ])
                #expect(sent.status == 201, "\(sent)")
                await simulator.wait { $0.accepted == 1 }
                #expect(simulator.received.map(\.device) == [String(repeating: "c1", count: 32)])
            }
        }
    }

    // MARK: - Server state

    private func instance(
        _ server: RunningServer, _ installation: Installation, _ session: ClipSession
    ) async throws -> JSONObject {
        let response = try await server.get(
            "/v1/instances/\(try await session.instanceID())", key: installation.secret)
        return try #require(response.json?.objectValue)
    }

    /// The locations of the instance's launches, the newest first.
    private func launches(
        _ server: RunningServer, _ installation: Installation, _ session: ClipSession
    ) async throws -> [String?] {
        try #require(try await instance(server, installation, session)["launches"]?.arrayValue).map {
            $0.objectValue?["location"]?.stringValue
        }
    }
}

/// A transport that can be closed.
private final class Road: HTTPTransport {
    private let state = Mutex((isOpen: true, refused: 0))
    private let transport = URLSessionTransport()

    var isOpen: Bool {
        get { state.withLock { $0.isOpen } }
        set { state.withLock { $0.isOpen = newValue } }
    }
    var refused: Int { state.withLock { $0.refused } }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        guard isOpen else {
            state.withLock { $0.refused += 1 }
            throw .interrupted
        }
        return try await transport.send(request)
    }
}

/// A clock that advances only during a pause.
private final class WaitingClock: SessionClock {
    private let state: Mutex<(now: Date, waited: Duration)>
    private let change: @Sendable (Duration) -> Void

    /// - Parameter change: Called with the total waiting time.
    init(_ change: @escaping @Sendable (Duration) -> Void) {
        // The server refuses launches in the future, so this clock must stay in the past.
        state = Mutex((Date() - 600, .zero))
        self.change = change
    }

    var now: Date { state.withLock { $0.now } }
    var waited: Duration { state.withLock { $0.waited } }

    func sleep(for duration: Duration) async throws {
        let waited = state.withLock { state in
            state.now += duration / .seconds(1)
            state.waited += duration
            return state.waited
        }
        change(waited)
    }
}

/// App Attest of a device that the root of the tests certifies.
private final class SoftwareDevice: AppAttester {
    private let state: Mutex<(authenticator: SoftwareAuthenticator, attestations: Int)>

    init(_ root: SoftwareRoot) throws {
        state = Mutex(
            (try SoftwareAuthenticator(root: root, appID: AppID("ABCDE12345.com.example.MyApp")), 0))
    }

    var isSupported: Bool { true }
    var attestations: Int { state.withLock { $0.attestations } }

    func generateKey() async throws(AttesterFailure) -> String {
        state.withLock { Data($0.authenticator.generateKey()).base64EncodedString() }
    }

    func attestKey(_ keyID: String, clientDataHash: Data) async throws(AttesterFailure) -> Data {
        let attestation = state.withLock { state in
            state.attestations += 1
            return Data(base64Encoded: keyID).flatMap {
                try? state.authenticator.attest(
                    keyID: Array($0), clientDataHash: Array(clientDataHash), at: Date())
            }
        }
        guard let attestation else { throw .other }
        return Data(attestation)
    }

    func generateAssertion(_ keyID: String, clientDataHash: Data) async throws(AttesterFailure) -> Data {
        let assertion = state.withLock { state in
            Data(base64Encoded: keyID).flatMap {
                try? state.authenticator.assertion(keyID: Array($0), clientDataHash: Array(clientDataHash))
            }
        }
        guard let assertion else { throw .other }
        return Data(assertion)
    }
}
