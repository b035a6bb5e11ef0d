import TransferModel

extension ProtocolDescriptor {
    /// `http://` and `https://`: what the host can, what a person says, and what an earlier attempt left choose the protocol that sends.
    static let web = ProtocolDescriptor(
        .web, at: HTTPAddress.self,
        upload: { job, address in
            // What is begun goes on by what began it.
            if let resume = job.resume, resume.goesOn, let begun = began(resume)?.upload?(job, address) { return begun }
            if let id = job.options.uploadBy?.rawValue ?? job.facts.uploadBy,
                let chosen = stored(as: id)?.upload?(job, address)
            {
                return chosen
            }
            return NegotiatedUpload(
                NegotiatedPlan(
                    folder: job.folder(of: address), put: PutPlan(job, address), tus: TusPlan(job, address),
                    resumable: ResumablePlan(job, address)))
        },
        download: get.download,
        probe: { job, address in PlaceProbe(WebProbe(address, asks: WebProbe.Question(job.options.uploadBy))) })
}
