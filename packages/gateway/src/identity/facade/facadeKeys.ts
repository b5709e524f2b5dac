import { createSingleFlight, type Random } from '@behalf/kernel';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { KeySet, KeySource } from '../openid/keySource.ts';
import type { FacadeRecords } from './facadeRecords.ts';

/** What our tokens are signed with. */
export const FACADE_ALGORITHM = 'ES256';

/** Ten years: the keys are the store's, and go with it. */
const KEPT_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/** The secrets of the authorization server, the same in all processes. */
export interface FacadeSecrets {
  /** Private. */
  readonly jwk: JWK;
  /** Signs the cookies of a sign-in under way. */
  readonly cookieKey: string;
}

export interface FacadeKeys {
  /** Made by whoever asks first. */
  secrets(): Promise<FacadeSecrets>;
  /** The public half, to judge our own tokens by. */
  readonly source: KeySource;
}

export function createFacadeKeys(parts: {
  readonly records: Pick<FacadeRecords, 'find' | 'add'>;
  readonly random: Random;
}): FacadeKeys {
  const { records, random } = parts;
  const flights = createSingleFlight<FacadeSecrets>();
  let known: FacadeSecrets | null = null;
  let set: KeySet | null = null;

  async function make(): Promise<FacadeSecrets> {
    const { privateKey } = await generateKeyPair(FACADE_ALGORITHM, { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), kid: random.id(), alg: FACADE_ALGORITHM, use: 'sig' };
    return { jwk, cookieKey: Buffer.from(random.bytes(32)).toString('base64url') };
  }

  async function read(): Promise<FacadeSecrets> {
    const found = await records.find<FacadeSecrets>('Keys', 'current');
    if (found) return (known = found.payload);
    const made = await make();
    return (known = (await records.add('Keys', 'current', made, { ttlMs: KEPT_MS })) ?? made);
  }

  const secrets = async () => known ?? flights.run([], read, { detached: true });

  async function current(): Promise<KeySet> {
    if (set) return set;
    const { d: _private, ...jwk } = (await secrets()).jwk;
    return (set ??= { find: createLocalJWKSet({ keys: [jwk] }) });
  }

  return { secrets, source: { current, newerThan: current, generation: () => 0 } };
}
