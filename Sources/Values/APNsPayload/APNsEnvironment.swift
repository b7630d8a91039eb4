/// Which of Apple's services a device's token is for: an app that Xcode installed has one of the sandbox.
public enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
    case production
    case sandbox
}
