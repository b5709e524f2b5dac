import { parsePrefix, isInPrefix, type Address, type Prefix } from './address.ts';

/** A range that is not the public internet. */
export interface AddressRange {
  readonly name: string;
  /** Whether an operator's entry can open it. The rest is never a server, whatever the settings say. */
  readonly canBeAllowed: boolean;
}

type RangeEntry = readonly [prefix: string, name: string, openable: 'openable' | 'never'];

/**
 * Every special-purpose block of the IANA registries (RFC 6890) a server must not live in; the first match wins.
 * The source stands beside each line.
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

/** The range an address falls in, or undefined for the public internet. */
export function findRange(address: Address): AddressRange | undefined {
  // RFC 6052: with DNS64 every IPv4-only host gets such an address, so the hidden address is judged in its place.
  if (isInPrefix(address, NAT64)) return findRange({ bytes: address.bytes.subarray(12) });
  for (const range of ranges) if (isInPrefix(address, range.prefix)) return range;
  // Closed on doubt: only 2000::/3 is handed out as public IPv6 (RFC 4291 section 2.4, IANA).
  return address.bytes.length === 16 && !isInPrefix(address, GLOBAL_UNICAST) ? UNASSIGNED : undefined;
}

function requirePrefix(text: string): Prefix {
  const prefix = parsePrefix(text);
  if (!prefix) throw new TypeError(`Not a prefix: ${text}`);
  return prefix;
}
