import { randomBytes } from 'node:crypto';

/** Chance as a part, so that a test can replay a run. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** 128 random bits as base64url: an id nobody can guess. */
  id(): string;
  /** Uniform in [0, 1): jitter, never secrets. */
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
