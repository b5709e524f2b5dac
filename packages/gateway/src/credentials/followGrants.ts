import { sleep, type Clock } from '@behalf/kernel';
import type { CredentialStore } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';
import { userOfHolder } from './credentialHolder.ts';
import { createRecent } from './recent.ts';
import type { CredentialVault, HeldToken } from './vault/vault.ts';

const MOST_REMEMBERED = 20_000;
/** How many are read together when all have to be looked at, and how long after one such look the next may begin. */
const AT_ONCE = 50;
const PAUSE_MS = 1_000;

export interface FollowGrantsParts {
  readonly vault: Pick<CredentialVault, 'onChange' | 'onGiven'>;
  readonly store: Pick<CredentialStore, 'findById'>;
  readonly clock: Clock;
  /** What was opened or listed with a grant that is over is of no use any more. `principal` as connections call them. */
  readonly onReplaced: (serverId: string, principal: string) => void;
}

/**
 * Tells of grants that were in use here and were replaced or ended, here or on another replica. A token that is merely
 * renewed changes nothing: a connection asks for it anew with each request.
 */
export function followGrants({ vault, store, clock, onReplaced }: FollowGrantsParts): () => void {
  /** Of the grants whose tokens were given out here. Nothing was opened with any other. */
  const generations = createRecent<number>(MOST_REMEMBERED);
  const ended = new AbortController();
  let isLooking = false;
  let isDue = false;

  function replaced(id: string): void {
    const [tenant = '', holder = '', serverId = ''] = JSON.parse(id) as string[];
    const userId = userOfHolder(holder);
    if (userId !== undefined) onReplaced(serverId, principalKey({ tenant, userId }));
  }

  /** Before anything is opened with it: what is open is of the grant before. */
  function noteGiven({ id, generation }: HeldToken): void {
    const before = generations.get(id);
    // A token of the grant before may arrive late.
    if (before !== undefined && generation <= before) return;
    generations.set(id, generation);
    if (before !== undefined) replaced(id);
  }

  async function look(id: string): Promise<void> {
    const before = generations.get(id);
    if (before === undefined) return;
    const record = await store.findById(id);
    // Given out anew while it was read: then it is known already.
    if (record?.generation === before || generations.get(id) !== before) return;
    if (record) generations.set(id, record.generation);
    else generations.delete(id);
    replaced(id);
  }

  // What cannot be read now is told of again, and a token that is over is refused wherever it is sent.
  const tryLook = (id: string) => look(id).catch(() => undefined);

  /** A poll of the store tells that something changed, and not what. One look at all follows many such notices. */
  async function lookAtAll(): Promise<void> {
    isDue = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (isDue) {
        isDue = false;
        const ids = [...generations.keys()];
        for (let from = 0; from < ids.length; from += AT_ONCE)
          await Promise.all(ids.slice(from, from + AT_ONCE).map(tryLook));
        await sleep(clock, PAUSE_MS, ended.signal);
      }
    } catch {
      // It is over.
    } finally {
      isLooking = false;
    }
  }

  const leave = [
    vault.onGiven(noteGiven),
    vault.onChange((id) => void (id === '*' ? lookAtAll() : tryLook(id))),
    () => ended.abort(),
  ];
  return () => leave.forEach((stop) => stop());
}
