public import Cards

/// App Store Connect, for the experiences of one clip. Each function sends one request; a listing sends one for each page. Only a
/// request with a refused token is repeated automatically.
///
/// A write may wait for an hour; its fence is called after the wait, immediately before the request.
public protocol ExperienceService: Sendable {
    /// - Throws: With the verdict `.stop` if the key cannot access the app, or if no build with the clip was uploaded yet.
    func clip() async throws(ServiceFailure) -> RegisteredClip
    /// - Parameter images: the digests of images that are on record, by their identifiers.
    func listing(
        ofClip clip: String, images: [String: ImageDigest]
    ) async throws(ServiceFailure) -> ExperienceListing
    /// The builds that contain the clip; nil if the key cannot access the app.
    func builds() async throws(ServiceFailure) -> ClipBuilds?
    /// Apple's cache of the association files of a build's associated domains.
    func domains(ofBundle bundle: String) async throws(ServiceFailure) -> [AssociatedDomain]
    /// Whether there is an experience, in whatever state.
    func exists(_ id: String) async throws(ServiceFailure) -> Bool

    /// - Returns: the identifier of the new experience.
    func create(
        at link: String, _ content: ExperienceContent, clip: String, image: String, fence: @escaping Fence
    ) async throws(ServiceFailure) -> String
    func update(
        _ id: String, _ changes: [FieldChange], to content: ExperienceContent,
        localizations: [CardLanguage: String], image: String?, fence: @escaping Fence
    ) async throws(ServiceFailure)
    func remove(_ id: String, fence: @escaping Fence) async throws(ServiceFailure)

    func reserveImage(
        fileName: String, byteCount: Int, fence: @escaping Fence
    ) async throws(ServiceFailure) -> ImageReservation
    func upload(_ file: [UInt8], _ operation: UploadOperation) async throws(ServiceFailure)
    func commitImage(
        _ id: String, md5: String, fence: @escaping Fence
    ) async throws(ServiceFailure) -> ImageState
    /// Nil if there is none.
    func image(_ id: String) async throws(ServiceFailure) -> ImageState?
}

/// Called before each write: records it, and throws if it may not be sent.
public typealias Fence = @Sendable () async throws -> Void

/// A clip at App Store Connect.
public struct RegisteredClip: Sendable, Hashable {
    public let id: String
    /// The app's primary language; each experience has a text in it. [Apple]
    public let primaryLanguage: CardLanguage

    public init(id: String, primaryLanguage: CardLanguage) {
        self.id = id
        self.primaryLanguage = primaryLanguage
    }
}
