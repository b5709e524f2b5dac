import { randomBytes } from 'node:crypto';

/** Randomness as a parameter, so that a test can repeat a run exactly. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** An unguessable ID: 128 random bits as base64url. */
  id(): string;
  /** Uniform in [0, 1). For jitter, not for secrets: it has only 32 bits. */
  uniform(): number;
}

export function createRandom(bytes: (length: number) => Uint8Array): Random {
  return {
    bytes,
    id: () => Buffer.from(bytes(16)).toString('base64url'),
    uniform: () => Buffer.from(bytes(4)).readUInt32BE() / 2 ** 32,
  };
}

export const systemRandom: Random = createRandom((length) => randomBytes(length));
