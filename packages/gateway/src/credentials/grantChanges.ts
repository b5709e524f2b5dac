import { sleep, type Clock } from '@behalf/kernel';
import type { CredentialStore } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';
import { userIdOfHolder } from './credentialKeys.ts';
import { createLruMap } from './lruMap.ts';
import type { CredentialVault, VaultToken } from './vault/vault.ts';

const MAX_ENTRIES = 20_000;
/** How many are read together when all have to be looked at, and how long after one such look the next may begin. */
const BATCH_SIZE = 50;
const PAUSE_MS = 1_000;

interface GrantChangesParts {
  readonly vault: Pick<CredentialVault, 'onChange' | 'onTokenProvided'>;
  readonly store: Pick<CredentialStore, 'findById'>;
  readonly clock: Clock;
  /** What was opened or listed with a grant that is over is of no use any more. `principal` as connections call them. */
  readonly onGrantEnded: (serverId: string, principal: string) => void;
}

/**
 * Tells of grants that were in use here and were replaced or ended, here or on another replica. A token that is merely
 * renewed changes nothing: a connection asks for it anew with each request.
 */
export function subscribeToGrantChanges({
  vault,
  store,
  clock,
  onGrantEnded,
}: GrantChangesParts): () => void {
  /** Of the grants whose tokens were given out here. Nothing was opened with any other. */
  const generations = createLruMap<number>(MAX_ENTRIES);
  const closed = new AbortController();
  let isScanning = false;
  let isScanDue = false;

  function emitGrantEnded(id: string): void {
    const [tenant = '', holder = '', serverId = ''] = JSON.parse(id) as string[];
    const userId = userIdOfHolder(holder);
    if (userId !== undefined) onGrantEnded(serverId, principalKey({ tenant, userId }));
  }

  /** Before anything is opened with it: what is open is of the grant before. */
  function recordProvided({ id, generation }: VaultToken): void {
    const previous = generations.get(id);
    // A token of the grant before may arrive late.
    if (previous !== undefined && generation <= previous) return;
    generations.set(id, generation);
    if (previous !== undefined) emitGrantEnded(id);
  }

  async function checkGrant(id: string): Promise<void> {
    const previous = generations.get(id);
    if (previous === undefined) return;
    const record = await store.findById(id);
    // Given out anew while it was read: then it is known already.
    if (record?.generation === previous || generations.get(id) !== previous) return;
    if (record) generations.set(id, record.generation);
    else generations.delete(id);
    emitGrantEnded(id);
  }

  // What cannot be read now is told of again, and a token that is over is refused wherever it is sent.
  const tryCheckGrant = (id: string) => checkGrant(id).catch(() => undefined);

  /** A poll of the store tells that something changed, and not what. One look at all follows many such notices. */
  async function checkAllGrants(): Promise<void> {
    isScanDue = true;
    if (isScanning) return;
    isScanning = true;
    try {
      while (isScanDue) {
        isScanDue = false;
        const ids = [...generations.keys()];
        for (let from = 0; from < ids.length; from += BATCH_SIZE)
          await Promise.all(ids.slice(from, from + BATCH_SIZE).map(tryCheckGrant));
        await sleep(clock, PAUSE_MS, closed.signal);
      }
    } catch {
      // It is over.
    } finally {
      isScanning = false;
    }
  }

  const unsubscribers = [
    vault.onTokenProvided(recordProvided),
    vault.onChange((id) => void (id === '*' ? checkAllGrants() : tryCheckGrant(id))),
    () => closed.abort(),
  ];
  return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
}
