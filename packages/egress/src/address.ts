/** An IP address as bytes: 4 for IPv4 (including IPv4-mapped IPv6 such as ::ffff:a.b.c.d), 16 for IPv6. */
export interface Address {
  readonly bytes: Uint8Array;
  /** The zone of a scoped address (RFC 4007 section 11). The address check ignores it. */
  readonly zone?: string;
}

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Parses strict notation only. `127.1`, `0x7f.0.0.1` and `0177.0.0.1` are not addresses here: the URL parser has
 * normalized them already, and elsewhere parsers disagree about them, which an attacker can exploit.
 */
export function parseAddress(text: string): Address | undefined {
  const v4 = parseV4(text);
  if (v4) return { bytes: v4 };
  const [ipText = '', zone, ...rest] = text.split('%');
  if (rest.length > 0 || (zone !== undefined && !/^[A-Za-z0-9._~-]{1,32}$/.test(zone))) return undefined;
  const v6 = parseV6(ipText);
  if (!v6) return undefined;
  // An IPv4-mapped address reaches the IPv4 host (RFC 4291 section 2.5.5.2), so it is checked, compared and dialed
  // as IPv4.
  if (MAPPED_PREFIX.every((byte, i) => v6[i] === byte)) return { bytes: v6.subarray(12) };
  return zone === undefined ? { bytes: v6 } : { bytes: v6, zone };
}

function parseV4(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [i, part] of parts.entries()) {
    if (!/^(0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bytes[i] = Number(part);
  }
  return bytes;
}

function parseV6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : [];
  if (!head || !tail) return undefined;
  const missing = 16 - head.length - tail.length;
  // `::` replaces at least one group of zeros. RFC 5952 section 4.2.2 recommends it for two or more; parsers
  // accept one.
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined;
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

/** Parses colon-separated groups. If `allowsIpv4` is set, the last one may be an IPv4 address in dotted notation. */
function parseGroups(text: string, allowsIpv4: boolean): number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const bytes: number[] = [];
  for (const [i, part] of parts.entries()) {
    if (allowsIpv4 && i === parts.length - 1 && part.includes('.')) {
      const v4 = parseV4(part);
      if (!v4) return undefined;
      bytes.push(...v4);
    } else {
      if (!/^[0-9A-Fa-f]{1,4}$/.test(part)) return undefined;
      const group = Number.parseInt(part, 16);
      bytes.push(group >> 8, group & 0xff);
    }
  }
  return bytes;
}

/**
 * The text form that is dialed. It is built from the checked bytes, so no other parser can read it as another
 * address.
 */
export function formatAddress({ bytes, zone }: Address): string {
  if (bytes.length === 4) return bytes.join('.');
  const parts: string[] = [];
  for (let i = 0; i < 16; i += 2) parts.push((((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)).toString(16));
  return zone === undefined ? parts.join(':') : `${parts.join(':')}%${zone}`;
}

export function isSameAddress(a: Address, b: Address): boolean {
  return a.bytes.length === b.bytes.length && a.bytes.every((byte, i) => b.bytes[i] === byte);
}

/** A network prefix such as 10.0.0.0/8. */
interface Prefix {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

export function parsePrefix(text: string): Prefix | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  // parseAddress would shorten ::ffff:0:0/96 to an IPv4 address.
  const bytes = parseV4(address) ?? parseV6(address);
  if (!bytes || rest.length > 0 || !/^[0-9]{1,3}$/.test(length) || Number(length) > bytes.length * 8)
    return undefined;
  return { bytes, bits: Number(length) };
}

export function isInPrefix({ bytes }: Address, prefix: Prefix): boolean {
  if (bytes.length !== prefix.bytes.length) return false;
  const fullBytes = prefix.bits >> 3;
  for (let i = 0; i < fullBytes; i += 1) if (bytes[i] !== prefix.bytes[i]) return false;
  const remainingBits = prefix.bits & 7;
  return (
    remainingBits === 0 ||
    ((bytes[fullBytes] ?? 0) ^ (prefix.bytes[fullBytes] ?? 0)) >> (8 - remainingBits) === 0
  );
}

/** An address range outside the public internet. */
interface AddressRange {
  readonly name: string;
  /** Whether an operator's allow-list entry can permit this range. The other ranges are always denied. */
  readonly canBeAllowed: boolean;
}

type RangeEntry = readonly [prefix: string, name: string, openable: 'openable' | 'never'];

/**
 * The special-purpose blocks of the IANA registries (RFC 6890) where no server may run. The first match applies.
 * Each line names its source.
 */
const rangeEntries: readonly RangeEntry[] = [
  ['0.0.0.0/8', 'this-network', 'never'], // RFC 1122 section 3.2.1.3; Linux takes 0.0.0.0 for loopback
  ['10.0.0.0/8', 'private', 'openable'], // RFC 1918
  ['100.64.0.0/10', 'carrier-nat', 'openable'], // RFC 6598; some clouds keep metadata here
  ['127.0.0.0/8', 'loopback', 'openable'], // RFC 1122 section 3.2.1.3
  ['168.63.129.16/32', 'cloud-platform', 'never'], // Azure's host agent behind a public-looking address
  ['169.254.0.0/16', 'link-local', 'openable'], // RFC 3927; cloud metadata lives at 169.254.169.254
  ['172.16.0.0/12', 'private-172', 'openable'], // RFC 1918
  ['192.0.0.0/24', 'protocol-assignments', 'never'], // RFC 6890 section 2.1; Oracle's metadata is 192.0.0.192
  ['192.0.2.0/24', 'documentation-1', 'never'], // RFC 5737
  ['192.88.99.0/24', '6to4-relay', 'never'], // RFC 7526
  ['192.168.0.0/16', 'private-192', 'openable'], // RFC 1918
  ['198.18.0.0/15', 'benchmark', 'openable'], // RFC 2544; proxies hand these out as fake addresses
  ['198.51.100.0/24', 'documentation-2', 'never'], // RFC 5737
  ['203.0.113.0/24', 'documentation-3', 'never'], // RFC 5737
  ['224.0.0.0/4', 'multicast', 'never'], // RFC 5771
  ['255.255.255.255/32', 'broadcast', 'never'], // RFC 919 section 7
  ['240.0.0.0/4', 'reserved', 'never'], // RFC 1112 section 4

  ['::/128', 'unspecified', 'never'], // RFC 4291 section 2.5.2; connects to loopback
  ['::1/128', 'loopback-v6', 'openable'], // RFC 4291 section 2.5.3
  ['::/96', 'v4-compatible', 'never'], // RFC 4291 section 2.5.5.1, deprecated; hides an IPv4 address
  ['::ffff:0:0/96', 'v4-mapped', 'never'], // RFC 4291 section 2.5.5.2; read as IPv4 before it could get here
  ['::ffff:0:0:0/96', 'v4-translated', 'never'], // RFC 2765 section 2.1; hides an IPv4 address
  ['64:ff9b:1::/48', 'nat64-local', 'openable'], // RFC 8215; leads into the operator's own IPv4 network
  ['100::/64', 'discard', 'never'], // RFC 6666
  ['2001::/32', 'teredo', 'never'], // RFC 4380; hides an IPv4 address, and nobody serves from there
  ['2001::/23', 'protocol-assignments-v6', 'never'], // RFC 2928: benchmark (RFC 5180), ORCHID (RFC 4843, 7343)
  ['2001:db8::/32', 'documentation-v6', 'never'], // RFC 3849
  ['3fff::/20', 'documentation-v6-2', 'never'], // RFC 9637
  ['2002::/16', '6to4', 'never'], // RFC 3056, deprecated by RFC 7526; hides an IPv4 address
  ['fc00::/7', 'unique-local', 'openable'], // RFC 4193
  ['fe80::/10', 'link-local-v6', 'openable'], // RFC 4291 section 2.5.6
  ['fec0::/10', 'site-local', 'openable'], // RFC 3879
  ['ff00::/8', 'multicast-v6', 'never'], // RFC 4291 section 2.7
];

const ranges = rangeEntries.map(([prefix, name, rule]) => ({
  name,
  canBeAllowed: rule === 'openable',
  prefix: requirePrefix(prefix),
}));

const NAT64 = requirePrefix('64:ff9b::/96');
const GLOBAL_UNICAST = requirePrefix('2000::/3');
const UNASSIGNED: AddressRange = { name: 'unassigned-v6', canBeAllowed: false };

/** The special-purpose range of an address; undefined for the public internet. */
export function findRange(address: Address): AddressRange | undefined {
  // With DNS64, each IPv4-only host has a NAT64 address (RFC 6052). Check the embedded IPv4 address instead.
  if (isInPrefix(address, NAT64)) return findRange({ bytes: address.bytes.subarray(12) });
  for (const range of ranges) if (isInPrefix(address, range.prefix)) return range;
  // Fail closed: only 2000::/3 is assigned as public IPv6 space (RFC 4291 section 2.4, IANA).
  return address.bytes.length === 16 && !isInPrefix(address, GLOBAL_UNICAST) ? UNASSIGNED : undefined;
}

function requirePrefix(text: string): Prefix {
  const prefix = parsePrefix(text);
  if (!prefix) throw new TypeError(`Not a prefix: ${text}`);
  return prefix;
}
