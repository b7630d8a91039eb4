public import Cards
public import Foundation

/// Stores the state of one clip's registration, and reads the catalogue for it.
public protocol SyncRecords: Sendable {
    /// The clip and its experiences that can be registered, as the catalogue has them now.
    func catalogue() async throws -> SyncCatalogue
    /// The complete stored state. Also records which experiences the catalogue no longer has, or has again.
    func memory(at now: Date) async throws -> SyncMemory
    /// Nil if the tenant does not have the image.
    func file(of image: ImageDigest) async throws -> [UInt8]?

    /// The run of the clip that began last; nil before the first.
    /// - Throws: `SyncError.busy` while another run applies.
    func newestRun() async throws -> UUID?

    /// Runs a closure while no other run applies to the clip.
    /// - Throws: `SyncError.busy` if one does.
    func withRun<Result: Sendable>(
        at now: Date, _ body: @Sendable (any SyncRun) async throws -> Result
    ) async throws -> Result
}

/// A run that may change the stored state.
public protocol SyncRun: Sendable {
    /// Remembers all of it, or throws.
    /// - Throws: `SyncError.superseded` where another run has begun since: then nothing is remembered, and nothing may be
    ///   sent.
    func write(_ changes: [RecordChange]) async throws
}

/// A clip's experiences in the catalogue.
public struct SyncCatalogue: Sendable {
    public var experiences: [CatalogueExperience]
    /// Values that are set elsewhere: on the page of the app's version.
    public var defaultExperiences: [String]
    /// Bytes of the tenant's images.
    public var imageSizes: [ImageDigest: Int]

    public init(
        experiences: [CatalogueExperience], defaultExperiences: [String] = [],
        imageSizes: [ImageDigest: Int] = [:]
    ) {
        self.experiences = experiences
        self.defaultExperiences = defaultExperiences
        self.imageSizes = imageSizes
    }
}
