import { type Clock, LruMap, coalesce, sleep } from '@behalf/kernel';
import type { CredentialStore } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';
import { userIdOfHolder } from '../principal/credentialHolder.ts';
import type { CredentialVault, VaultToken } from './vault/vault.ts';

const MAX_ENTRIES = 20_000;
/** The number of records that a scan reads concurrently, and the pause between two scans. */
const BATCH_SIZE = 50;
const PAUSE_MS = 1_000;

interface GrantChangesParts {
  readonly vault: Pick<CredentialVault, 'onChange' | 'onTokenProvided'>;
  readonly store: Pick<CredentialStore, 'findById'>;
  readonly clock: Clock;
  /** The connections and lists of this grant are obsolete. `principal` is the key that connections use. */
  readonly onGrantEnded: (serverId: string, principal: string) => void;
}

/**
 * Notifies when a grant whose tokens this replica handed out is replaced or ended, here or on another replica. A
 * refresh is not a change: connections request the current token for each request.
 */
export function subscribeToGrantChanges({
  vault,
  store,
  clock,
  onGrantEnded,
}: GrantChangesParts): () => void {
  /** By credential id. Only grants in this map can have connections here. */
  const generations = new LruMap<string, number>(MAX_ENTRIES);
  const closed = new AbortController();

  function emitGrantEnded(id: string): void {
    const [tenant = '', holder = '', serverId = ''] = JSON.parse(id) as string[];
    const userId = userIdOfHolder(holder);
    if (userId !== undefined) onGrantEnded(serverId, principalKey({ tenant, userId }));
  }

  /** Runs before the caller opens a connection, so existing connections belong to the previous grant. */
  function recordProvided({ id, generation }: VaultToken): void {
    const previous = generations.get(id);
    // A token of an earlier grant may arrive late.
    if (previous !== undefined && generation <= previous) return;
    generations.set(id, generation);
    if (previous !== undefined) emitGrantEnded(id);
  }

  async function checkGrant(id: string): Promise<void> {
    const previous = generations.get(id);
    if (previous === undefined) return;
    const record = await store.findById(id);
    // `recordProvided` may have handled the change during the read.
    if (record?.generation === previous || generations.get(id) !== previous) return;
    if (record) generations.set(id, record.generation);
    else generations.delete(id);
    emitGrantEnded(id);
  }

  // If the store fails, a later notification repeats the check. The server rejects a token of an ended grant anyway.
  const tryCheckGrant = (id: string) => checkGrant(id).catch(() => undefined);

  /** A poll of the store reports a change without its id. One scan covers all notifications of the last second. */
  const checkAllGrants = coalesce(async () => {
    if (closed.signal.aborted) return;
    const ids = [...generations].map(([id]) => id);
    for (let from = 0; from < ids.length; from += BATCH_SIZE)
      await Promise.all(ids.slice(from, from + BATCH_SIZE).map(tryCheckGrant));
    await sleep(clock, PAUSE_MS, closed.signal).catch(() => undefined);
  });

  const unsubscribers = [
    vault.onTokenProvided(recordProvided),
    vault.onChange((id) => void (id === '*' ? checkAllGrants() : tryCheckGrant(id))),
    () => closed.abort(),
  ];
  return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
}
