/// The APNs service for a device's token: an app that Xcode installed uses the sandbox.
public enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
    case production
    case sandbox
}
