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

    @Test(
        "a secret is found however a server or a library escapes it",
        arguments: [
            "p%26s%2fw%c3%b6rd'x", #"p\u0026s\/w\u00f6rd\u0027x"#, #"p&s\x2fwörd\'x"#, "p&#38;s/w&#xf6;rd&#039;x",
            "p&amp;s&#x2F;w&ouml;rd'x".replacing("&ouml;", with: "&#246;"), "p%2526s%252Fw%25C3%25B6rd%2527x",
            #"p\u0026amp;s/wörd&apos;x"#, "p&amp;s%2Fwörd\\u0027x",
        ])
    func escapes(written: String) {
        let text = redacted("at /a?b='\(written)' & 5% \\ more") { ($0.user, $0.password) = ("ana", "p&s/wörd'x") }
        #expect(text == "at /a?b='...' & 5% \\ more")
    }

    @Test("a character of two units of JSON, a blank of a form, and what is no escape")
    func unitsAndBlanks() {
        func password(_ text: String) -> String {
            redacted(text) { ($0.user, $0.password) = ("ana", "key 🐦 nest") }
        }
        #expect(password(#"{"a": "key \ud83d\udc26 nest"}"#) == #"{"a": "..."}"#)
        #expect(password("key+%F0%9F%90%A6+nest&x") == "...&x")
        let none = #"key &#xD83D; \ud83d\u0041 \u12 %zz &#; &#99999999999; &nbsp; nest \"#
        #expect(password(none) == none)
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

    @Test("of secrets that begin alike the one that goes on furthest is taken out")
    func alike() {
        let start = String(repeating: "abcdefgh", count: 40)
        var redaction = Redaction()
        for end in ["-first-one", "-second", "-third-of-them"] { redaction.add(password: start + end) }
        for end in ["-first-one", "-second", "-third-of-them"] {
            #expect(redaction.redacted("<\(start)\(end)>") == "<...>")
        }
        #expect(redaction.redacted("<\(start)-sec!>") == "<...!>")
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
        // An escape that was cut in two, behind one that was not.
        let escaped = Array("it is /a?b=c, then 012345%3678%39abc%6".utf8)
        #expect(redaction.redacted(escaped, isCut: true) == Array("it is /a?b".utf8))
        let whole = Array("a 0123456789abcdef".utf8)
        #expect(redaction.redacted(whole, isCut: true) == Array("a ...".utf8))
    }
}
