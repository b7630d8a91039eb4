/// What is installed on a device: the full app replaces the clip, with a token and a topic of its own. [Apple]
public enum InstalledApp: String, Sendable, Hashable, CaseIterable {
    case clip
    case full
}
