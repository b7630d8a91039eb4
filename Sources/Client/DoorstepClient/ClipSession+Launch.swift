public import Foundation

/// A launch as it was reported, so that later changes do not count as another launch.
struct ReportedLaunch {
    var url: URL?
    var at: Date
    var source = LaunchSource.unknown
}

extension ClipSession {
    /// Registers a launch, so that the server can send notifications to this install. Call it at each
    /// launch, after the first screen is shown and after ``attest()``.
    ///
    /// An ephemeral permission begins anew with each launch. This includes a launch without a URL, such as
    /// one from a notification or the App Switcher [Apple: "Enabling notifications in App
    /// Clips"].
    ///
    /// - Parameters:
    ///   - url: The invocation URL; nil for a launch without one.
    ///   - receipt: The receipt of a confirmation at the URL's location, while it is valid.
    ///   - source: How the clip was launched, which only the server's statistics use.
    @discardableResult
    public func registerLaunch(
        _ url: URL?, _ reachability: Reachability, receipt: String? = nil, source: LaunchSource = .unknown
    ) async throws(ClipError) -> RegisteredInstance {
        let launch = ReportedLaunch(url: url, at: clock.now, source: source)
        self.launch = launch
        if let url { try keep { try $0.write(Data(url.absoluteString.utf8), to: .lastURL) } }
        return try await report(launch, reachability, receipt: receipt)
    }

    /// Sends tokens and a permission that have changed since the launch, and a receipt. The launch itself
    /// does not change.
    @discardableResult
    public func update(
        _ reachability: Reachability, receipt: String? = nil
    ) async throws(ClipError) -> RegisteredInstance {
        let launch = launch ?? ReportedLaunch(url: nil, at: clock.now)
        return try await report(launch, reachability, receipt: receipt)
    }

    /// Sends the token by which a Live Activity is updated. Register the launch first.
    ///
    /// - Parameter activity: `Activity.id`: letters, digits, `-`, `_`, `.` and `~`, at most 128.
    public func setToken(_ token: Data, ofActivity activity: String) async throws(ClipError) {
        struct Body: Encodable { var token: String }
        try await send("PUT", activity, body: Self.json(Body(token: Self.hex(token))))
    }

    /// Reports that a Live Activity has ended. An activity that the server does not know is no error.
    public func endActivity(_ activity: String) async throws(ClipError) {
        do throws(ClipError) {
            try await send("DELETE", activity, body: nil)
        } catch .refused(let problem) where problem.code == .unknownActivity {
        }
    }

    /// Deletes this install at the server, and everything stored here except the key of App Attest.
    public func forget() async throws(ClipError) {
        do throws(ClipError) {
            _ = try await perform(
                Call(
                    method: "DELETE", target: "/v1/instances/\(try instanceID())", isRepeatable: true,
                    budget: configuration.background))
        } catch .refused(let problem)
            where problem.code == .unknownInstance || problem.code == .instanceOfOtherKey
        {
            // This install must not delete the data of another install.
        }
        launch = nil
        for item in [ContainerItem.instance, .lastURL, .lookups] { try keep { try $0.remove(item) } }
    }

    /// Returns the ID by which the server knows this install: created once, for App Clip and full app.
    public func instanceID() throws(ClipError) -> String {
        let id = try keep { try $0.establish(Data(UUID().uuidString.lowercased().utf8), as: .instance) }
        let text = String(decoding: id, as: UTF8.self)
        if UUID(uuidString: text) != nil { return text }
        return try replaceInstance(text)
    }

    // MARK: -

    private func report(
        _ launch: ReportedLaunch, _ reachability: Reachability, receipt: String?
    ) async throws(ClipError) -> RegisteredInstance {
        let body = LaunchBody(
            url: launch.url?.absoluteString, clip: configuration.clip, app: configuration.runningApp,
            environment: configuration.pushEnvironment, permission: reachability.permission,
            token: reachability.deviceToken.map(Self.hex),
            startTokens: reachability.startTokens.isEmpty
                ? nil : reachability.startTokens.mapValues(Self.hex),
            launchedAt: launch.at, receipt: receipt,
            source: launch.source == .unknown ? nil : launch.source)
        let id = try instanceID()
        do throws(ClipError) {
            return try await put(body, to: id)
        } catch .refused(let problem) where problem.code == .instanceOfOtherKey {
            // A restore copies the container but not the key: this is another install now.
            return try await put(body, to: try replaceInstance(id))
        }
    }

    private func put(_ body: LaunchBody, to id: String) async throws(ClipError) -> RegisteredInstance {
        let response = try await perform(
            Call(
                method: "PUT", target: "/v1/instances/\(id)", body: Self.json(body), isRepeatable: true,
                budget: configuration.background))
        return try Self.read(RegisteredInstance.self, from: response.body)
    }

    private func send(_ method: String, _ activity: String, body: Data?) async throws(ClipError) {
        let isID = (1...128).contains(activity.utf8.count) && activity.utf8.allSatisfy(Self.isUnreserved)
        guard isID else { throw .invalidURL }
        _ = try await perform(
            Call(
                method: method, target: "/v1/instances/\(try instanceID())/activities/\(activity)",
                body: body,
                isRepeatable: true, budget: configuration.background))
    }

    /// Replaces an ID with a new one, unless the other process has already done so.
    private func replaceInstance(_ old: String) throws(ClipError) -> String {
        try keep { container in
            if let present = try container.read(.instance), present == Data(old.utf8) {
                try container.remove(.instance)
            }
            let made = Data(UUID().uuidString.lowercased().utf8)
            return String(decoding: try container.establish(made, as: .instance), as: UTF8.self)
        }
    }

    /// Whether a byte needs no percent-encoding in a path (RFC 3986 §2.3).
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_.~".utf8.contains(byte)
        }
    }

    private static func hex(_ data: Data) -> String {
        data.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }
}

private struct LaunchBody: Encodable {
    var url: String?
    var clip: String
    var app: ClipConfiguration.RunningApp
    var environment: ClipConfiguration.PushEnvironment
    var permission: Reachability.Permission
    var token: String?
    var startTokens: [String: String]?
    var launchedAt: Date
    var receipt: String?
    var source: LaunchSource?
}
