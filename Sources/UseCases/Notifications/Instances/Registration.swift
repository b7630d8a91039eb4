/// The result of a report.
public enum Registration: Sendable, Hashable {
    /// - Parameters:
    ///   - isNewLaunch: Whether the report has a URL, and the instance had not reported this launch or a later one by it.
    ///   - despite: The reason for which it would have been refused if the clip required attestation; nil for none.
    case registered(
        Instance, isNew: Bool, isNewLaunch: Bool = false, despite: RegistrationRefusal? = nil)
    case refused(RegistrationRefusal)
}

/// The reason why a report is refused. Nothing is stored.
public enum RegistrationRefusal: Sendable, Hashable, CustomStringConvertible {
    /// No experience of the tenant matches the URL.
    case doesNotMatch
    /// The instance is unknown, and neither its URL nor the report names the clip.
    case unknownInstance
    /// The tenant has no such clip.
    case unknownClip
    /// The URL belongs to another clip than the reported one.
    case otherClip
    /// The instance is not known, and none may be added now.
    case newNotAdmitted
    /// The instance is bound to another key of App Attest.
    case otherKey
    /// The key of App Attest has ``Instance/maximumOfKey`` instances already.
    case tooManyOfKey
    case proof(ProofDefect)

    /// The part that a receipt does not prove.
    public enum ProofDefect: String, Sendable, Hashable, CaseIterable {
        case notInRegion = "not_in_region"
        /// The URL leads to no location that a receipt could be for.
        case noLocation = "no_location"
        case otherLocation = "other_location"
    }

    public var description: String {
        switch self {
        case .doesNotMatch: "no experience matches the URL"
        case .unknownInstance:
            "no instance has this ID: a launch without a URL must name the clip of a new one"
        case .unknownClip: "the tenant has no clip with this bundle ID"
        case .otherClip: "the URL belongs to another clip than the one in the request"
        case .newNotAdmitted: "no instance can be added now"
        case .otherKey:
            "another App Attest key registered the instance: create a new instance ID"
        case .tooManyOfKey:
            "the App Attest key has \(Instance.maximumOfKey) instances already: delete an unused one"
        case .proof(.notInRegion): "the receipt does not confirm that the person was at the location"
        case .proof(.noLocation): "the URL leads to no location, so no receipt can match it"
        case .proof(.otherLocation): "the receipt is for another location than the URL's"
        }
    }
}
