import CurlTransport
import Testing
