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
 * What a sealed value belongs to. Every part goes into the authenticated data, so a ciphertext copied to another
 * tenant, principal, server, kind or field does not open there.
 */
export interface SealContext {
  tenant: string;
  /** A principal such as `user:<id>`, or `-` when the value belongs to nobody. */
  principal: string;
  /** The server's id, or `-`. */
  server: string;
  kind: string;
  field: string;
  /** Further binding, in order (a record's id, URL, generation ...). */
  binding?: readonly string[];
}

export type UnsealFailure = 'malformed' | 'unknown_key' | 'tampered';

/** A sealed value that does not open is an alarm, never a missing value. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly reason: UnsealFailure;
  constructor(reason: UnsealFailure) {
    super(`Cannot open the sealed value: ${reason}`);
    this.reason = reason;
  }
}

export interface Keyring {
  /** Id of the key that writes. */
  readonly writingKeyId: string;
  seal(plaintext: string, context: SealContext): string;
  open(envelope: string, context: SealContext): string;
  /** The same value under the writing key; the envelope itself when it already is. */
  rewrap(envelope: string, context: SealContext): string;
  /** Proves later that this text, for this context, came from a holder of the key. It hides nothing. */
  mac(text: string, context: SealContext): string;
  verifyMac(text: string, mac: string, context: SealContext): boolean;
  /** Whether the key that an envelope or a MAC names is one of ours: else nothing can be said about it. */
  hasKeyFor(value: string): boolean;
}

const FORMAT_VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** First 8 hex of the key's SHA-256: names a key without revealing it. */
export function keyId(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

/** AES-256-GCM under an HKDF subkey per (key, tenant, kind). The first key writes, all read. */
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
    // The text is compared, not what a lenient decoder makes of it.
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

/** Only the one canonical spelling: the decoder skips strange characters and unused bits, so many texts would open. */
function fromBase64url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new SealError('malformed');
  return bytes;
}

function deriveKey(key: Uint8Array, { tenant, kind }: SealContext): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, 'behalf', lengthPrefixed([tenant, kind]), 32));
}

/** Under a subkey of its own: no MAC is ever made with a key that encrypts. */
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

/** Length before content, so no two tuples share an encoding. */
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
