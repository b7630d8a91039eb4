import Foundation
import HTTPServer
import NIOCore
import NIOPosix
import Synchronization

/// A simulator of the App Store Connect API for advanced App Clip experiences. It accepts the requests that Apple's specification
/// allows, refuses others, and has a knob for each unknown behavior.
///
/// It uses plain HTTP/1.1 on the loopback address only, and accepts uploads on the same port.
public final class AppStoreConnectSimulator: Sendable {
    public let port: Int
    /// The port for control; nil without control.
    public let controlPort: Int?
    private let state: State
    private let servers: [RunningServer]
    private let group: MultiThreadedEventLoopGroup

    /// The shared state of the connections.
    final class State: Sendable {
        private let simulation: Mutex<StoreSimulation>
        private let clock: @Sendable () -> Date

        init(_ options: Options) throws {
            simulation = Mutex(try StoreSimulation(options))
            clock = options.now
        }

        func with<Result>(
            _ body: (inout sending StoreSimulation, Date) throws -> sending Result
        ) rethrows -> sending Result {
            let now = clock()
            return try simulation.withLock { try body(&$0, now) }
        }
    }

    private init(
        _ state: State, server: RunningServer, control: RunningServer?, _ group: MultiThreadedEventLoopGroup
    ) {
        self.state = state
        self.group = group
        servers = [server] + [control].compactMap(\.self)
        port = server.port
        controlPort = control?.port
    }

    /// Runs the closure with a simulator.
    public static func withSimulator<Result>(
        _ options: Options, _ body: (AppStoreConnectSimulator) async throws -> Result
    ) async throws -> Result {
        let simulator = try await start(options)
        do {
            let result = try await body(simulator)
            try await simulator.stop()
            return result
        } catch {
            try? await simulator.stop()
            throw error
        }
    }

    /// Starts a simulator. Call `stop` at its end.
    /// - Throws: If keys cannot be read, or a port is not free.
    public static func start(_ options: Options) async throws -> AppStoreConnectSimulator {
        let state = try State(options)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let server = try await listen(options.port, group, StoreResponder { state.response($0) })
            var control: RunningServer?
            if let port = options.controlPort {
                control = try await listen(
                    port, group, StoreResponder { StoreControl(state).response($0) })
            }
            let simulator = AppStoreConnectSimulator(state, server: server, control: control, group)
            state.with { simulation, _ in simulation.host = simulator.host }
            return simulator
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    private static func listen(
        _ port: Int, _ group: MultiThreadedEventLoopGroup, _ responder: StoreResponder
    ) async throws -> RunningServer {
        var settings = ServerSettings()
        settings.port = port
        // No limit per client, because all clients have one address.
        settings.maximumConnectionsOfClient = settings.maximumConnections
        return try await RunningServer.start(settings, responder, on: group)
    }

    /// Closes all connections immediately, and the ports.
    public func stop() async throws {
        for server in servers { await server.stop() }
        try await group.shutdownGracefully()
    }

    /// The origin of the simulator, such as `http://127.0.0.1:8080`.
    public var host: String { "http://127.0.0.1:\(port)" }

    // MARK: Faults

    /// The remaining faults, in their order.
    public var faults: [Fault] {
        get { state.with { simulation, _ in simulation.faults } }
        set { state.with { simulation, _ in simulation.faults = newValue } }
    }

    public func turn(_ change: @Sendable (inout Knobs) -> Void) {
        state.with { simulation, _ in change(&simulation.account.knobs) }
    }

    /// Advances the time: budgets refill, places are matched, images are processed, reservations expire.
    public func advance(by duration: Duration) {
        state.with { simulation, _ in simulation.advance(by: duration / .seconds(1)) }
    }

    /// Changes an experience as a person on the website would.
    /// - Returns: Whether the experience exists.
    @discardableResult public func edit(_ id: String, _ edit: RemoteEdit) -> Bool {
        state.with { simulation, now in simulation.edit(id, edit, at: now) }
    }

    // MARK: Received requests

    public var counters: StoreCounters {
        state.with { simulation, _ in simulation.counters }
    }

    /// All experiences, including removed ones, in the order of their creation.
    public var experiences: [StoredExperience] {
        state.with { simulation, now in simulation.stored(at: now) }
    }
}

extension AppStoreConnectSimulator.State {
    func response(_ request: StoreSimulation.Request) -> StoreSimulation.Outcome {
        with { simulation, now in simulation.respond(to: request, at: now) }
    }
}

extension StoreSimulation {
    func stored(at now: Date) -> [StoredExperience] {
        account.order.compactMap { account.experiences[$0] }.map { experience in
            let texts = account.texts(of: experience).compactMap { text in
                text.language.map { ($0, text.attributes) }
            }
            return StoredExperience(
                id: experience.id, link: experience.link, imageID: experience.imageID,
                isRemoved: experience.removed != nil,
                attributes: account.attributes(of: experience, at: now.addingTimeInterval(advanced)),
                texts: Dictionary(texts) { first, _ in first })
        }
    }
}
