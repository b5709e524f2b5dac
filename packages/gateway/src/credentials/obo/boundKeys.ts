import type { HiddenText, Keyring } from '@behalf/kernel';
import { principalKey, type Principal } from '../../principal/principal.ts';
import type { UserServer } from '../../registry/server.ts';
import type { Dpop, Prover } from '../dpop/dpop.ts';
import { deriveDpopKey } from '../dpop/dpopKey.ts';
import { createLruMap } from '../lruMap.ts';

const MAX_CACHED_KEYS = 10_000;

/** The key that a user's exchanged tokens for one server are bound to. */
export type BoundKeys = (server: UserServer, principal: Principal, provider: string) => Prover;

/**
 * A key of its own for each user, server and provider. It follows from our secret, so that every replica has the same one and
 * none is kept: whoever finds a token in the cache can use it, and who steals the cache can use none.
 */
export function createBoundKeys({
  keyring,
  dpop,
}: {
  readonly keyring: Pick<Keyring, 'mac'>;
  readonly dpop: Dpop;
}): BoundKeys {
  const cache = createLruMap<HiddenText>(MAX_CACHED_KEYS);
  return (server, principal, provider) => {
    const ownerKey = principalKey(principal);
    const keyId = JSON.stringify([ownerKey, server.tenant, server.id, provider]);
    let key = cache.get(keyId);
    if (!key) {
      const { tenant } = principal;
      const context = { tenant, principal: ownerKey, server: server.id, kind: 'dpop', field: 'key' };
      key = deriveDpopKey(keyring.mac(keyId, context));
      cache.set(keyId, key);
    }
    return dpop.proverFor(key);
  };
}
