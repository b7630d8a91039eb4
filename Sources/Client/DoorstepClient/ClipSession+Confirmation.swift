public import Foundation

extension ClipSession {
    /// Asks the server to confirm that the person is at the location that an invocation URL leads to.
    ///
    /// The request is repeated only if the server has not accepted it, because the server records each
    /// confirmation. App Attest signs it if the server has sent a challenge. The coordinate is sent once
    /// and never stored.
    ///
    /// - Returns: An outcome; no outcome is an error.
    public func confirm(
        _ url: URL, evidence: PresenceEvidence, source: LaunchSource = .unknown,
        locationAccess: LocationAccess = .unknown
    ) async throws(ClipError) -> ClipConfirmation {
        var body = ConfirmationBody(url: url.absoluteString, source: source, locationAccess: locationAccess)
        switch evidence {
        case .device(.inRegion(let inRegion)): body.deviceResult = .init(inRegion: inRegion)
        case .device(.failed(let code)): body.deviceResult = .init(errorCode: code)
        case .coordinate(let coordinate): body.coordinate = coordinate
        case .none: break
        }
        let response = try await perform(
            Call(
                method: "POST", target: "/v1/confirmations", body: Self.json(body), isRepeatable: false,
                isSigned: true, budget: configuration.interactive))
        return try Self.read(ClipConfirmation.self, from: response.body)
    }
}

private struct ConfirmationBody: Encodable {
    struct Result: Encodable {
        var inRegion: Bool?
        var errorCode: Int?
    }

    var url: String
    var source: LaunchSource
    var locationAccess: LocationAccess
    var coordinate: ClipLocation.Coordinate?
    var deviceResult: Result?
}
