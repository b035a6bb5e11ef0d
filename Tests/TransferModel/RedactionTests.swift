import Testing

@testable import TransferModel

@Suite("Secrets that a server repeats") struct RedactionTests {
    private func redacted(_ text: String, _ change: (inout TransferSecrets) -> Void) -> String {
        var secrets = TransferSecrets()
        change(&secrets)
        var redaction = Redaction()
        secrets.add(to: &redaction)
        return redaction.redacted(text)
    }

    @Test("a password is taken out as it is, encoded, and as Basic shows it")
    func passwords() {
        func password(_ text: String) -> String {
            redacted(text) { ($0.user, $0.password) = ("ana", "p&s/wörd") }
        }
        #expect(password("500 'PASS p&s/wörd': not understood") == "500 'PASS ...': not understood")
        #expect(password("<p>p&amp;s/wörd</p>") == "<p>...</p>")
        #expect(password("/login?p=p%26s%2Fw%C3%B6rd&x") == "/login?p=...&x")
        #expect(password("Authorization: Basic YW5hOnAmcy93w7ZyZA==") == "Authorization: Basic ...")
        #expect(password("ana may not write here") == "ana may not write here")
        // It would be found in any text.
        #expect(redacted("is it?") { ($0.user, $0.password) = ("ana", "is") } == "is it?")
    }

    @Test("keys, fields, and what a proxy is shown are taken out; a type is none")
    func others() {
        let text = redacted(
            "key SECRETKEY token SESSION; abcdefgh12 and Bearer abcdefgh12; form-token; px%40word, px@word; text/plain"
        ) {
            $0.s3 = S3Keys(accessKeyID: "AKID", secretAccessKey: "SECRETKEY", sessionToken: "SESSION")
            $0.headers = [HeaderField("Authorization", "Bearer abcdefgh12"), HeaderField("Content-Type", "text/plain")]
            $0.formFields = [HeaderField("key", "form-token")]
            $0.proxies = ["https_proxy": "http://ana:px%40word@proxy:8080"]
        }
        #expect(text == "key ... token ...; ... and ...; ...; ..., ...; text/plain")
    }

    @Test("a query is taken out as a whole, and each of its values")
    func queries() {
        var redaction = Redaction()
        redaction.add(query: "X-Amz-Signature=0123456789abcdef&X-Amz-Credential=AKID%2F2026&x=1")
        #expect(
            redaction.redacted("at /k?X-Amz-Signature=0123456789abcdef&X-Amz-Credential=AKID%2F2026&x=1") == "at /k?..."
        )
        #expect(redaction.redacted("<S>0123456789abcdef</S> for AKID/2026, x=1") == "<S>...</S> for ..., x=1")
    }

    @Test("an error and an answer are without them, in each of their texts")
    func texts() {
        var redaction = Redaction()
        redaction.add(password: "geheim")
        var error = TransferError(.http, "it said geheim", aside: "for 'geheim'", httpStatus: 500)
        error.said = "your geheim"
        error.detail = "PUT /geheim -> 500"
        let told = error.redacted(by: redaction)
        #expect(told.finding.what == "it said ..." && told.finding.aside == "for '...'")
        #expect(told.said == "your ..." && told.detail == "PUT /... -> 500" && told.httpStatus == 500)
        let answer = TransferResponse(status: 500, headers: [HeaderField("X-You", "geheim")], body: "geheim!")
        let kept = answer.redacted(by: redaction)
        #expect(kept == TransferResponse(status: 500, headers: [HeaderField("X-You", "...")], body: "...!"))
    }

    @Test("of a text that goes on behind its end no beginning of a secret is kept")
    func cut() {
        var redaction = Redaction()
        redaction.add(value: "0123456789abcdef")
        let cut = Array("before it, and then, again: 0123456789abcde".utf8)
        #expect(redaction.redacted(cut, isCut: true) == Array("before it, and then, again: ".utf8))
        #expect(redaction.redacted(cut) == cut)
        let whole = Array("a 0123456789abcdef".utf8)
        #expect(redaction.redacted(whole, isCut: true) == Array("a ...".utf8))
    }
}
