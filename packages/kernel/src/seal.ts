import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto';
import type { Random } from './random.ts';

/**
 * The owner and place of a sealed value. All fields are authenticated (AAD of AES-GCM), so a ciphertext that is copied
 * to another tenant, principal, server, kind or field fails to decrypt there.
 */
export interface SealContext {
  tenant: string;
  /** A principal such as `user:<id>`, or `-` for a value without an owner. */
  principal: string;
  /** The server ID, or `-`. */
  server: string;
  kind: string;
  field: string;
  /** Further authenticated values, in order, such as the record ID, URL or generation. */
  binding?: readonly string[];
}

export type UnsealFailure = 'malformed' | 'unknown_key' | 'tampered';

/** Decryption failed. Callers must report it and must not treat the value as missing. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly reason: UnsealFailure;
  constructor(reason: UnsealFailure) {
    super(`Cannot open the sealed value: ${reason}`);
    this.reason = reason;
  }
}

export interface Keyring {
  /** ID of the key that encrypts. */
  readonly writingKeyId: string;
  seal(plaintext: string, context: SealContext): string;
  open(envelope: string, context: SealContext): string;
  /** Re-encrypts the value under the writing key. Returns the envelope unchanged if it already uses that key. */
  rewrap(envelope: string, context: SealContext): string;
  /** A message authentication code of the text in this context. It provides integrity, not confidentiality. */
  mac(text: string, context: SealContext): string;
  verifyMac(text: string, mac: string, context: SealContext): boolean;
  /** Whether the keyring has the key that an envelope or a MAC names. Without it, neither can be verified. */
  hasKeyFor(value: string): boolean;
}

const FORMAT_VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The first 8 hex digits of the key's SHA-256: identifies a key without revealing it. */
export function keyId(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

/**
 * Authenticated encryption of stored secrets. Invariants:
 * - AES-256-GCM (NIST SP 800-38D) under an HKDF-SHA256 subkey (RFC 5869) per key, tenant and kind.
 * - The whole `SealContext` is additional authenticated data, encoded without ambiguity.
 * - MACs use separate HKDF subkeys: no key both encrypts and authenticates.
 * - The first key encrypts; all keys decrypt, so keys can be rotated without downtime.
 */
export function createKeyring(keys: readonly Uint8Array[], random: Random): Keyring {
  const [primaryKey] = keys;
  if (primaryKey === undefined) throw new RangeError('A keyring needs at least one key');
  for (const key of keys) if (key.length !== 32) throw new RangeError('A sealing key must have 32 bytes');
  const byId = new Map(keys.map((key) => [keyId(key), key]));
  const writingKeyId = keyId(primaryKey);

  function open(envelope: string, context: SealContext): string {
    const [version, kid, nonce, body, ...rest] = envelope.split('.');
    if (version !== FORMAT_VERSION || !kid || !nonce || !body || rest.length > 0)
      throw new SealError('malformed');
    const key = byId.get(kid);
    if (!key) throw new SealError('unknown_key');
    const iv = fromBase64url(nonce);
    const bytes = fromBase64url(body);
    if (iv.length !== NONCE_BYTES || bytes.length < TAG_BYTES) throw new SealError('malformed');
    try {
      const decipher = createDecipheriv('aes-256-gcm', deriveKey(key, context), iv, {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(additionalData(context));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new SealError('tampered');
    }
  }

  function seal(plaintext: string, context: SealContext): string {
    const nonce = random.bytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', deriveKey(primaryKey as Uint8Array, context), nonce, {
      authTagLength: TAG_BYTES,
    });
    cipher.setAAD(additionalData(context));
    const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return [
      FORMAT_VERSION,
      writingKeyId,
      Buffer.from(nonce).toString('base64url'),
      body.toString('base64url'),
    ].join('.');
  }

  function mac(text: string, context: SealContext): string {
    const macBytes = computeMac(primaryKey as Uint8Array, text, context);
    return [FORMAT_VERSION, writingKeyId, macBytes.toString('base64url')].join('.');
  }

  function verifyMac(text: string, candidate: string, context: SealContext): boolean {
    const [version, kid = '', digest = '', ...rest] = candidate.split('.');
    const key = byId.get(kid);
    if (version !== FORMAT_VERSION || !key || rest.length > 0) return false;
    const expected = Buffer.from(computeMac(key, text, context).toString('base64url'));
    // Compares the encoded text, because Buffer's decoder accepts several encodings of the same bytes.
    const actual = Buffer.from(digest);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }

  return {
    writingKeyId,
    seal,
    open,
    mac,
    verifyMac,
    hasKeyFor: (value) => byId.has(value.split('.', 2)[1] ?? ''),
    rewrap(envelope, context) {
      return envelope.startsWith(`${FORMAT_VERSION}.${writingKeyId}.`)
        ? envelope
        : seal(open(envelope, context), context);
    },
  };
}

/** Rejects non-canonical base64url: Buffer's decoder ignores invalid characters and unused bits. */
function fromBase64url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new SealError('malformed');
  return bytes;
}

function deriveKey(key: Uint8Array, { tenant, kind }: SealContext): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, 'behalf', lengthPrefixed([tenant, kind]), 32));
}

/** Uses a separate subkey, so that no key both encrypts and authenticates. */
function computeMac(key: Uint8Array, text: string, context: SealContext): Buffer {
  const info = lengthPrefixed(['mac', context.tenant, context.kind]);
  const macKey = new Uint8Array(hkdfSync('sha256', key, 'behalf', info, 32));
  return createHmac('sha256', macKey)
    .update(additionalData(context))
    .update(lengthPrefixed([text]))
    .digest();
}

function additionalData({ tenant, principal, server, kind, field, binding = [] }: SealContext): Buffer {
  return lengthPrefixed([FORMAT_VERSION, tenant, principal, server, kind, field, ...binding]);
}

/** Prefixes each part with its length, so that two different tuples never have the same encoding. */
function lengthPrefixed(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part, 'utf8');
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
