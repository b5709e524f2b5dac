import { SealError, type Clock, type Keyring, type Leases, type SealContext } from '@behalf/kernel';
import { alone } from '../access/alone.ts';
import type { Cache } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';

/** One call that a user was asked about. Hashes and names only: no value of an argument is kept. */
export interface AskedCall {
  readonly id: string;
  readonly approved: boolean;
  readonly serverId: string;
  readonly revision: string;
  readonly server: string;
  readonly tool: string;
  readonly toolHash: string;
  readonly argsHash: string;
  readonly argumentNames: readonly string[];
  readonly expiresAt: number;
}

type User = Pick<UserPrincipal, 'tenant' | 'userId'>;

export interface ApprovalLists {
  /** What has not expired, oldest first. */
  read(user: User): Promise<readonly AskedCall[]>;
  /** One change after the other, in all processes. Giving back the same list changes nothing. */
  change(user: User, edit: (calls: readonly AskedCall[]) => readonly AskedCall[]): Promise<void>;
}

export interface ApprovalListParts {
  readonly cache: Cache;
  readonly leases: Leases;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/**
 * What each user was asked, as one sealed value: who can read or write the store learns nothing of the calls, cannot
 * test a guess at their arguments, and cannot approve one.
 */
export function createApprovalLists({ cache, leases, keyring, clock }: ApprovalListParts): ApprovalLists {
  async function read(user: User): Promise<readonly AskedCall[]> {
    const sealed = await cache.get(listKey(user));
    if (sealed === undefined) return [];
    const calls = open(sealed, user);
    return calls.filter(({ expiresAt }) => expiresAt > clock.now());
  }

  /** One that does not open was tampered with: an error, never an empty list. Under a key that is gone it is over. */
  function open(sealed: string, user: User): AskedCall[] {
    try {
      return JSON.parse(keyring.open(sealed, contextOf(user))) as AskedCall[];
    } catch (error) {
      if (error instanceof SealError && error.reason === 'unknown_key') return [];
      throw error;
    }
  }

  async function write(user: User, calls: readonly AskedCall[]): Promise<void> {
    if (calls.length === 0) return void (await cache.delete(listKey(user)));
    const lastsUntil = Math.max(...calls.map(({ expiresAt }) => expiresAt));
    const sealed = keyring.seal(JSON.stringify(calls), contextOf(user));
    await cache.set(listKey(user), sealed, lastsUntil - clock.now());
  }

  return {
    read,
    change: (user, edit) =>
      alone({ leases, clock }, ['approvals', user.tenant, user.userId], async () => {
        const calls = await read(user);
        const edited = edit(calls);
        if (edited !== calls) await write(user, edited);
      }),
  };
}

function listKey({ tenant, userId }: User): string {
  return JSON.stringify(['list', tenant, userId]);
}

function contextOf({ tenant, userId }: User): SealContext {
  return { tenant, principal: `user:${userId}`, server: '-', kind: 'approval', field: 'list' };
}
