import Formats
import Foundation

extension StoreSimulation {
    mutating func reserve(_ body: RequestBody, at now: Date) throws(ErrorDocument) -> String {
        let name = body.attributes["fileName"]?.stringValue ?? ""
        let size = body.attributes["fileSize"]?.numberValue?.int ?? 0
        guard !name.isEmpty else {
            throw ErrorDocument(.attribute("INVALID", at: "/data/attributes/fileName", "The name is empty"))
        }
        guard (1...SimulatedImage.maximumFileSize).contains(size) else {
            throw ErrorDocument(
                .attribute("INVALID", at: "/data/attributes/fileSize", "No file has this size"))
        }
        let image = SimulatedImage(
            id: account.newID(), fileName: name, fileSize: size, reserved: now, secret: account.newID())
        account.store(image)
        return image.id
    }

    mutating func commit(
        _ image: SimulatedImage, _ body: RequestBody, at now: Date
    ) throws(ErrorDocument) {
        guard body.attributes["uploaded"]?.boolValue == true else { return }
        guard image.committed == nil else {
            throw ErrorDocument(.state("The image has been committed"))
        }
        guard image.byteCount == image.fileSize else {
            throw ErrorDocument(
                .attribute(
                    "INVALID.INVALID_STATE", at: "/data/attributes/uploaded",
                    "The bytes that came are not as many as were reserved"))
        }
        let checksum = body.attributes["sourceFileChecksum"]?.stringValue
        account.change(image.id) { $0.commit(checksum: checksum, at: now) }
    }

    /// Receives a part. The storage is not the API, and responds without a body.
    mutating func upload(_ exchange: Exchange) -> Response {
        counters.parts += 1
        if case .response(let status, _, _)? = exchange.fault?.effect { return Response(status: status) }
        let request = exchange.request
        let names = exchange.path.split(separator: "/")
        guard names.count == 3, let part = Int(names[2]),
            let image = account.image(secret: String(names[1]))
        else { return Response(status: 404) }
        let ranges = image.ranges(partSize: account.knobs.partSize)
        let end = RequestQuery.pairs(exchange.query).first { $0.name == "Expires" }.flatMap {
            Double($0.value)
        }
        guard request.method == "PUT" else { return Response(status: 405) }
        // The storage refuses tokens of the API. [observed]
        guard request.header("authorization") == nil,
            request.header("content-type") == "application/octet-stream", ranges.indices.contains(part),
            request.body.count == ranges[part].count
        else { return Response(status: 400) }
        guard let end, Int(end) == Int(image.end(account.knobs).timeIntervalSince1970),
            exchange.now.timeIntervalSince1970 < end, image.committed == nil
        else { return Response(status: 403) }
        if account.knobs.countsUploads {
            for key in budgets.keys { budgets[key]?.hour.spend(at: exchange.now) }
        }
        account.change(image.id) { $0.take(request.body, part: part) }
        return Response(status: 200)
    }
}
