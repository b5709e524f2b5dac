import { SealError, type Clock, type Keyring, type Leases, type SealContext } from '@behalf/kernel';
import { withLease } from '../access/withLease.ts';
import type { Cache } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';

/** One call that a user was asked about. Hashes and names only: no value of an argument is kept. */
export interface CallApproval {
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

type ApprovalOwner = Pick<UserPrincipal, 'tenant' | 'userId'>;

export interface ApprovalLists {
  /** What has not expired, oldest first. */
  read(user: ApprovalOwner): Promise<readonly CallApproval[]>;
  /** One change after the other, in all processes. Giving back the same list changes nothing. */
  change(
    user: ApprovalOwner,
    edit: (calls: readonly CallApproval[]) => readonly CallApproval[],
  ): Promise<void>;
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
  async function read(user: ApprovalOwner): Promise<readonly CallApproval[]> {
    const sealed = await cache.get(listKey(user));
    if (sealed === undefined) return [];
    const calls = open(sealed, user);
    return calls.filter(({ expiresAt }) => expiresAt > clock.now());
  }

  /** One that does not open was tampered with: an error, never an empty list. Under a key that is gone it is over. */
  function open(sealed: string, user: ApprovalOwner): CallApproval[] {
    try {
      return JSON.parse(keyring.open(sealed, toSealContext(user))) as CallApproval[];
    } catch (error) {
      if (error instanceof SealError && error.reason === 'unknown_key') return [];
      throw error;
    }
  }

  async function write(user: ApprovalOwner, calls: readonly CallApproval[]): Promise<void> {
    if (calls.length === 0) return void (await cache.delete(listKey(user)));
    const latestExpiry = Math.max(...calls.map(({ expiresAt }) => expiresAt));
    const sealed = keyring.seal(JSON.stringify(calls), toSealContext(user));
    await cache.set(listKey(user), sealed, latestExpiry - clock.now());
  }

  return {
    read,
    change: (user, edit) =>
      withLease({ leases, clock }, ['approvals', user.tenant, user.userId], async () => {
        const calls = await read(user);
        const edited = edit(calls);
        if (edited !== calls) await write(user, edited);
      }),
  };
}

function listKey({ tenant, userId }: ApprovalOwner): string {
  return JSON.stringify(['list', tenant, userId]);
}

function toSealContext({ tenant, userId }: ApprovalOwner): SealContext {
  return { tenant, principal: `user:${userId}`, server: '-', kind: 'approval', field: 'list' };
}
