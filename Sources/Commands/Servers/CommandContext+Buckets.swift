import CommandLine
import MartletKit

extension CommandContext {
    /// Unfinished uploads of a bucket, by whomever; those that are named are taken away.
    func bucketUploads(
        _ url: String, aborting named: [String], _ command: String
    ) async throws(CommandFailure) -> BucketUploads {
        let request: BatchRequest
        do throws(QueueingFault) {
            request = try destinationBook().question(url, environment: surroundings.environment)
        } catch {
            throw CommandFailure(error, command: command)
        }
        guard case .upload(_, let bucket) = request.work, TransferScheme(of: bucket)?.facts.urlNamesNoHost == true
        else {
            throw .usage("\(command): \(RawPath(url).displayed) is no bucket", "write s3://BUCKET/PREFIX")
        }
        // Without keys of its own the engine has those of the destination.
        let (keys, destination, place) = (request.secrets.s3, request.destination, request.options.s3)
        return try await ask(answersLate: true) { engine throws(RequestError) in
            try await engine.bucketUploads(
                at: bucket, place: place, keys: keys, destination: destination, aborting: named)
        }
    }
}
