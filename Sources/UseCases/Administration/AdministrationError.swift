public import AppAttest
public import Cards
public import Invocation
public import Tenancy

/// Why an administration command was refused. It has changed nothing.
public enum AdministrationError: Error, Sendable, Hashable, CustomStringConvertible {
    case invalidTitle
    case invalidSubtitle
    case invalidShortCode
    case unmatchableURL
    case clipWithoutParent
    case invalidParentBundleID(BundleID, of: BundleID)
    case invalidAppStoreID
    case invalidAndroidURL
    case tenantExists(TenantSlug)
    case tenantIDTaken(TenantID)
    case unknownTenant(TenantSlug)
    case clipExists(BundleID)
    case unknownClip(BundleID)
    case experienceExists
    case unknownExperience(ExperienceKind, URLPrefix)
    case secondDefaultExperience(BundleID)
    case locationExists(LocationIdentifier)
    case unknownLocation(LocationIdentifier)
    case unknownImage(ImageDigest)
    case invalidImage(HeaderImageError)
    /// The file has another digest than the request names; the value is the file's digest.
    case otherImage(ImageDigest)
    /// The type is ``CollectionResource/typeName``.
    case itemExists(of: String, named: String)
    case unknownItem(of: String, named: String)
    /// The item cannot be deleted because other rows refer to it.
    case inUse(String, by: [Dependents])
    /// The import cannot remove items because other rows refer to them.
    case removalsInUse(RemovalsInUse)
    /// The import would remove more items than allowed: the number, the total, and the allowed number.
    case tooManyRemovals(Int, of: Int, allowed: Int)
    case tooManyRows(limit: Int)
    /// Too many imports wait for their turn, or the imports of other tenants took too long.
    case tooManyImports
    /// Another change of the same item takes too long.
    case conflict
    case unknownKey
    case unknownAttestKey
    case keyNotActive
    /// The key was replaced; the value is its successor.
    case keyRotated(KeyID)
    /// A key cannot create a key with more rights or a later expiry than its own.
    case widerKey
    case invalidHeader(reason: String)
    /// Too few requests were attested to require attestation; the value is their number.
    case monitoredTooLittle(ClipAttestation.Operation, seen: Int)
    /// The tenant was deleted during the change.
    case tenantDeleted
    /// The tenant was suspended before a key could change it.
    case tenantSuspended
    /// Lines are counted from 1.
    case invalidArchive(line: Int, reason: String)
    case unknownArchiveVersion(Int)
    /// Nil if the text is not a host.
    case invalidDomain(URLPrefixError?)
    case unknownDomain(DomainName)
    case domainTaken(DomainName)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .invalidTitle: "invalid_title"
        case .invalidSubtitle: "invalid_subtitle"
        case .invalidShortCode: "invalid_short_code"
        case .unmatchableURL: "unmatchable_url"
        case .clipWithoutParent: "clip_without_parent"
        case .invalidParentBundleID: "invalid_parent_bundle_id"
        case .invalidAppStoreID: "invalid_app_store_id"
        case .invalidAndroidURL: "invalid_android_url"
        case .tenantExists: "tenant_exists"
        case .tenantIDTaken: "tenant_id_taken"
        case .unknownTenant: "unknown_tenant"
        case .clipExists: "clip_exists"
        case .unknownClip: "unknown_clip"
        case .experienceExists: "experience_exists"
        case .unknownExperience: "unknown_experience"
        case .secondDefaultExperience: "second_default_experience"
        case .locationExists: "location_exists"
        case .unknownLocation: "unknown_location"
        case .unknownImage: "unknown_image"
        case .invalidImage, .otherImage: "invalid_image"
        case .itemExists(let type, _): "\(type)_exists"
        case .unknownItem(let type, _): "unknown_\(type)"
        case .inUse, .removalsInUse: "in_use"
        case .tooManyRemovals: "too_many_removals"
        case .tooManyRows: "too_many_rows"
        case .tooManyImports: "too_many_imports"
        case .conflict: "conflict"
        case .unknownKey: "unknown_key"
        case .unknownAttestKey: "unknown_attest_key"
        case .keyNotActive: "key_not_active"
        case .keyRotated: "key_rotated"
        case .widerKey: "wider_key"
        case .invalidHeader: "invalid_header"
        case .monitoredTooLittle: "monitored_too_little"
        case .tenantDeleted: "tenant_deleted"
        case .tenantSuspended: "tenant_suspended"
        case .invalidArchive: "invalid_archive"
        case .unknownArchiveVersion: "unknown_archive_version"
        case .invalidDomain: "invalid_domain"
        case .unknownDomain: "unknown_domain"
        case .domainTaken: "domain_taken"
        }
    }

    public var description: String {
        switch self {
        case .invalidTitle: "a title is 1 to 30 characters, none of them a control character"
        case .invalidSubtitle: "a subtitle is 1 to 56 characters, none of them a control character"
        case .invalidShortCode: "a short code is 1 to 128 characters, none of them a control character"
        case .unmatchableURL: "the URL must be https, with a domain name for a host and without a port"
        case .clipWithoutParent:
            "a clip's bundle ID must be its app's with one more component, such as com.example.MyApp.Clip"
        case .invalidParentBundleID(let parent, let bundleID):
            "the app's bundle ID must be a prefix of the clip's: \(bundleID) does not begin with '\(parent).'"
        case .invalidAppStoreID: "an app's number in the App Store is 1 to 19 digits, such as 1234567890"
        case .invalidAndroidURL: "the URL for Android is an https URL of at most 2048 bytes"
        case .tenantExists(let slug): "a tenant '\(slug)' already exists"
        case .tenantIDTaken(let id): "a tenant with the ID \(id) already exists"
        case .unknownTenant(let slug): "there is no tenant '\(slug)'"
        case .clipExists(let bundleID): "the tenant has a clip \(bundleID) already"
        case .unknownClip(let bundleID): "the tenant has no clip \(bundleID)"
        case .experienceExists: "the tenant has an experience of this kind and URL already"
        case .unknownExperience(let kind, let url): "the tenant has no \(kind.rawValue) experience \(url)"
        case .secondDefaultExperience(let bundleID): "the clip \(bundleID) has a default experience already"
        case .locationExists(let identifier): "the tenant has a location '\(identifier)' already"
        case .unknownLocation(let identifier): "the tenant has no location '\(identifier)'"
        case .unknownImage(let digest): "the tenant has no image \(digest)"
        case .invalidImage(let error): "\(error)"
        case .otherImage(let digest): "the SHA-256 of the file is \(digest)"
        case .itemExists(let type, let name):
            "the tenant has a \(type.replacing("_", with: " ")) '\(name)' already"
        case .unknownItem(let type, let name): "the tenant has no \(type.replacing("_", with: " ")) '\(name)'"
        case .inUse(let subject, let dependents):
            """
            the \(subject) is in use by \(dependents.map(\.description).joined(separator: " and ")): \
            delete these first, or delete all by cascade
            """
        case .removalsInUse(let removals): "items that would be removed are in use, \(removals)"
        case .tooManyRemovals(let count, let total, let allowed):
            """
            \(count) of \(total) items would be removed, but at most \(allowed) may be: if this is intended, allow the \
            removal of \(count)
            """
        case .tooManyRows(let limit): "there are more than \(limit) rows and blank lines"
        case .tooManyImports: "the server is busy with imports of other tenants: try again later"
        case .conflict: "another change of the same item is in progress: try again when it has ended"
        case .unknownKey: "the tenant has no key with this ID"
        case .unknownAttestKey: "the tenant has no App Attest key with this ID"
        case .keyNotActive: "the key is revoked or expired"
        case .keyRotated(let successor): "the key was already replaced by \(successor): rotate that one"
        case .widerKey: "a key cannot create, change or revoke a key that has more rights or a later expiry"
        case .invalidHeader(let reason): "the first line must name the columns: \(reason)"
        case .monitoredTooLittle(let operation, let seen):
            """
            \(seen) requests to \(operation.rawValue) were attested as required in the last \(MonitoredAttestations.days) \
            days; at least \(MonitoredAttestations.required) are needed: set the operation to 'monitor' to count them, or \
            require attestation now with --yes, or over HTTP with ?unmonitored=true
            """
        case .tenantDeleted: "the tenant was deleted meanwhile"
        case .tenantSuspended: "the tenant was suspended meanwhile"
        case .invalidArchive(let line, let reason): "line \(line): \(reason)"
        case .unknownArchiveVersion(let version):
            "the archive has version \(version); this Doorstep reads version \(TenantArchive.version)"
        case .invalidDomain(.nonASCIIHost(let aLabel)): "write the domain as \(aLabel)"
        case .invalidDomain:
            "a domain is a host such as shop.example.com, without scheme, port, path or wildcard"
        case .unknownDomain(let name): "the tenant has not claimed \(name)"
        case .domainTaken(let name): "another tenant has verified \(name)"
        }
    }
}
