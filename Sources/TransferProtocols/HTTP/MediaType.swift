import DisplayText
package import TransferModel

/// The media type of a file (IANA), by the end of its name, for servers that keep what they are told and show it to browsers.
enum MediaType {
    /// The type that fits any file.
    static let unknown = "application/octet-stream"

    /// By the last extension of the name, in any case; `unknown` for a name without one and for what is not in the table.
    static func of(_ name: [UInt8]) -> String {
        let last = Array(name[(name.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...])
        guard let dot = last.lastIndex(of: UInt8(ascii: ".")), dot > 0, last.count - dot <= 6 else { return unknown }
        return types[String(peer: last[(dot + 1)...]).lowercased()] ?? unknown
    }

    private static let types: [String: String] = [
        // Text
        "txt": "text/plain", "log": "text/plain", "md": "text/markdown", "csv": "text/csv", "html": "text/html",
        "htm": "text/html", "css": "text/css", "js": "text/javascript", "mjs": "text/javascript",
        "ics": "text/calendar",
        "vcf": "text/vcard", "vtt": "text/vtt", "srt": "application/x-subrip",
        // Data
        "json": "application/json", "map": "application/json", "xml": "application/xml", "yaml": "application/yaml",
        "yml": "application/yaml", "pdf": "application/pdf", "ps": "application/postscript",
        "eps": "application/postscript", "rtf": "application/rtf", "wasm": "application/wasm",
        "sqlite": "application/vnd.sqlite3", "parquet": "application/vnd.apache.parquet",
        "geojson": "application/geo+json", "gpx": "application/gpx+xml", "atom": "application/atom+xml",
        "rss": "application/rss+xml", "webmanifest": "application/manifest+json",
        // Pictures
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "heic": "image/heic", "heif": "image/heif", "svg": "image/svg+xml", "bmp": "image/bmp",
        "ico": "image/vnd.microsoft.icon", "tif": "image/tiff", "tiff": "image/tiff", "jxl": "image/jxl",
        "dng": "image/x-adobe-dng", "cr2": "image/x-canon-cr2", "cr3": "image/x-canon-cr3",
        "nef": "image/x-nikon-nef", "arw": "image/x-sony-arw", "psd": "image/vnd.adobe.photoshop",
        // Sound
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "flac": "audio/flac", "ogg": "audio/ogg",
        "oga": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav", "mid": "audio/midi", "midi": "audio/midi",
        // Films
        "mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm",
        "mkv": "video/matroska", "avi": "video/x-msvideo", "mpg": "video/mpeg", "mpeg": "video/mpeg",
        "ogv": "video/ogg", "m3u8": "application/vnd.apple.mpegurl", "mpd": "application/dash+xml",
        "3gp": "video/3gpp",
        // Archives and images of disks
        "zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip", "bz2": "application/x-bzip2",
        "xz": "application/x-xz", "zst": "application/zstd", "tar": "application/x-tar",
        "7z": "application/x-7z-compressed", "rar": "application/vnd.rar", "jar": "application/java-archive",
        "iso": "application/x-iso9660-image", "deb": "application/vnd.debian.binary-package",
        "rpm": "application/x-rpm", "apk": "application/vnd.android.package-archive",
        "epub": "application/epub+zip",
        // Fonts
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
        // Office
        "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation",
    ]
}

extension HeaderField {
    /// Names the type of a body.
    package var isContentType: Bool { name.lowercased() == "content-type" }
}
