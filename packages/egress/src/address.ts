/** An IP address as bytes: 4 for IPv4 (also when it came in as ::ffff:a.b.c.d), 16 for IPv6. */
export interface Address {
  readonly bytes: Uint8Array;
  /** The interface of a scoped address (RFC 4007 section 11); no part of the verdict. */
  readonly zone?: string;
}

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Reads the one strict spelling of an address. `127.1`, `0x7f.0.0.1`, `0177.0.0.1` and the like are not addresses
 * here: the URL parser has normalised them before, and wherever else one slips in, different readers disagree about
 * it, which is what an attacker wants.
 */
export function parseAddress(text: string): Address | undefined {
  const v4 = parseV4(text);
  if (v4) return { bytes: v4 };
  const [ipText = '', zone, ...rest] = text.split('%');
  if (rest.length > 0 || (zone !== undefined && !/^[A-Za-z0-9._~-]{1,32}$/.test(zone))) return undefined;
  const v6 = parseV6(ipText);
  if (!v6) return undefined;
  // The mapped form reaches the IPv4 host itself (RFC 4291 section 2.5.5.2): it is judged, compared and dialled as such.
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
  // `::` stands for at least one group of zeros (RFC 5952 section 4.2.2 asks for two; readers accept one).
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined;
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

/** The bytes of colon-separated groups; the last one may be an IPv4 address in dotted form when `last` says so. */
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

/** The spelling that is dialled: made from the judged bytes, so no second reader can understand it differently. */
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
export interface Prefix {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

export function parsePrefix(text: string): Prefix | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  // Not parseAddress: ::ffff:0:0/96 must stay 16 bytes long here.
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
