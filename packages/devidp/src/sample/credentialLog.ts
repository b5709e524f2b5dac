import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';

/** One value of `Authorization` that was seen. */
export interface RecordedCredential {
  /** SHA-256 of the header as it came, base64url; empty: there was none. */
  readonly hash: string;
  /** What the token says of itself, whether or not it holds. */
  readonly subject: string | undefined;
  readonly audience: string | readonly string[] | undefined;
  useCount: number;
  acceptedCount: number;
  /** How often with each HTTP method. */
  readonly methods: Record<string, number>;
}

/** Everything that was shown at the door, without keeping any of it. */
export interface CredentialLog {
  all(): readonly RecordedCredential[];
  /** Which one is meant by a token, for a test that has it. */
  find(token: string): RecordedCredential | undefined;
  clear(): void;
}

/** Older ones are forgotten. */
const MAX_ENTRIES = 20_000;

export function hashHeader(header: string | undefined): string {
  return header === undefined ? '' : createHash('sha256').update(header).digest('base64url');
}

export function createCredentialLog() {
  const credentials = new Map<string, RecordedCredential>();
  const log: CredentialLog = {
    all: () => [...credentials.values()],
    find: (token) => credentials.get(hashHeader(`Bearer ${token}`)),
    clear: () => credentials.clear(),
  };
  return {
    log,
    add(header: string | undefined, method: string): RecordedCredential {
      const hash = hashHeader(header);
      const { sub, aud } = readClaims(header);
      const entry = credentials.get(hash) ?? {
        ...{ hash, subject: sub, audience: aud, useCount: 0, acceptedCount: 0, methods: {} },
      };
      credentials.set(hash, entry);
      entry.useCount += 1;
      entry.methods[method] = (entry.methods[method] ?? 0) + 1;
      for (const oldest of credentials.keys()) {
        if (credentials.size <= MAX_ENTRIES) break;
        credentials.delete(oldest);
      }
      return entry;
    },
  };
}

function readClaims(header: string | undefined): { sub?: string; aud?: string | string[] } {
  try {
    return decodeJwt(header?.replace(/^Bearer /i, '') ?? '');
  } catch {
    return {};
  }
}
