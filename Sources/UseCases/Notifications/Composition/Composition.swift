/// What became of a notification that was to be composed.
public enum Composition: Sendable, Hashable {
    case composed(ComposedNotification)
    case refused(CompositionRefusal)
}
