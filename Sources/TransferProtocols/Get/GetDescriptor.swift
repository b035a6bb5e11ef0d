import TransferModel

extension ProtocolDescriptor {
    static let get = ProtocolDescriptor(
        .get, at: HTTPAddress.self, resumePoint: GetResumePoint.self,
        download: { job, address in
            var plan = GetPlan(
                address: address, name: job.name, verify: job.verify, expects: job.expects, resume: job.resume)
            plan.ifChanged = job.ifChanged
            return GetDownload(plan)
        })
}
