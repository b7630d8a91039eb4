/// The app on a device: the full app replaces the clip, with its own token and topic. [Apple]
public enum InstalledApp: String, Sendable, Hashable, CaseIterable {
    case clip
    case full
}
