import Cards
import Foundation

extension Application {
    /// Brings the images to Apple that rows need, several at once, each once.
    mutating func prepareImages(of rows: [Row]) async throws {
        let keys = Set(
            rows.compactMap { row in
                row.step.neededImage.map { ImageKey(digest: $0, holder: sharesImages ? nil : row.url) }
            })
        let open = keys.filter { key in
            imageFailures[key] == nil && images[key]?.phase != .complete && images[key]?.phase != .failed
        }.sorted { ($0.digest.description, $0.holder ?? "") < ($1.digest.description, $1.holder ?? "") }
        for start in stride(from: 0, to: open.count, by: Self.width) {
            let part = open[start..<min(start + Self.width, open.count)]
            let uploads = part.map { ImageUpload(registrar, run, $0, known: images[$0]) }
            let results = try await withThrowingTaskGroup(
                of: (ImageKey, Result<RemoteImage, ServiceFailure>).self
            ) { group in
                for upload in uploads { group.addTask { (upload.key, try await upload.finish()) } }
                var results: [(ImageKey, Result<RemoteImage, ServiceFailure>)] = []
                for try await result in group { results.append(result) }
                return results
            }
            for (key, result) in results {
                switch result {
                case .success(let image):
                    images[key] = image
                    // One that Apple is still at has been waited for long enough, in this run.
                    if image.phase == .committed { imageFailures[key] = .imageUnfinished }
                case .failure(let failure):
                    guard failure.verdict != .stop else { throw failure }
                    imageFailures[key] = failure
                }
            }
        }
    }
}

extension ServiceFailure {
    static let imageUnfinished = ServiceFailure(
        .wait, code: "image_unfinished",
        description: "the image is not uploaded yet, or Apple still processes it")
}

/// Brings one image to Apple, from wherever an earlier run left it.
struct ImageUpload: Sendable {
    let key: Application.ImageKey
    private let registrar: SyncRunner
    private let run: any SyncRun
    private let known: RemoteImage?

    /// A reservation lasts about a week; one that is older is not begun with. [observed, and ours]
    private static let reservationAge: TimeInterval = 6 * 86_400
    /// The maximum number of new reservations. [ours]
    private static let maximumReservations = 3
    /// The maximum number of polls of the image's state. Each interval is twice the previous one. [ours]
    private static let maximumPolls = 7

    init(
        _ registrar: SyncRunner, _ run: any SyncRun, _ key: Application.ImageKey, known: RemoteImage?
    ) {
        self.registrar = registrar
        self.run = run
        self.key = key
        self.known = known
    }

    /// - Returns: the image, complete, failed, or still being processed.
    func finish() async throws -> Result<RemoteImage, ServiceFailure> {
        do {
            return .success(try await upload())
        } catch let failure as ServiceFailure {
            return .failure(failure)
        }
    }

    private func upload() async throws -> RemoteImage {
        guard let file = try await registrar.records.file(of: key.digest), let header = try? HeaderImage(file)
        else {
            throw ServiceFailure(.reject, code: "image_unknown", description: "there is no such image")
        }
        var image = known
        for _ in 1...Self.maximumReservations {
            var current: RemoteImage
            if let image, isUsable(image) {
                current = image
            } else {
                current = try await reserve(byteCount: file.count)
            }
            var state: ImageState.Phase?
            if case .reserved(let operations) = current.phase {
                state = try await send(file, operations, current.id, md5: header.md5)
                guard state != .awaitingUpload else {
                    image = nil
                    continue
                }
                current.phase = .committed
                try await remember(current)
            }
            if let phase = try await processed(current.id, known: state) {
                if phase != .committed {
                    current.phase = phase
                    try await remember(current)
                }
                return current
            }
            image = nil
        }
        throw ServiceFailure.imageUnfinished
    }

    /// A reservation cannot be continued if it is old, or if no secret opens its sealed upload operations.
    private func isUsable(_ image: RemoteImage) -> Bool {
        guard case .reserved(let operations) = image.phase else { return true }
        return !operations.isEmpty
            && registrar.clock.now().timeIntervalSince(image.reservedAt) <= Self.reservationAge
    }

    /// Whether the run may still send.
    private var fence: Fence {
        let run = run
        return { try await run.write([]) }
    }

    /// A reservation whose response was lost stays at Apple unused, because no list shows it.
    private func reserve(byteCount: Int) async throws -> RemoteImage {
        let name = "\(key.digest.description.prefix(16))"
        let reservation = try await registrar.patiently { () throws(ServiceFailure) in
            try await registrar.service.reserveImage(
                fileName: name, byteCount: byteCount, fence: fence)
        }
        let image = RemoteImage(
            key.digest, holder: key.holder, id: reservation.id, .reserved(reservation.operations),
            reservedAt: registrar.clock.now())
        try await remember(image)
        return image
    }

    /// Sends all parts, perhaps some of them again, and commits the upload.
    /// - Returns: The state of the image; `.awaitingUpload` if the reservation can no longer be used.
    private func send(
        _ file: [UInt8], _ operations: [UploadOperation], _ id: String, md5: String
    ) async throws -> ImageState.Phase {
        do {
            for operation in operations {
                try await registrar.patiently { () throws(ServiceFailure) in
                    try await registrar.service.upload(file, operation)
                }
            }
            return try await registrar.patiently { () throws(ServiceFailure) in
                try await registrar.service.commitImage(id, md5: md5, fence: fence)
            }.phase
        } catch let failure as ServiceFailure where failure.verdict != .stop && failure.verdict != .wait {
            // It may have been committed before, if that response was lost.
            return try await state(id)?.phase ?? .awaitingUpload
        }
    }

    private func state(_ id: String) async throws -> ImageState? {
        try await registrar.patiently { () throws(ServiceFailure) in try await registrar.service.image(id) }
    }

    /// Waits until Apple has processed the image.
    /// - Returns: Nil if the image does not exist or is incomplete.
    private func processed(
        _ id: String, known: ImageState.Phase?
    ) async throws -> RemoteImage.Phase? {
        switch known {
        case .complete: return .complete
        case .failed: return .failed
        case .uploadComplete, .awaitingUpload, nil: break
        }
        var wait = registrar.settings.processingTime
        for _ in 1...Self.maximumPolls {
            try await registrar.clock.sleep(for: .seconds(wait))
            switch try await state(id)?.phase {
            case .complete: return .complete
            case .failed: return .failed
            case .uploadComplete: wait *= 2
            case .awaitingUpload, nil: return nil
            }
        }
        return .committed
    }

    private func remember(_ image: RemoteImage) async throws {
        try await run.write([.image(image)])
    }
}
