/// The database did not answer, or others held what was needed for too long: whether what was to be written was written is
/// not known.
///
/// What stores throw where asking again may do. Anything else that they throw is a defect.
public struct StoreUnavailable: Error, Sendable, Hashable {
    public init() {}
}
