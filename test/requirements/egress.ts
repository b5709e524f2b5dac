import type { Requirement } from '../requirements.ts';

export const egress = {
  'egress.address.private-refused': [
    'done',
    'An address of any special-purpose range is refused, as a literal and behind a name, for every audience.',
  ],
  'egress.address.hidden-v4-refused': [
    'done',
    'A private IPv4 address is refused in every IPv6 form that can carry it and in every spelling a URL allows.',
  ],
  'egress.address.one-spelling': [
    'done',
    'A loose or broken spelling of an address is refused wherever it comes from.',
  ],
  'egress.address.public-passes': ['done', 'Public addresses pass, also the neighbours of special ranges.'],
  'egress.domains.strict-list': ['done', 'A non-empty allowedDomains allows its names and nothing else.'],
  'egress.domains.effective-port': ['done', 'allowedDomains compares scheme, host and effective port.'],
  'egress.domains.independent': [
    'done',
    'Domain list and address check both always apply; neither excuses the other.',
  ],
  'egress.policy.malformed': [
    'done',
    'A setting that cannot be read stops the start and is named by setting and index, without its value.',
  ],
  'egress.names.blocked': [
    'done',
    'Internal names are refused before a look-up unless their host:port is opened.',
  ],
  'egress.names.not-addresses': ['done', 'A name is never tested as an address: fcbarcelona.com passes.'],
  'egress.open.allowed-addresses': [
    'done',
    'allowedAddresses opens one host and port of private space for everyone.',
  ],
  'egress.open.operator-yaml-only': [
    'done',
    'operatorAddresses opens private space for servers of the YAML alone.',
  ],
  'egress.open.identity-only': ['done', "A configured issuer's origin is open to the identity client alone."],
  'egress.dns.failure-blocks': ['done', 'A name that does not resolve is refused.'],
  'egress.dns.every-address': ['done', 'One private address among the answers refuses the name.'],
  'egress.dns.pinned': ['done', 'The address that was checked is the one that is dialled.'],
  'egress.own.refused': ['done', "A user's server cannot be our public origin or listening address."],
  'egress.url.form': ['done', 'Only http and https URLs without credentials are fetched.'],
  'egress.errors.no-secrets': ['done', 'An error names the host and nothing else of a URL or header.'],
  'egress.errors.closed-set': ['done', 'Every reason of a refusal maps to one error code.'],
  'egress.redirect.keeps-method': [
    'done',
    '307 and 308 keep method and body; 301 to 303 are returned unfollowed.',
  ],
  'egress.redirect.limit': ['done', 'Five redirects are followed, the sixth fails.'],
  'egress.redirect.rechecked': ['done', 'Every redirect hop passes all checks anew.'],
  'egress.redirect.own': ['done', "A user's server cannot redirect us to ourselves."],
  'egress.redirect.strip': [
    'done',
    'Across origins every credential and configured header is stripped, for good.',
  ],
  'egress.redirect.same-origin': ['done', 'Within its origin a redirect keeps headers and exemption.'],
  'egress.redirect.no-exemption': ['done', 'A redirect from another origin opens no private space.'],
  'egress.redirect.refuse-mode': ['done', 'Where redirects are refused, every one of them is an error.'],
  'egress.timeout.connect': [
    'done',
    'Connecting, with DNS and proxy, ends in time with an error of its own.',
  ],
  'egress.timeout.headers': ['done', 'An answer that does not begin in time ends with an error of its own.'],
  'egress.timeout.total': ['done', 'An answer that does not end in time ends with an error of its own.'],
  'egress.timeout.idle': [
    'done',
    'A body that falls silent ends with an error of its own; a live stream goes on.',
  ],
  'egress.abort': [
    'done',
    "The caller's signal ends a request in every phase, at once, with its own reason.",
  ],
  'egress.limit.body': ['done', 'A body over 16 MiB fails promptly and names the limit.'],
  'egress.limit.sse-line': ['done', 'An event-stream line over 5 MiB fails promptly and names the limit.'],
  'egress.limit.sse-event': ['done', 'An event that never ends is capped; the sum of a stream is not.'],
  'egress.limit.encoding': ['done', 'A compressed answer, which could hide its size, is refused.'],
  'egress.stream.before-eof': ['done', 'An event is delivered while its stream is open.'],
  'egress.stream.media-type': ['done', 'Only the exact media type text/event-stream is a stream.'],
  'egress.proxy.order': [
    'done',
    "A server's own proxy comes first, then PROXY, then the standard variables.",
  ],
  'egress.proxy.loopback': [
    'done',
    'No proxy of the environment is asked for what is on this machine; one for identity requests never is.',
  ],
  'egress.proxy.no-proxy': ['done', 'NO_PROXY takes names, wildcards, blocks, ranges, bare IPv6 and ports.'],
  'egress.proxy.prechecked': ['done', 'A proxied target is judged here before the proxy hears of it.'],
  'egress.proxy.pinned': ['done', 'A proxy is asked for the checked address, and TLS keeps the name.'],
  'egress.proxy.refused': [
    'done',
    'A proxy that refuses is an error of its own and its password stays private.',
  ],
  'egress.proxy.pool-key': ['done', 'A request without a proxy never rides on a tunnel through one.'],
  'egress.hop.limit': ['done', 'The third gateway hop in a row is refused and nothing is sent.'],
  'egress.hop.sealed': ['done', 'The hop count is sealed: replicas notice when it was lowered.'],
  'egress.hop.foreign': ['done', 'A loop over gateways with different keys ends, too.'],
  'egress.hop.unreadable': ['done', 'A hop header that makes no sense counts as the limit.'],
  'egress.pool.reuse': ['done', 'Connections are kept and reused without another look-up.'],
  'egress.pool.key': [
    'done',
    'A socket that an exemption opened is never reused by who lacks the exemption.',
  ],
  'egress.pool.bounded': ['done', 'Kept connections are capped and expire.'],
  'egress.close': ['done', 'Closing lets requests finish for a moment, ends the rest and refuses new ones.'],
  'egress.dial.fallback': ['done', 'A silent address does not hold up the next one of the same name.'],
  'egress.fetch.request': ['done', 'Method, path, headers and every kind of body reach the server.'],
  'egress.fetch.own-headers': ['done', 'No caller sets the host or another header of the connection.'],
  'egress.fetch.response': ['done', 'The answer reads like a WHATWG Response.'],
  'egress.fetch.broken': [
    'done',
    'A broken connection is one typed error that says whether the request was sent.',
  ],
  'egress.fetch.mcp-sdk': ['done', "The MCP SDK's client works over the guarded fetch."],
  'egress.send.request': [
    'done',
    'Without WHATWG objects, too, method, path, headers and body arrive and the answer comes back, read once.',
  ],
  'egress.send.guard': [
    'done',
    'What is sent passes the same guard as a fetch, at each new connection, also for a URL that was read before.',
  ],
  'egress.send.own-headers': [
    'done',
    'No caller of send sets a header of the connection, in any spelling of its name.',
  ],
  'egress.send.header-values': [
    'done',
    'A header name or value that HTTP does not allow is refused before anything is sent, without its text.',
  ],
  'egress.send.hop': ['done', 'Send counts the hop header up, replaces it, and refuses the third hop.'],
  'egress.send.redirect': [
    'done',
    'Send follows redirects as fetch does: same method, judged anew, credentials stripped across origins.',
  ],
  'egress.send.timeout': [
    'done',
    'Send gives up on late headers, late ends and silence, at the cost of one timer a request.',
  ],
  'egress.send.abort': [
    'done',
    "The caller's signal ends what was sent in every phase; aborted while connecting, nothing is sent.",
  ],
  'egress.send.limit': ['done', 'Size, line, event and encoding limits hold for send, read or unread.'],
  'egress.send.backpressure': ['done', 'A slow reader of a sent request slows the server, not the heap.'],
  'egress.send.release': [
    'done',
    'A body that nobody wants is drained when it is short and closed when it is long or a stream.',
  ],
  'egress.send.unwanted': [
    'done',
    'An answer that nobody wants ends within a second, whether or not its body comes.',
  ],
  'egress.send.pieces': [
    'done',
    'A body cut into tiny pieces costs no more memory than its bytes, and bounded time.',
  ],
  'egress.send.broken': [
    'done',
    'A connection that breaks under send is one typed error that says whether the request was sent.',
  ],
  'egress.system.literal-only': ['done', 'The real dialler never dials a name.'],
  'egress.system.dial': ['done', 'The real dialler connects, fails and stops as asked.'],
  'egress.system.tls': [
    'done',
    'A certificate is checked for the name that was asked for, through a proxy, too.',
  ],
  'egress.system.resolve': ['done', "The machine's resolver and addresses are available as parts."],
} as const satisfies Record<string, Requirement>;
