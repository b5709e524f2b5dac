import type { Clock, Random } from '@behalf/kernel';
import type { Audit } from '../../audit/audit.ts';
import type { ChangeFeed, UserChange, UserRecord, UserStore } from '../../ports/index.ts';
import { type RoleExists, type VerifiedToken, roleFromToken } from './verifiedIdentity.ts';

/** The resolution of `roleConfirmedAt` while the role stays the same. */
const CONFIRM_INTERVAL_MS = 60 * 60 * 1000;

/** The entry point in the audit event. */
type SignInChannel = 'browser' | 'rest';

export interface Provisioning {
  /** The account of a verified user, created on first use. Null if the user is disabled or not admitted. */
  userFor(verified: VerifiedToken, channel?: SignInChannel): Promise<UserRecord | null>;
}

interface ProvisioningParts {
  readonly users: UserStore;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly random: Random;
  readonly roleExists: RoleExists;
  readonly audit: Audit;
}

/**
 * Creates and updates accounts from verified tokens. (tenant, issuer, subject) identifies an account. An email address never
 * does, because a mailbox can change its owner.
 */
export function createProvisioning(parts: ProvisioningParts): Provisioning {
  const { users, changes, clock, random, roleExists, audit } = parts;

  const recordEvent = ({ id, tenant }: UserRecord, door: SignInChannel, action: string, changed: string[]) =>
    audit.record({
      ...{ kind: 'sign_in', action, tenant, door, outcome: 'ok' },
      ...{ actor: { kind: 'user', id }, subject: id, changed },
    });

  const find = ({ tenant, issuer, subject }: VerifiedToken) => users.findByIdentity(tenant, issuer, subject);

  /** Null if another replica created the account at the same time. */
  async function create(
    verified: VerifiedToken,
    role: string,
    channel: SignInChannel,
  ): Promise<UserRecord | null> {
    const { tenant, issuer, subject, email, name } = verified;
    const now = clock.now();
    const user: UserRecord = {
      ...{ id: random.id(), tenant, issuer, subject, email, name, role },
      roleSource: 'claim',
      roleConfirmedAt: verified.issuedAt,
      disabledAt: null,
      signedOutAt: null,
      passwordSealed: null,
      createdAt: now,
      updatedAt: now,
    };
    if ((await users.insert(user)) === 'taken') return null;
    await changes.publish({ topic: 'users', id: user.id });
    await recordEvent(user, channel, 'user.create', [role]);
    return user;
  }

  async function refresh(
    user: UserRecord,
    verified: VerifiedToken,
    role: string,
    channel: SignInChannel,
  ): Promise<UserRecord | null> {
    const now = clock.now();
    const isClaimed = user.roleSource === 'claim';
    const confirmedAt = user.roleConfirmedAt ?? -Infinity;
    // An older token is still valid, but its role may have been withdrawn since. A token of the same second, or without `iat`,
    // may be older, too.
    const isNewerToken = isClaimed && verified.issuedAt > confirmedAt;
    const shouldChangeRole = isNewerToken && user.role !== role;
    const canUpdateProfile = isNewerToken || !isClaimed;
    // A missing claim keeps the stored value.
    const shouldUpdate = (claimed: string, stored: string) =>
      claimed !== '' && claimed !== stored && (canUpdateProfile || stored === '');
    const change: UserChange = {
      ...(shouldUpdate(verified.email, user.email) && { email: verified.email }),
      ...(shouldUpdate(verified.name, user.name) && { name: verified.name }),
      ...(shouldChangeRole && { role }),
    };
    const hasChanges = Object.keys(change).length > 0;
    const isConfirmationDue = isNewerToken && verified.issuedAt - confirmedAt >= CONFIRM_INTERVAL_MS;
    if (!hasChanges && !isConfirmationDue) return user;
    const next: UserChange = isNewerToken ? { ...change, roleConfirmedAt: verified.issuedAt } : change;
    // Compare-and-set: if an administrator changed the role since the read, that change wins and nothing is written.
    const expect = isClaimed ? { role: user.role, roleSource: user.roleSource } : undefined;
    if (!(await users.update(user.id, next, now, expect)))
      return enabledOrNull(await users.findById(user.id));
    if (hasChanges) await changes.publish({ topic: 'users', id: user.id });
    if (shouldChangeRole) await recordEvent(user, channel, 'role.claim', [user.role, role]);
    return { ...user, ...next, updatedAt: now };
  }

  return {
    async userFor(verified, channel = 'rest') {
      if (verified.kind !== 'user' || !verified.isAdmitted) return null;
      const role = await roleFromToken(verified, roleExists);
      const known = await find(verified);
      const created = known ? null : await create(verified, role, channel);
      const user = enabledOrNull(created ?? known ?? (await find(verified)));
      return user && user !== created ? refresh(user, verified, role, channel) : user;
    },
  };
}

function enabledOrNull(user: UserRecord | null): UserRecord | null {
  return user?.disabledAt === null ? user : null;
}
