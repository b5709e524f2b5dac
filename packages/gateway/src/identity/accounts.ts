import type { Clock, Keyring, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { toPasswordSealContext, type ChangeFeed, type UserRecord, type UserStore } from '../ports/index.ts';
import type { Passwords } from './passwords.ts';

export const LOCAL_ISSUER = 'local';
export const DEFAULT_TENANT = 'default';

export interface NewAccount {
  email: string;
  name: string;
  password: string;
  role: string;
}

/** Accounts of our own, for deployments without an identity provider. */
export interface Accounts {
  create(account: NewAccount): Promise<UserRecord>;
  /** Only where there is no user yet; null when somebody was faster. */
  createFirst(account: NewAccount): Promise<UserRecord | null>;
  /** The user, or null for a wrong password, an unknown email and a disabled account alike, after the same time. */
  authenticate(email: string, password: string): Promise<UserRecord | null>;
  hasUsers(): Promise<boolean>;
}

export interface AccountParts {
  users: UserStore;
  changes: ChangeFeed;
  passwords: Passwords;
  keyring: Keyring;
  clock: Clock;
  random: Random;
}

export function createAccounts({
  users,
  changes,
  passwords,
  keyring,
  clock,
  random,
}: AccountParts): Accounts {
  async function buildRecord({ email, name, password, role }: NewAccount): Promise<UserRecord> {
    const id = random.id();
    const now = clock.now();
    const subject = normalizeEmail(email);
    return {
      id,
      tenant: DEFAULT_TENANT,
      issuer: LOCAL_ISSUER,
      subject,
      email: subject,
      name,
      role,
      roleSource: 'manual',
      roleConfirmedAt: null,
      disabledAt: null,
      signedOutAt: null,
      // Sealed to the row: who reads the database cannot guess at hashes offline, and one row's hash is no use in another.
      passwordSealed: keyring.seal(
        await passwords.hash(password),
        toPasswordSealContext({ id, tenant: DEFAULT_TENANT }),
      ),
      createdAt: now,
      updatedAt: now,
    };
  }

  return {
    async create(account) {
      const user = await buildRecord(account);
      if ((await users.insert(user)) === 'taken') throw new GatewayError('EMAIL_TAKEN');
      await changes.publish({ topic: 'users', id: user.id });
      return user;
    },
    async createFirst(account) {
      const user = await buildRecord(account);
      if ((await users.insertFirst(user)) === 'not_first') return null;
      await changes.publish({ topic: 'users', id: user.id });
      return user;
    },
    async authenticate(email, password) {
      const user = await users.findByIdentity(DEFAULT_TENANT, LOCAL_ISSUER, normalizeEmail(email));
      if (!user?.passwordSealed) {
        await passwords.simulateVerify(password);
        return null;
      }
      const hash = keyring.open(user.passwordSealed, toPasswordSealContext(user));
      const isPasswordValid = await passwords.verify(password, hash);
      // Only after the work: a disabled account takes as long as a wrong password.
      return isPasswordValid && user.disabledAt === null ? user : null;
    },
    hasUsers: async () => (await users.count()) > 0,
  };
}

/** One account per mailbox, however it is written. */
export function normalizeEmail(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase();
}
